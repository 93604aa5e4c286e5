import Foundation
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Wrong clocks", .serialized, .timeLimit(.minutes(20)))
    struct WrongClocks {
        private let installation: Installation
        private let database: ScratchDatabase
        private let key: String

        init() throws {
            database = try ScratchDatabase()
            installation = try Installation(database)
            key = try installation.makeKey()
        }

        @Test("An instance ten years ahead writes nothing and says why; the others are not held up")
        func tenYears() throws {
            let clock = try FakeClock("+10y")
            let wrong = try installation.serve(variables: clock.variables)
            let right = try installation.serve()
            let refused = try give("early", at: wrong)
            #expect(refused.status == 503)
            #expect(try JSON.read(refused.text)["code"]?.string == "clock_apart")
            let readiness = try ask("/readyz", wrong)
            #expect(readiness.status == 503)
            let seconds = try #require(readiness.text.firstMatch(of: /is (\d+)\.\d+ s ahead of/))
            #expect(Int(seconds.1).map { $0 > 310_000_000 && $0 < 320_000_000 } == true)
            // With such a clock, reads are also wrong, because access ends by the clock.
            #expect(try ask("/readyz?for=reads", wrong).status == 503)
            #expect(wrong.log.contains(#""level":"error","event":"clock_apart""#))
            let command = try installation.run(
                ["grant", "--customer", "u1", "--entitlement", "pro", "--reason", "r"]
                    + ["--allow-unknown"], variables: clock.variables)
            #expect(command.code == 3)
            #expect(command.errors.contains("NTP"))

            #expect(try give("later", at: right).status == 201)
            #expect(try ask("/readyz", right).status == 200)
            #expect(try lead() <= 0)
            // With such a clock, the instance also stops work outside the log, such as the jobs for all instances.
            let later = "(extract(epoch from clock_timestamp()) * 1000)::bigint + 86400000"
            #expect(
                try database.number(
                    """
                    select count(*) from deed.leases
                    where held_until > \(later) or ran_at > \(later)
                    """) == 0)
        }

        @Test("A clock some seconds ahead causes a warning, and the instance writes")
        func seconds() throws {
            let clock = try FakeClock("+7")
            defer { withExtendedLifetime(clock) {} }
            let service = try installation.serve(variables: clock.variables)
            #expect(try give("pro", at: service).status == 201)
            #expect(try ask("/readyz", service).status == 200)
            #expect(service.log.contains(#""level":"warning","event":"clock_apart""#))
            #expect(try lead() < 7500)
        }

        @Test("The doctor names a clock that is apart from PostgreSQL's, ahead or behind")
        func doctor() throws {
            for offset in ["+45", "-45", "+0"] {
                let clock = try FakeClock(offset)
                defer { withExtendedLifetime(clock) {} }
                let look = try installation.run(
                    "doctor", "--only", "clock_apart", "--json", variables: clock.variables)
                #expect(try look.findings.map(\.code) == (offset == "+0" ? [] : ["clock_apart"]))
                #expect(look.code == (offset == "+0" ? 0 : 1))
            }
        }

        @Test("A clock that is set wrong under a running service stops the very next write")
        func setMeanwhile() throws {
            let clock = try FakeClock("+0")
            let service = try installation.serve(variables: clock.variables)
            #expect(try give("before", at: service).status == 201)
            for wrong in ["+45", "-45"] {
                try clock.set(wrong)
                #expect(try give("wrong\(wrong)", at: service).status == 503)
                #expect(try eventually(within: 5000) { try ask("/readyz", service).status == 503 })
                try clock.set("+0")
                #expect(try eventually(within: 5000) { try ask("/readyz", service).status == 200 })
                #expect(try give("after\(wrong)", at: service).status == 201)
            }
            #expect(try lead() <= 1000)
            let refused = "select count(*) from deed.events where payload like '%wrong%'"
            #expect(try database.number(refused) == 0)
        }

        // MARK: Parts

        private func give(
            _ entitlement: String, at service: RunningService
        ) throws -> (status: Int, text: String) {
            var client = try APIClient(key: key)
            return try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"\#(entitlement)","reason":"r","allow_unknown":true}"#)
        }

        private func ask(
            _ path: String, _ service: RunningService
        ) throws -> (status: Int, text: String) {
            var client = try APIClient(key: key)
            return try client.send("GET", service.url + path)
        }

        /// Returns how many milliseconds the log is ahead of the database's clock.
        private func lead() throws -> Int64 {
            try database.number(
                """
                select max(recorded_at) - (extract(epoch from clock_timestamp()) * 1000)::bigint
                from deed.events
                """)
        }
    }
}

/// A clock for programs. A test can set it with libfaketime.
final class FakeClock {
    struct NotInstalled: Error {}

    private let folder: ScratchFolder
    /// The libraries to load. The C library allocates memory instead of jemalloc, which asks for
    /// the time before libfaketime is ready, so that each would wait for the other.
    private let libraries: String

    init(_ offset: String) throws {
        let base = "/usr/lib"
        let folders = try FileManager.default.contentsOfDirectory(atPath: base)
        let pairs = folders.map { folder in
            ["faketime/libfaketimeMT.so.1", "libc.so.6"].map { "\(base)/\(folder)/\($0)" }
        }
        let exists = FileManager.default.fileExists(atPath:)
        guard let found = pairs.first(where: { $0.allSatisfy(exists) }) else {
            throw NotInstalled()
        }
        libraries = found.joined(separator: ":")
        folder = try ScratchFolder()
        try set(offset)
    }

    /// `offset` is relative to the machine's clock, such as `+10y` or `-45`.
    func set(_ offset: String) throws {
        try offset.write(toFile: folder.file("offset"), atomically: true, encoding: .utf8)
    }

    var variables: [String: String] {
        [
            "LD_PRELOAD": libraries, "FAKETIME_TIMESTAMP_FILE": folder.file("offset"),
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            // Otherwise, waits on the monotonic clock end immediately.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
        ]
    }
}
