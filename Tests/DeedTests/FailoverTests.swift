import Core
import JSON
import Outbound
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Reads while the database goes and comes", .serialized, .timeLimit(.minutes(3)))
    struct Failover {
        private let pair: PostgresPair
        private let installation: Installation
        private let service: RunningService
        private let key: String

        init() throws {
            pair = try PostgresPair()
            installation = try Installation(url: pair.url)
            #expect(try installation.run("migrate").code == 0)
            key = try installation.makeKey()
            service = try installation.serve("--max-stale", "4")
        }

        @Test("Without a restart they go stale, then end, and are right again on the next server")
        func failover() throws {
            _ = try give("kept")
            #expect(try read().json["entitlements"]?["kept"]?["active"] == true)
            try waitForStandby()
            try pair.stop(.standby)
            let lost = try give("lost")
            #expect(try read().json["entitlements"]?["lost"]?["active"] == true)

            try pair.stop(.primary)
            #expect(try read().status == 200)
            #expect(
                try eventually(within: 3000) {
                    let reading = try read()
                    return reading.staleness != nil && reading.status == 200
                })
            let stale = try read()
            #expect(try stale.json["entitlements"]?["lost"]?["active"] == true)
            #expect(try read(after: "\(lost.shard.number):\(lost.sequence + 1)").status == 503)
            #expect(try eventually(within: 8000) { try read().status == 503 })
            let gone = try read()
            #expect(try gone.json["code"]?.string == "database_unavailable")
            #expect(try gone.json["retryable"] == true)

            try pair.start(.standby)
            try pair.promote()
            #expect(try eventually(within: 20_000) { try read().status == 200 })
            let back = try read()
            #expect(back.staleness == nil)
            #expect(try back.json["entitlements"]?["kept"]?["active"] == true)
            #expect(try back.json["entitlements"]?["lost"] == nil)
            let unreached = try read(after: lost.description)
            #expect(unreached.status == 503)
            #expect(try unreached.json["code"]?.string == "position_not_reached")
            let new = try give("new")
            #expect(try read().json["entitlements"]?["new"]?["active"] == true)
            #expect(new.sequence <= lost.sequence)
            #expect(try read(after: new.description).status == 200)
            #expect(try installation.run("audit").code == 0)
            #expect(service.process.wait(milliseconds: 0) == nil)
        }

        @Test("A tail whose connection is cut, and a server that restarts, are got over")
        func cutConnections() throws {
            _ = try give("e0")
            for round in 1...5 {
                try cutSessions()
                _ = try give("e\(round)")
                let reading = try read()
                #expect(reading.staleness == nil)
                #expect(try reading.json["entitlements"]?.object?.members.count == round + 1)
            }
            try pair.stop(.primary)
            try pair.start(.primary)
            _ = try give("e6")
            #expect(
                try eventually(within: 10_000) {
                    let reading = try read()
                    return reading.staleness == nil
                        && reading.text.contains(#""e6":{"active":true"#)
                })
            pause(milliseconds: 1500)
            let before = try hits()
            _ = try read()
            _ = try read()
            #expect(try hits() > before)
        }

        // MARK: Parts

        private struct Read {
            let status: Int
            let text: String
            let staleness: Int?

            var json: JSON { get throws { try JSON.read(text) } }
        }

        private func read(after position: String? = nil) throws -> Read {
            var client = try APIClient(key: key)
            let response = try client.get(
                "\(service.url)/v1/customers/u1/entitlements",
                headers: position.map { [("Deed-After", $0)] } ?? [])
            return Read(
                status: response.status, text: String(decoding: response.body, as: UTF8.self),
                staleness: response.header("Deed-Stale").flatMap { Int($0) })
        }

        /// Gives a grant, again under its key until it is answered, and returns its position.
        private func give(_ entitlement: String) throws -> Position {
            var client = try APIClient(key: key)
            for _ in 0..<100 {
                let answer = try client.send(
                    "POST", "\(service.url)/v1/customers/u1/grants",
                    body: #"{"entitlement":"\#(entitlement)","reason":"r"}"#,
                    idempotencyKey: entitlement)
                if answer.status == 201 {
                    let text = try JSON.read(answer.text)["position"]?.string ?? ""
                    return try #require(Position(text))
                }
                pause(milliseconds: 100)
            }
            throw Installation.Failed(description: "\(entitlement) was never given")
        }

        private func hits() throws -> Int {
            var client = try APIClient(key: key)
            let text = try client.send("GET", "\(service.url)/metrics").text
            let line = text.split(separator: "\n").first { $0.hasPrefix("deed_answer_hits_total ") }
            return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
        }

        private func waitForStandby() throws {
            let count = "select count(*) from deed.events"
            let written = try queriedNumber(count, at: pair.url(of: .primary))
            #expect(
                try eventually(within: 20_000) {
                    try queriedNumber(count, at: pair.url(of: .standby)) == written
                })
        }

        private func cutSessions() throws {
            _ = try queriedNumber(
                """
                select count(pg_terminate_backend(pid)) from pg_stat_activity
                where pid <> pg_backend_pid() and application_name = 'deed'
                """, at: pair.url(of: .primary))
        }
    }
}
