import Core
import JSON
import Ledger
import Postgres
import Telemetry
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Two servers that both accept writes", .serialized, .timeLimit(.minutes(20)))
    struct TwoPrimaries {
        private static let grants = "select count(*) from deed.events where type = 'grant.given'"
        /// The sessions that Deed uses. A session that it gave up while connecting does not count.
        private static let sessions = """
            select count(*) from pg_stat_activity
            where application_name = 'deed' and pid <> pg_backend_pid() and query <> ''
                and backend_start < clock_timestamp() - interval '1 second'
            """
        /// Customers in enough shards to use both committers.
        private let customers = (0..<16).map { "u\($0)" }
        private let pair: PostgresPair
        private let installation: Installation
        private let service: RunningService
        private let key: String

        init() throws {
            pair = try PostgresPair()
            installation = try Installation(url: pair.url)
            (service, key) = try installation.begin()
            // Deed has used all of its connections for writes and reads.
            try giveAll("before")
            let written = try grants(at: .primary)
            #expect(try eventually(within: 20_000) { try grants(at: .standby) == written })
        }

        @Test("Connections idle while the old primary was suspended continue with the new one")
        func frozen() throws {
            try pair.signal(.primary, "STOP")
            try pair.promote()
            #expect(try eventually(within: 20_000) { try sessions(at: .standby) > 0 })
            try pair.signal(.primary, "CONT")
            try expectOneHistory()
        }

        @Test(
            "Unconfirmed writes lead to the new primary at once, and strong reads agree with it"
        )
        func frozenForAMoment() throws {
            let settings = ConnectionSettings(
                url: pair.url(of: .standby), role: LedgerSettings.serviceRole)
            let elsewhere = Ledger(
                LedgerSettings(connection: settings) { Instant(milliseconds: 1_795_202_460_000) },
                log: .silent, metrics: Metrics())
            defer { elsewhere.close() }
            var client = try APIClient(key: key)
            try pair.makeSynchronous()
            try pair.signal(.primary, "STOP")
            try pair.promote()
            // Another instance writes this grant on the new primary.
            let stream = try Stream.test("u1")
            _ = try elsewhere.append(.give("elsewhere", to: stream, grant: "elsewhere"))
            let wish = AdjustBalance(
                currency: try CurrencyID("coins"), amount: 5, reason: try Reason("r"), ticket: nil)
            _ = try elsewhere.append(
                .customer(
                    stream, actor: try Actor("test"),
                    cause: Cause(text: "key:coins", digest: [UInt8](repeating: 0, count: 32))
                ) { state, _, _ throws(Refusal) in try state.decide(wish) })
            try pair.signal(.primary, "CONT")
            let thawed = monotonicMilliseconds()
            while monotonicMilliseconds() - thawed < 5000 {
                for (read, proof) in Self.certain {
                    let answer = try client.send("GET", "\(service.url)/v1/customers/u1\(read)")
                    // Until it is clear which server is the primary, Deed refuses the read or answers correctly.
                    if answer.status == 503 { continue }
                    #expect(answer.status == 200 && answer.text.contains(proof), "\(answer.text)")
                }
            }
            try giveAll("after")
            #expect(monotonicMilliseconds() - thawed < 15_000)
            #expect(try grants(at: .primary) == Int64(customers.count))
        }

        /// Reads from the database, and texts that show the other instance's write.
        private static let certain = [
            ("/entitlements?consistency=strong", #""elsewhere":{"active":true"#),
            (
                "/entitlements?consistency=strong&at=2099-01-01T00:00:00Z",
                #""elsewhere":{"active":true"#
            ),
            (
                "/entitlements?consistency=strong&known=2099-01-01T00:00:00Z",
                #""elsewhere":{"active":true"#
            ),
            ("", #""elsewhere":{"active":true"#), ("/balances", #""coins":5"#),
            ("/explain?entitlement=elsewhere", #""answer":{"active":true"#),
            ("/events", "elsewhere"),
        ]

        @Test("One address that leads to the new primary is also noticed while writes fail")
        func oneAddress() throws {
            let proxy = try PostgresProxy(pair.url(of: .primary))
            let behind = try Installation(url: proxy.url)
            let (service, key) = try behind.begin()
            try pair.makeSynchronous()
            try giveAll("first", service, key)
            try pair.signal(.primary, "STOP")
            try pair.promote()
            try proxy.lead(to: pair.url(of: .standby))
            try pair.signal(.primary, "CONT")
            let thawed = monotonicMilliseconds()
            try giveAll("after", service, key)
            #expect(monotonicMilliseconds() - thawed < 15_000)
            #expect(try grants(at: .standby) == Int64(3 * customers.count))
        }

        @Test("Connections to the old primary continue with the new one once it is met")
        func living() throws {
            try pair.promote()
            let cut = """
                select count(pg_terminate_backend(pid)) from (
                    select pid from pg_stat_activity where application_name = 'deed'
                    order by backend_start limit 1
                ) as first
                """
            #expect(try queriedNumber(cut, at: pair.url(of: .primary)) == 1)
            // If the new primary does not answer in time, Deed misses it, but finds it with the next connection.
            let isMet = try eventually(within: 20_000) {
                if try eventually(within: 1000, { try sessions(at: .standby) > 0 }) { return true }
                _ = try queriedNumber(cut, at: pair.url(of: .primary))
                return false
            }
            #expect(isMet)
            pause(milliseconds: 300)
            try expectOneHistory()

            // Deed also asks all addresses from the environment.
            let found = try Installation(url: "postgresql:///deed?user=deed").run(
                "customer", "show", "--customer", "u1", "--json",
                variables: ["PGHOST": pair.folders])
            #expect(try found.json["entitlements"]?["after"]?["active"] == true)
        }

        /// Expects new writes to reach only the new primary, and all reads to come from it.
        private func expectOneHistory() throws {
            let old = try grants(at: .primary)
            try giveAll("after")
            #expect(try grants(at: .primary) == old)
            #expect(try grants(at: .standby) == old + Int64(customers.count))
            var client = try APIClient(key: key)
            for customer in customers {
                let path = "/v1/customers/\(customer)/entitlements?consistency=strong"
                let read = try client.read(service.url + path)
                #expect(read["entitlements"]?["after"]?["active"] == true, "\(customer)")
            }
            var readiness = ""
            let isReady = try eventually(within: 5000) {
                let answer = try client.send("GET", "\(service.url)/readyz")
                readiness = answer.text
                return answer.status == 200
            }
            #expect(isReady, "\(readiness)")
            #expect(try installation.run("audit").code == 0)
        }

        private func giveAll(_ entitlement: String) throws {
            try giveAll(entitlement, service, key)
        }

        private func giveAll(
            _ entitlement: String, _ service: RunningService, _ key: String
        ) throws {
            var client = try APIClient(key: key)
            for customer in customers {
                let isGiven = try eventually(within: 20_000) {
                    let answer = try client.send(
                        "POST", "\(service.url)/v1/customers/\(customer)/grants",
                        body:
                            #"{"entitlement":"\#(entitlement)","reason":"r","allow_unknown":true}"#,
                        idempotencyKey: entitlement)
                    return answer.status == 201
                }
                #expect(isGiven, "\(customer)")
            }
        }

        private func grants(at server: PostgresPair.Server) throws -> Int64 {
            try queriedNumber(Self.grants, at: pair.url(of: server))
        }

        private func sessions(at server: PostgresPair.Server) throws -> Int64 {
            try queriedNumber(Self.sessions, at: pair.url(of: server))
        }
    }
}
