import Foundation
import Glibc
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Setting up in trouble", .serialized, .timeLimit(.minutes(20)))
    struct SetupTrouble {
        @Test(
            "Killed at any moment, it continues where it ended, and no key is lost",
            arguments: [100, 400, 800, 1200, 1600, 2000, 2400])
        func killed(_ delay: Int64) throws {
            let installation = try Installation()
            let words = ["setup", "--yes", "--json", "--listen", "127.0.0.1:\(try freePort())"]
            let (process, _, _) = try installation.start(words)
            pause(milliseconds: delay)
            process.signal(SIGKILL)
            _ = process.wait(milliseconds: 5000)
            let second = try installation.run(words)
            #expect(second.code == 0, "\(second.errors)")
            #expect(try !second.states.contains("missing"))
            let keys = try installation.run("key", "list", "--json").json["keys"]?.array ?? []
            #expect(keys.count == 3, "\(keys)")
            let names = try FileManager.default.contentsOfDirectory(
                atPath: "\(installation.dataFolder)/keys")
            #expect(names.sorted() == ["admin", "backend", "reader"])
            #expect(try installation.run(words).states.allSatisfy { $0 == "there" })
        }

        @Test("A key in the folder that opens another project stays, and setup says so")
        func foreignKey() throws {
            let installation = try Installation()
            let words = ["setup", "--yes", "--listen", "127.0.0.1:\(try freePort())"]
            #expect(try installation.run(words).code == 0)
            let before = try contents(of: installation.dataFolder)
            let refused = try installation.run(words + ["--project", "other"])
            #expect(refused.code == 1, "\(refused.errors)")
            #expect(refused.errors.contains("does not open the project other"))
            #expect(refused.errors.contains("Nothing was changed"))
            #expect(try contents(of: installation.dataFolder) == before)
            let other = "\(installation.dataFolder)/keys-other"
            let set = try installation.run(words + ["--project", "other", "--keys", other])
            #expect(set.code == 0, "\(set.errors)")
            #expect(mode(of: "\(other)/admin") == 0o600)
        }

        @Test("While the service runs it only looks, and finds everything")
        func serving() throws {
            let installation = try Installation()
            let address = "127.0.0.1:\(try freePort())"
            let words = ["setup", "--yes", "--json", "--listen", address]
            #expect(try installation.run(words).code == 0)
            let service = try installation.serve()
            // Setup does not refuse just because a service uses the configured address.
            let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
            let (listener, _) = try boundSocket(to: port)
            defer { close(listener) }
            try #require(listen(listener, 8) == 0)
            let again = try installation.run(words)
            #expect(again.code == 0, "\(again.errors)")
            #expect(try again.states.allSatisfy { $0 == "there" })
            #expect(service.log.contains("\"ready\""))
        }

        @Test("Commands that meet in a private database take turns")
        func together() throws {
            let installation = try Installation()
            let words = ["setup", "--yes", "--listen", "127.0.0.1:\(try freePort())"]
            #expect(try installation.run(words).code == 0)
            let commands = try (0..<8).map { _ in try installation.start(["project", "list"]) }
            for (command, _, errors) in commands {
                #expect(command.wait(milliseconds: 60_000) == 0)
                #expect(try String(contentsOfFile: errors, encoding: .utf8) == "")
            }
        }

        @Test("Other lines in the settings stay unchanged")
        func ownLines() throws {
            let installation = try Installation()
            let address = "127.0.0.1:\(try freePort())"
            try FileManager.default.createDirectory(
                atPath: installation.dataFolder, withIntermediateDirectories: true)
            let file = "\(installation.dataFolder)/environment"
            try "# mine\nDEED_MAX_STALE_SECONDS=5\nDEED_LISTEN=\(address)\n".write(
                toFile: file, atomically: false, encoding: .utf8)
            chmod(file, 0o640)
            let set = try installation.run("setup", "--yes", "--reconcile-at", "none")
            #expect(set.code == 0, "\(set.errors)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(
                text.contains("\n# mine\nDEED_MAX_STALE_SECONDS=5\nDEED_LISTEN=\(address)\n"),
                "\(text)")
            #expect(!text.contains("RECONCILE"))
            #expect(mode(of: file) == 0o640)
        }

        @Test(
            "An ordinary user sets up in the home folder, or is told why that is impossible",
            .enabled(if: getuid() == 0, "only root can become another user"))
        func ordinaryUser() throws {
            let nobody = try #require(getpwnam("nobody"))
            let (user, group) = (nobody.pointee.pw_uid, nobody.pointee.pw_gid)
            let home = try ScratchFolder()
            chown(home.path, user, group)
            let become = "setpriv --reuid=\(user) --regid=\(group) --clear-groups"
            let script = "cd /; \(become) \"$PROGRAM\" setup --yes --json --listen $ADDRESS"
            let variables = [
                "PROGRAM": Installation.program, "HOME": home.path,
                "ADDRESS": "127.0.0.1:\(try freePort())",
            ]
            let set = try Shell(script, variables)
            #expect(set.code == 0, "\(set.errors)")
            let data = "\(home.path)/.local/share/deed"
            #expect(try JSON.read(set.output)["data"]?.string == data)
            for name in try contents(of: data).keys {
                var found = stat()
                #expect(lstat("\(data)/\(name)", &found) == 0 && found.st_uid == user, "\(name)")
            }
            let homeless = try Shell(script, variables.merging(["HOME": "/nonexistent"]) { $1 })
            #expect(homeless.code == 3, "\(homeless.errors)")
            #expect(homeless.errors.contains("cannot be used"), "\(homeless.errors)")
            #expect(homeless.errors.contains("No step was completed"), "\(homeless.errors)")
        }

        @Test(
            "Root's files in another user's folder follow no link out of it",
            .enabled(if: getuid() == 0, "only root works in the folders of others"))
        func links() throws {
            let installation = try Installation()
            let words = ["setup", "--yes", "--listen", "127.0.0.1:\(try freePort())"]
            #expect(try installation.run(words + ["--keys", "none"]).code == 0)
            let outside = try ScratchFolder()
            symlink(outside.path, "\(installation.dataFolder)/keys")
            let refused = try installation.run(
                words + ["--keys", "\(installation.dataFolder)/keys"])
            #expect(refused.code == 3, "\(refused.errors)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
        }

        @Test(
            "Root reads no settings through a link, and gives no one what the link names",
            .enabled(if: getuid() == 0, "only root works in the folders of others"))
        func linkedSettings() throws {
            let installation = try Installation()
            let words = ["setup", "--yes", "--listen", "127.0.0.1:\(try freePort())"]
            #expect(try installation.run(words).code == 0)
            let outside = try ScratchFolder()
            let target = try outside.write("root:hidden:1\n", to: "target")
            chmod(target, 0o600)
            let file = "\(installation.dataFolder)/environment"
            unlink(file)
            symlink(target, file)
            let refused = try installation.run(words)
            #expect(refused.code == 3, "\(refused.output)")
            #expect(
                refused.errors.contains("\(file) cannot be used: it is a symbolic link"),
                "\(refused.errors)")
            #expect(refused.errors.contains("Nothing was changed"), "\(refused.errors)")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file) == target)
            // The key of a role is read in the same way.
            unlink(file)
            let key = "\(installation.dataFolder)/keys/reader"
            unlink(key)
            symlink(target, key)
            let again = try installation.run(words)
            #expect(again.errors.contains("\(key) cannot be used"), "\(again.errors)")
            // A pipe must not keep root waiting.
            mkfifo(file, 0o600)
            let piped = try installation.run(words)
            #expect(piped.errors.contains("not a regular file"), "\(piped.errors)")
        }

        @Test(
            "What root pastes runs the settings as the user who may change them",
            .enabled(if: getuid() == 0, "only root works in the folders of others"))
        func changedSettings() throws {
            let installation = try Installation()
            let address = "127.0.0.1:\(try freePort())"
            let set = try installation.run("setup", "--yes", "--listen", address)
            #expect(set.code == 0, "\(set.errors)")
            let data = installation.dataFolder
            for path in [data, "\(data)/environment", "\(data)/keys/reader"] {
                var found = stat()
                #expect(lstat(path, &found) == 0 && found.st_uid != 0, "\(path)")
            }
            let outside = try ScratchFolder()
            chmod(outside.path, 0o777)
            let line = "id -u >>\(outside.file("users"))"
            let changed = try Shell("echo '\(line)' >>'\(data)/environment'", [:])
            #expect(changed.code == 0, "\(changed.errors)")
            let commands = set.output.split(separator: "\n").suffix(3).joined(separator: "\n")
            let shell = try Shell("trap 'kill $!; wait' EXIT\n\(commands)", [:])
            #expect(shell.code == 0, "\(shell.errors)")
            #expect(shell.output.contains(#""pro":{"active":true"#), "\(shell.output)")
            let users = try String(contentsOfFile: outside.file("users"), encoding: .utf8)
                .split(separator: "\n")
            #expect(!users.isEmpty && !users.contains("0"), "\(users)")
            // A link in place of the key leads the pasted command nowhere.
            let target = try outside.write("hidden", to: "target")
            chmod(target, 0o600)
            unlink("\(data)/keys/reader")
            symlink(target, "\(data)/keys/reader")
            let reading = commands.components(separatedBy: "$(").last ?? ""
            let read = try Shell(reading.components(separatedBy: ")")[0], [:])
            #expect(read.output.isEmpty && read.code != 0, "\(reading): \(read.output)")
        }

        @Test(
            "It needs no network, not even the machine's own",
            .enabled(if: getuid() == 0, "only root can take the network away"))
        func offline() throws {
            let installation = try Installation()
            let set = try Shell(
                "unshare --net \"$PROGRAM\" setup --yes --json",
                ["PROGRAM": Installation.program, "DEED_DATA_DIR": installation.dataFolder])
            #expect(set.code == 0, "\(set.errors)")
            #expect(try JSON.read(set.output)["steps"]?.array?.count == 6)
        }
    }
}
