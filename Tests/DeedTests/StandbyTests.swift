import Core
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Writes that a standby has to confirm", .serialized, .timeLimit(.minutes(3)))
    struct Standby {
        private let pair: PostgresPair
        private let installation: Installation
        private let service: RunningService
        private let key: String

        init() throws {
            pair = try PostgresPair()
            installation = try Installation(url: pair.url)
            #expect(try installation.run("migrate").code == 0)
            key = try installation.makeKey()
            service = try installation.serve()
            try pair.makeSynchronous()
        }

        private func grant(_ name: String) throws -> Int {
            var client = try APIClient(key: key)
            return try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"\#(name)","reason":"r","allow_unknown":true}"#,
                idempotencyKey: name
            ).status
        }

        @Test("A write that comes again is not acknowledged before the standby has the first one")
        func repeated() throws {
            #expect(try grant("first") == 201)
            #expect(try grant("first") == 201)
            try pair.stop(.standby)
            // A second sender hears the same as the first while nothing confirms.
            #expect(try grant("second") == 503)
            #expect(try grant("second") == 503)
            #expect(try grant("first") == 503)
            #expect(try eventually(within: 5000) { try ready() == 503 })
            #expect(try ready("?for=reads") == 200)
            let reasons = try body("/readyz")
            #expect(reasons.contains("Commits wait for 1 standby and none is connected"))
            // Refused at once: each would leave a session behind that waits.
            let started = monotonicMilliseconds()
            #expect(try grant("third") == 503)
            #expect(monotonicMilliseconds() - started < 2000)
            try pair.start(.standby)
            #expect(
                try eventually(within: 20_000) { try grant("second") == 201 })
            #expect(try grant("first") == 201)
            #expect(try eventually(within: 5000) { try ready() == 200 })
        }

        private func ready(_ query: String = "") throws -> Int {
            var client = try APIClient(key: key)
            return try client.send("GET", "\(service.url)/readyz\(query)").status
        }

        private func body(_ path: String) throws -> String {
            var client = try APIClient(key: key)
            return try client.send("GET", service.url + path).text
        }
    }
}
