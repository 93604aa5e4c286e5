import Foundation
import Glibc
import PrivatePostgres
import Telemetry
import TestSupport
import Testing

@Suite("The folder of a private PostgreSQL", .serialized, .timeLimit(.minutes(10)))
struct DataFolderTests {
    @Test(
        "A folder that others may write to is refused and stays as it was",
        arguments: [0o1777, 0o757] as [mode_t])
    func shared(_ mode: mode_t) throws {
        let scratch = try ScratchFolder()
        chmod(scratch.path, mode)
        #expect(try refusal(of: scratch.path).contains("others may write there"))
        #expect(permissions(of: scratch.path) == mode)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
        #expect(throws: PrivatePostgresError.self) {
            _ = try ServiceLock(folder: scratch.path, listen: "")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    }

    @Test("Root refuses a folder of somebody else", .enabled(if: getuid() == 0))
    func foreign() throws {
        let scratch = try ScratchFolder()
        chown(scratch.path, 1, 0)
        #expect(try refusal(of: scratch.path).contains("not root's"))
    }

    @Test("A link where the sockets should be is not followed")
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
        "A path that a shell would take for more than a name is refused",
        arguments: ["a$(id -u)b", "a`id`b", "a'b", "a\"b", "a,b", "a\\b"])
    func shell(_ name: String) throws {
        let scratch = try ScratchFolder()
        #expect(try refusal(of: scratch.file(name)).contains("its path holds"))
    }

    @Test("The folder on the way that is closed is named", .enabled(if: getuid() == 0))
    func closedAbove() throws {
        let scratch = try ScratchFolder()
        mkdir(scratch.file("home"), 0o700)
        let told = try refusal(of: scratch.file("home") + "/data")
        #expect(told.contains("may not enter \(scratch.file("home")),"))
        #expect(told.contains("chmod o+x \(scratch.file("home")))"))
    }

    @Test("Root opens no folder that holds something else", .enabled(if: getuid() == 0))
    func notAlone() throws {
        let scratch = try ScratchFolder()
        _ = try scratch.write("secret", to: "diary")
        chmod(scratch.path, 0o700)
        #expect(try refusal(of: scratch.path).contains("may not enter"))
        #expect(permissions(of: scratch.path) == 0o700)
    }

    @Test("A closed, empty folder serves, and a lock file of a killed server keeps nobody off")
    func stale() throws {
        let scratch = try ScratchFolder()
        let other = try ScratchFolder()
        chmod(scratch.path, 0o700)
        chmod(other.path, 0o700)
        let postgres = try PrivatePostgres(folder: scratch.path, mayCreate: true, log: .silent)
        let neighbour = try PrivatePostgres(folder: other.path, mayCreate: true, log: .silent)
        defer { neighbour.leave() }
        #expect(permissions(of: scratch.path) == (getuid() == 0 ? 0o701 : 0o700))
        let lock = scratch.file("postgres/postmaster.pid")
        var lines = try String(contentsOfFile: lock, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        postgres.leave()
        #expect(access(lock, F_OK) != 0)
        // After a power cut the number may belong to another PostgreSQL of the same user.
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
