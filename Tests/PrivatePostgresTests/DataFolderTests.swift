import Foundation
import Glibc
import PrivatePostgres
import Telemetry
import TestSupport
import Testing

@Suite("The folder of a private PostgreSQL", .serialized, .timeLimit(.minutes(20)))
struct DataFolderTests {
    @Test(
        "A folder that others may write to is refused and stays unchanged",
        arguments: [0o1777, 0o757] as [mode_t])
    func shared(_ mode: mode_t) throws {
        let scratch = try ScratchFolder()
        chmod(scratch.path, mode)
        #expect(try refusal(of: scratch.path).contains("other users may write there"))
        #expect(permissions(of: scratch.path) == mode)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
        #expect(throws: PrivatePostgresError.self) {
            _ = try ServiceLock(folder: scratch.path, listen: "")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }

    @Test("Root refuses someone else's folder", .enabled(if: getuid() == 0))
    func foreign() throws {
        let scratch = try ScratchFolder()
        chown(scratch.path, 1, 0)
        #expect(try refusal(of: scratch.path).contains("it is neither root's nor"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }

    @Test("Root's lock follows no link of the folder's owner", .enabled(if: getuid() == 0))
    func plantedLock() throws {
        let scratch = try ScratchFolder()
        let target = try scratch.write("root's own", to: "target")
        let folder = scratch.file("data")
        mkdir(folder, 0o700)
        symlink(target, "\(folder)/service.lock")
        #expect(throws: PrivatePostgresError.self) {
            _ = try ServiceLock(folder: folder, listen: "")
        }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "root's own")
    }

    @Test(
        "Root and the folder's owner open sessions as themselves, and no one else does",
        .enabled(if: getuid() == 0))
    func peers() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.file("data")
        let first = try PrivatePostgres(folder: folder, mayCreate: true, log: .silent)
        openDoors(of: folder)
        #expect(session(as: 0, in: folder).code == 0)
        #expect(session(as: owner(of: folder), in: folder).code == 0)
        let stranger = session(as: 65534, in: folder)
        #expect(stranger.code != 0 && stranger.text.contains("Peer authentication failed"))
        let rules = """
            select count(*) from pg_hba_file_rules where type <> 'local' or auth_method <> 'peer'
            """
        #expect(session(as: 0, in: folder, asking: rules).text == "0\n")

        // The file's content from an earlier build, tested while the server runs and after it has stopped.
        let old = "local all all trust\nhost all all 127.0.0.1/32 trust\n"
        try old.write(toFile: "\(folder)/postgres/pg_hba.conf", atomically: false, encoding: .utf8)
        #expect(session(as: 0, in: folder, asking: "select pg_reload_conf()").code == 0)
        #expect(eventually(within: 5000) { session(as: 65534, in: folder).code == 0 })
        let second = try PrivatePostgres(folder: folder, mayCreate: false, log: .silent)
        #expect(eventually(within: 5000) { session(as: 65534, in: folder).code != 0 })
        try old.write(toFile: "\(folder)/postgres/pg_hba.conf", atomically: false, encoding: .utf8)
        first.leave()
        second.leave()
        let third = try PrivatePostgres(folder: folder, mayCreate: false, log: .silent)
        openDoors(of: folder)
        #expect(session(as: 65534, in: folder).code != 0)
        #expect(session(as: 0, in: folder).code == 0)
        third.leave()
    }

    /// Lets all users reach the socket.
    private func openDoors(of folder: String) {
        for path in [folder, "\(folder)/socket"] { chmod(path, 0o755) }
        chmod("\(folder)/socket/.s.PGSQL.5432", 0o777)
    }

    private func owner(of path: String) -> uid_t {
        var found = stat()
        return stat(path, &found) == 0 ? found.st_uid : 0
    }

    /// Returns the exit code and the output of `psql` when this user runs it.
    private func session(
        as user: uid_t, in folder: String, asking question: String = "select 1"
    ) -> (code: Int32, text: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.arguments = [
            "--reuid=\(user)", "--clear-groups", "psql", "-XAt", "-h", "\(folder)/socket", "-U",
            "deed",
            "-c", question, "postgres",
        ]
        process.standardOutput = output
        process.standardError = output
        guard (try? process.run()) != nil else { return (-1, "") }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }

    @Test("A link in place of the sockets is not followed")
    func planted() throws {
        let scratch = try ScratchFolder()
        let target = try ScratchFolder()
        var before = stat()
        stat(target.path, &before)
        symlink(target.path, scratch.file("socket"))
        #expect(try refusal(of: scratch.path).contains("symbolic link"))
        var after = stat()
        stat(target.path, &after)
        #expect(after.st_uid == before.st_uid)
    }

    @Test(
        "A path with a shell's special characters is refused",
        arguments: ["a$(id -u)b", "a`id`b", "a'b", "a\"b", "a,b", "a\\b"])
    func shell(_ name: String) throws {
        let scratch = try ScratchFolder()
        #expect(try refusal(of: scratch.file(name)).contains("its path contains"))
    }

    @Test("The closed folder on the path is named", .enabled(if: getuid() == 0))
    func closedAbove() throws {
        let scratch = try ScratchFolder()
        mkdir(scratch.file("home"), 0o700)
        let told = try refusal(of: scratch.file("home") + "/data")
        #expect(told.contains("may not enter \(scratch.file("home")),"), "\(told)")
        #expect(told.contains("chmod o+x \(scratch.file("home")))"))
    }

    @Test("Root gives away no folder with foreign content", .enabled(if: getuid() == 0))
    func notAlone() throws {
        let scratch = try ScratchFolder()
        _ = try scratch.write("secret", to: "diary")
        chmod(scratch.path, 0o700)
        #expect(try refusal(of: scratch.path).contains("\"diary\", which is not Deed's"))
        #expect(permissions(of: scratch.path) == 0o700)
        #expect(owner(of: scratch.path) == 0)
    }

    @Test("A closed, empty folder works, and a killed server's lock file keeps no one out")
    func stale() throws {
        let scratch = try ScratchFolder()
        let other = try ScratchFolder()
        chmod(scratch.path, 0o700)
        chmod(other.path, 0o700)
        let postgres = try PrivatePostgres(folder: scratch.path, mayCreate: true, log: .silent)
        let neighbour = try PrivatePostgres(folder: other.path, mayCreate: true, log: .silent)
        defer { neighbour.leave() }
        #expect(permissions(of: scratch.path) == 0o700)
        let lock = scratch.file("postgres/postmaster.pid")
        var lines = try String(contentsOfFile: lock, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        postgres.leave()
        #expect(access(lock, F_OK) != 0)
        // After a power cut, another PostgreSQL of the same user may have the same process ID.
        let living = try String(
            contentsOfFile: other.file("postgres/postmaster.pid"), encoding: .utf8
        ).split(separator: "\n")
        lines[0] = living[0]
        try lines.joined(separator: "\n").write(toFile: lock, atomically: false, encoding: .utf8)
        let again = try PrivatePostgres(folder: scratch.path, mayCreate: true, log: .silent)
        again.leave()
    }

    private func refusal(of folder: String) throws -> String {
        let error = #expect(throws: PrivatePostgresError.self) {
            let postgres = try PrivatePostgres(folder: folder, mayCreate: true, log: .silent)
            postgres.leave()
        }
        return try #require(error).description
    }

    private func permissions(of path: String) -> mode_t {
        var found = stat()
        return stat(path, &found) == 0 ? found.st_mode & 0o7777 : 0
    }
}
