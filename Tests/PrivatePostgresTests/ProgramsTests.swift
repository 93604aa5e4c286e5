import Foundation
import PrivatePostgres
import TestSupport
import Testing

@Suite("Finding the programs of PostgreSQL")
final class ProgramsTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
    }

    @Test("If no server is installed, one sentence names the package")
    func notInstalled() throws {
        let failure = #expect(throws: PrivatePostgresError.self) {
            _ = try Programs.find(forCluster: nil, in: [scratch.path, "/nonexistent"])
        }
        #expect(failure == .notInstalled)
        #expect(failure?.description.contains("install the package postgresql") == true)
    }

    @Test("The newest server is used, and for a cluster the one that made it")
    func versions() throws {
        let folders = try [("old", "9"), ("new", "17.2"), ("middle", "15.18 (Debian 15.18-1)")]
            .map { try install($0.0, printing: "postgres (PostgreSQL) \($0.1)") }
        #expect(try Programs.find(forCluster: nil, in: folders).version == "17")
        let same = try Programs.find(forCluster: ("15", "/data"), in: folders)
        #expect(same.folder == scratch.file("middle"))
        let failure = #expect(throws: PrivatePostgresError.self) {
            _ = try Programs.find(forCluster: ("16", "/data"), in: folders)
        }
        #expect(failure?.description.contains("install the package postgresql-16") == true)
    }

    @Test("A folder with only a client, or with a program that does not answer, is skipped")
    func incomplete() throws {
        let client = try install("client", printing: "postgres (PostgreSQL) 17.2")
        try FileManager.default.removeItem(atPath: client + "/initdb")
        let mute = try install("mute", printing: "")
        let failure = #expect(throws: PrivatePostgresError.self) {
            _ = try Programs.find(forCluster: nil, in: [client, mute])
        }
        #expect(failure == .notInstalled)
    }

    @Test("This machine's server is found without its folder")
    func installed() throws {
        let found = try Programs.find(forCluster: nil)
        #expect((Int(found.version) ?? 0) >= 14)
    }

    /// Creates a folder with programs that print this text. Returns the folder.
    private func install(_ name: String, printing text: String) throws -> String {
        let folder = scratch.file(name)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        // A separate process writes the file. If this process wrote it, another test's child could
        // inherit the open file, and the program could not be run.
        let script = """
            for program in initdb pg_ctl postgres; do
                printf '#!/bin/sh\\necho "%s"\\n' "$2" >"$1/$program"
                chmod 755 "$1/$program"
            done
            """
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", script, "install", folder, text]
        try shell.run()
        shell.waitUntilExit()
        try #require(shell.terminationStatus == 0)
        return folder
    }
}
