import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite(
        "A service that root starts", .enabled(if: getuid() == 0, "only root can start one so"),
        .timeLimit(.minutes(20)))
    struct RootsService {
        /// Returns the values of this field in the system's report about a process.
        private func status(_ process: pid_t, _ name: String) throws -> [String] {
            let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = try #require(
                text.split(separator: "\n").first { $0.hasPrefix("\(name):") }, "\(name)")
            return line.split { $0 == "\t" || $0 == " " }.dropFirst().map(String.init)
        }

        private func owner(of path: String) -> uid_t? {
            var found = stat()
            return lstat(path, &found) == 0 ? found.st_uid : nil
        }

        private var worker: uid_t {
            ["deed", "postgres"].compactMap { (name: String) in getpwnam(name)?.pointee.pw_uid }
                .first ?? 0
        }

        @Test("All of its threads run as an ordinary user, with nothing of root left")
        func leaving() throws {
            let installation = try Installation()
            let service = try installation.serve()
            let id = service.process.id
            for name in ["Uid", "Gid"] {
                let values = Set(try status(id, name))
                #expect(values.count == 1 && !values.contains("0"), "\(name): \(values)")
            }
            #expect(try status(id, "Uid").first == "\(worker)")
            #expect(!(try status(id, "Groups")).contains("0"))
            for name in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
                #expect(try status(id, name) == ["0000000000000000"], "\(name)")
            }
            #expect(try status(id, "NoNewPrivs") == ["1"])
            let own = try status(id, "Uid")
            let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")
            // A thread or process may end during the check.
            let owners = tasks.compactMap { pid_t($0) }.compactMap { try? status($0, "Uid") }
            #expect(owners.count > 5 && Set(owners) == [own], "\(owners)")
            // Other processes of the same user cannot read this process's memory, and core dumps are disabled.
            #expect(owner(of: "/proc/\(id)/mem") == 0)
            let limits = try String(contentsOfFile: "/proc/\(id)/limits", encoding: .utf8)
            #expect(limits.contains(#/Max core file size +0 +0 /#))
            let servers = installation.postgresProcesses.compactMap { try? status($0, "Uid") }
            #expect(servers.count > 1 && Set(servers) == [own], "\(servers)")
        }

        @Test("It starts and stops its PostgreSQL from a folder that only root may enter")
        func closedFolder() throws {
            let installation = try Installation()
            let folder = try ScratchFolder()
            let closed = folder.file("closed")
            mkdir(closed, 0o700)
            let script = """
                cd '\(closed)'
                "$DEED" project create default --if-missing && timeout --preserve-status --signal=TERM 5 "$DEED" serve --listen 127.0.0.1:0
                """
            let variables = [
                "DEED": Installation.program, "DEED_DATA_DIR": installation.dataFolder,
            ]
            for _ in 0..<2 {
                let run = try Shell(script + " || exit 1", variables)
                #expect(run.errors.contains(#""event":"ready""#), "\(run.errors)")
                #expect(!run.errors.contains("postgres_not_stopped"), "\(run.errors)")
                #expect(installation.postgresProcesses.isEmpty)
            }
        }

        @Test("Before leaving root, it has taken a port and read a key that only root may")
        func roots() throws {
            let folder = try ScratchFolder()
            let files = try folder.makeCertificate("server")
            chmod(files.key, 0o600)
            let installation = try Installation()
            let (process, _, errors) = try installation.start([
                "serve", "--listen", "127.0.0.9:81", "--tls-certificate", files.certificate,
                "--tls-key", files.key,
            ])
            let isReady = eventually(within: 60_000) {
                let log = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
                return log.contains("\"ready\"") || process.wait(milliseconds: 0) != nil
            }
            #expect(isReady)
            let log = try String(contentsOfFile: errors, encoding: .utf8)
            #expect(log.contains("\"port\":81,"), "\(log)")
            #expect(try status(process.id, "Uid").first == "\(worker)")
        }

        @Test("It does not serve while its user may not read the installation's key")
        func lockedKey() throws {
            let folder = try ScratchFolder()
            let key = try folder.write(String(repeating: "ab", count: 32), to: "secret.key")
            chmod(key, 0o600)
            let installation = try Installation()
            let refused = try installation.run(
                "serve", "--listen", "127.0.0.1:0", "--secret-key-file", key)
            #expect(refused.code == 3)
            #expect(refused.errors.contains("run: chown "), "\(refused.errors)")
            chown(key, worker, gid_t.max)
            _ = try installation.serve("--secret-key-file", key)
        }

        @Test("A link in place of the key is named, and root changes nothing through it")
        func plantedKey() throws {
            let ward = try Ward()
            let outside = try ScratchFolder()
            let target = try outside.write(String(repeating: "ab", count: 32), to: "target")
            chmod(target, 0o644)
            unlink(ward.key)
            symlink(target, ward.key)
            let found = try ward.deed.run("doctor", "--fix", "--json")
            #expect(found.code == 1, "\(found.errors)")
            #expect(mode(of: target) == 0o644 && owner(of: target) == 0)
            #expect(found.output.contains("it is a symbolic link"), "\(found.output)")
            // Advice must not lead root there, either.
            let findings = try found.findings
            #expect(findings.map(\.code).contains("key_malformed"), "\(found.output)")
            for command in findings.flatMap(\.commands) {
                #expect(!command.text.hasPrefix("chown ") && !command.text.hasPrefix("chmod "))
            }
            chmod(target, 0o600)
            let refused = try ward.deed.run("checkpoint")
            #expect(refused.code == 3, "\(refused.output)")
            #expect(refused.errors.contains("it is a symbolic link"), "\(refused.errors)")
        }

        @Test("Root's audit reads no mark through a link")
        func plantedMark() throws {
            let installation = try Installation()
            #expect(try installation.run("migrate").code == 0)
            let outside = try ScratchFolder()
            let target = try outside.write("hidden", to: "target")
            symlink(target, "\(installation.dataFolder)/audit.mark")
            let refused = try installation.run("audit", "--since-mark")
            #expect(refused.code == 2, "\(refused.output)")
            #expect(refused.errors.contains("audit.mark cannot be read"), "\(refused.errors)")
        }

        @Test("What root pastes about the key changes no file that a link names")
        func swappedKey() throws {
            let ward = try Ward()
            let outside = try ScratchFolder()
            let target = try outside.write("root's own", to: "target")
            chmod(target, 0o644)
            chmod(ward.key, 0o644)
            chown(ward.key, 1, 1)
            let found = try ward.deed.run("doctor", "--json").findings
            let advice = found.filter { ["key_open", "key_unreadable"].contains($0.code) }
                .flatMap(\.commands)
            #expect(advice.count == 2, "\(advice)")
            unlink(ward.key)
            symlink(target, ward.key)
            for command in advice {
                _ = try Shell(Ward.path + command.text, ["DEED_DATA_DIR": ward.deed.dataFolder])
            }
            #expect(mode(of: target) == 0o644 && owner(of: target) == 0)
        }

        @Test("Root's folder becomes its own, and root's commands still work on it")
        func folder() throws {
            let installation = try Installation()
            let data = installation.dataFolder
            // The first command creates the folder. The service's user owns everything in it.
            #expect(try installation.run("project", "create", "default").code == 0)
            let service = try installation.serve()
            #expect(try installation.run("key", "create", "--role", "reader").code == 0)
            let app = ["app", "set", "--bundle-id", "com.example.game"]
            let secret = try ScratchFolder()
            let file = try secret.write("secret", to: "shared")
            let set = try installation.run(app + ["--shared-secret-file", file])
            #expect(set.code == 0, "\(set.errors)")
            for name in try FileManager.default.contentsOfDirectory(atPath: data) {
                #expect(owner(of: "\(data)/\(name)") == worker, "\(name)")
            }
            #expect(owner(of: data) == worker)
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 30_000) == 0)
            #expect(try installation.run("project", "list").output.contains("default"))
            // The service can open data that root's command sealed.
            let again = try installation.serve()
            #expect(!again.log.contains("locked"), "\(again.log)")
        }

        @Test("An earlier build's folder, where only the database was a user's, still works")
        func before() throws {
            let installation = try Installation()
            #expect(try installation.run("project", "create", "default").code == 0)
            let data = installation.dataFolder
            for name in try FileManager.default.contentsOfDirectory(atPath: data)
            where !["postgres", "socket"].contains(name) {
                chown("\(data)/\(name)", 0, 0)
            }
            mkdir("\(data)/seen", 0o700)
            chown(data, 0, 0)
            chmod(data, 0o701)
            let service = try installation.serve()
            #expect(service.log.contains("\"ready\""))
            #expect(owner(of: data) == worker && owner(of: "\(data)/seen") == worker)
            #expect(try installation.run("project", "list").output.contains("default"))
        }

        @Test("A named user serves instead, and root never does")
        func named() throws {
            let installation = try Installation()
            for (name, sentence) in [
                ("root", "no ordinary user on this machine"),
                ("nobody-of-that-name", "no ordinary user on this machine"),
            ] {
                let refused = try installation.run("serve", "--user", name)
                #expect(refused.code == 3 && refused.errors.contains(sentence), "\(refused.errors)")
            }
            let service = try installation.serve("--user", "daemon")
            #expect(try status(service.process.id, "Uid").first == "1")
            #expect(owner(of: installation.dataFolder) == 1)
            #expect(try installation.run("project", "create", "default").code == 0)
            service.process.signal(SIGTERM)
            _ = service.process.wait(milliseconds: 30_000)
            let other = try installation.run("serve", "--user", "postgres")
            #expect(other.code == 3 && other.errors.contains("to daemon, but"), "\(other.errors)")
        }
    }
}
