import Foundation
import JSON
import Postgres
import TestSupport
import Testing

extension ProgramTests {
    @Suite(
        "A full disk", .serialized, .timeLimit(.minutes(20)),
        .enabled(if: SmallDisk.isPossible, "mounting takes rights that these tests lack"))
    struct FullDisk {
        @Test("Writes report it, reads continue, and readiness returns once there is space")
        func full() throws {
            let disk = try SmallDisk(megabytes: 24)
            let database = try ScratchDatabase()
            try disk.move(database)
            let installation = try Installation(database)
            let key = try installation.makeKey()
            let service = try installation.serve()
            var client = try APIClient(key: key)
            func grant(_ name: String) throws -> (status: Int, text: String) {
                try client.send(
                    "POST", "\(service.url)/v1/customers/\(name)/grants",
                    body: #"{"entitlement":"pro","reason":"r","allow_unknown":true}"#,
                    idempotencyKey: name)
            }
            func readiness(_ query: String = "") throws -> (status: Int, text: String) {
                try client.send("GET", "\(service.url)/readyz\(query)")
            }
            #expect(try grant("u0").status == 201)
            #expect(try readiness().status == 200)
            func read() throws -> (status: Int, text: String) {
                try client.send("GET", "\(service.url)/v1/customers/u0/entitlements")
            }
            // PostgreSQL may need disk space to start a session, so the readers already have their sessions.
            #expect(try read().status == 200)

            try disk.fill()
            var refused: (status: Int, text: String)?
            for number in 1...2000 where refused == nil {
                let answer = try grant("u\(number)")
                if answer.status != 201 { refused = answer }
            }
            let refusal = try #require(refused)
            #expect(refusal.status == 503)
            #expect(try JSON.read(refusal.text)["code"]?.string == "database_full")
            let reasons = try readiness()
            #expect(reasons.status == 503)
            #expect(reasons.text.contains("database's disk is full"))
            // A refusal writes nothing, so it does not depend on the disk.
            let unfounded = try client.send(
                "DELETE", "\(service.url)/v1/customers/u0/grants/g_none",
                body: #"{"reason":"r"}"#, idempotencyKey: "r")
            #expect((400..<500).contains(unfounded.status))
            #expect(try readiness().status == 503)
            #expect(try readiness("?for=reads").status == 200)
            let answer = try read()
            #expect(answer.status == 200, "\(answer.text)")

            try disk.clear()
            #expect(try eventually(within: 10_000) { try readiness().status == 200 })
            #expect(try grant("u2001").status == 201)
            try installation.expectWholeLog()
        }
    }
}

/// A small disk in memory, for a database.
private final class SmallDisk {
    private let folder: ScratchFolder
    private let name = "small_\(UInt32.random(in: 0...UInt32.max))"
    private var database: ScratchDatabase?

    static let isPossible: Bool = {
        guard getuid() == 0, let disk = try? SmallDisk(megabytes: 1) else { return false }
        return disk.isMounted
    }()

    init(megabytes: Int) throws {
        folder = try ScratchFolder()
        try shell(
            "chmod 755 '\(folder.path)' && mkdir '\(mount)' && "
                + "mount -t tmpfs -o size=\(megabytes)m tmpfs '\(mount)' && "
                + "mkdir '\(mount)/data' && chown postgres '\(mount)/data'")
    }

    deinit {
        if let database {
            try? database.drop()
            try? SmallDisk.govern("drop tablespace \(name)", at: database.serverURL)
        }
        try? shell("umount '\(mount)'")
    }

    private var mount: String { folder.file("disk") }
    private var isMounted: Bool { FileManager.default.fileExists(atPath: "\(mount)/data") }

    func move(_ database: ScratchDatabase) throws {
        for text in [
            "create tablespace \(name) location '\(mount)/data'",
            "alter database \(database.name) set tablespace \(name)",
        ] {
            try SmallDisk.govern(text, at: database.serverURL)
        }
        self.database = database
    }

    private static func govern(_ text: String, at url: String) throws {
        let settings = ConnectionSettings(url: url, role: nil, statementTimeoutMilliseconds: 0)
        var connection = try Connection.open(settings)
        try connection.run(Script(embedded: Array(text.utf8)))
    }

    func fill() throws { try shell("cat /dev/zero >'\(mount)/filler' 2>/dev/null || true") }

    func clear() throws { try shell("rm '\(mount)/filler'") }

    private func shell(_ script: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        try process.run()
        process.waitUntilExit()
        struct Failed: Error {}
        if process.terminationStatus != 0 { throw Failed() }
    }
}
