import Core
import Glibc
import JSON
import Outbound
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Reads while the database goes and comes", .serialized, .timeLimit(.minutes(20)))
    struct Failover {
        private let pair: PostgresPair
        private let installation: Installation
        private let service: RunningService
        private let key: String

        init() throws {
            pair = try PostgresPair()
            installation = try Installation(url: pair.url)
            (service, key) = try installation.begin("--max-stale-seconds", "4")
        }

        @Test(
            "Without a restart they become stale, end, and continue with less once accepted")
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
            // The server lacks an event that Deed has acknowledged. If Deed continued there, the
            // log would split in two.
            #expect(
                try eventually(within: 20_000) {
                    try readiness().text.contains("lacks at least 1 event")
                })
            #expect(try readiness("?for=reads").status == 503)
            let behind = try read()
            #expect(behind.status == 503)
            #expect(try behind.json["code"]?.string == "database_behind")
            let status = try installation.run("status", "--json")
            #expect(status.code == 1)
            #expect(status.errors.contains("deed accept-log"))
            let rehearsal = try installation.run("accept-log", "--dry-run", "--reason", "r")
            #expect(rehearsal.output.contains("lacks at least 1 event"))
            #expect(try read().status == 503)
            let accepted = try installation.run("accept-log", "--reason", "the primary is lost")
            #expect(accepted.code == 0)
            #expect(try eventually(within: 20_000) { try read().status == 200 })
            #expect(try eventually(within: 5000) { try readiness().status == 200 })
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
            let told = "select count(*) from deed.events where type = 'log.accepted'"
            #expect(try queriedNumber(told, at: pair.url(of: .standby)) == 1)
            #expect(try installation.run("status").code == 0)
            #expect(try read(after: new.description).status == 200)
            #expect(try installation.run("audit").code == 0)
            #expect(service.process.wait(milliseconds: 0) == nil)
        }

        @Test("A cut follower connection and a restarted server do no lasting harm")
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

        @Test("An old primary that comes back is not used, whether first in the list or alone")
        func oldPrimary() throws {
            _ = try give("kept")
            try waitForStandby()
            try pair.stop(.primary)
            try pair.promote()
            let new = try give("new")
            try pair.start(.primary)
            // The old server comes first in the URL and accepts writes.
            try cutSessions(at: .standby)
            #expect(
                try eventually(within: 10_000) { try read(after: new.description).status == 200 })
            let more = try give("more")
            #expect(try read().json["entitlements"]?["more"]?["active"] == true)

            try pair.stop(.standby)
            #expect(
                try eventually(within: 10_000) {
                    let text = try readiness().text
                    return text.contains("lacks at least") && text.contains("/primary:")
                })
            let count = "select count(*) from deed.events where payload like '%never%'"
            #expect(try grant("never").status == 503)
            #expect(try queriedNumber(count, at: pair.url(of: .primary)) == 0)
            let meanwhile = try read()
            #expect(meanwhile.status == 503 || meanwhile.staleness != nil)

            service.process.signal(SIGKILL)
            #expect(service.process.wait(milliseconds: 5000) != nil)
            let again = try installation.serve()
            var client = try APIClient(key: key)
            let start = try client.send("GET", "\(again.url)/readyz")
            #expect(start.status == 503)
            #expect(start.text.contains("lacks everything since timeline 2"))

            try pair.start(.standby)
            #expect(
                try eventually(within: 20_000) {
                    try client.send("GET", "\(again.url)/readyz").status == 200
                })
            let answer = try client.send(
                "GET", "\(again.url)/v1/customers/u1/entitlements", after: more.description)
            #expect(answer.status == 200)
            #expect(answer.text.contains(#""more":{"active":true"#))
            #expect(try installation.run("audit").code == 0)
        }

        // MARK: Parts

        private func readiness(_ query: String = "") throws -> (status: Int, text: String) {
            var client = try APIClient(key: key)
            return try client.send("GET", "\(service.url)/readyz\(query)")
        }

        private func grant(_ entitlement: String) throws -> (status: Int, text: String) {
            var client = try APIClient(key: key)
            return try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"\#(entitlement)","reason":"r"}"#,
                idempotencyKey: entitlement)
        }

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

        /// Makes a grant. Repeats the call under its key until there is an answer. Returns the grant's position.
        private func give(_ entitlement: String) throws -> Position {
            for _ in 0..<100 {
                let answer = try grant(entitlement)
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
                    try queriedNumber(count, at: pair.url(of: .standby)) >= written
                })
        }

        private func cutSessions(at server: PostgresPair.Server = .primary) throws {
            _ = try queriedNumber(
                """
                select count(pg_terminate_backend(pid)) from pg_stat_activity
                where pid <> pg_backend_pid() and application_name = 'deed'
                """, at: pair.url(of: server))
        }
    }
}
