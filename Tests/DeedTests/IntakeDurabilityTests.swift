import Core
import Evidence
import Glibc
import JSON
import Ledger
import Minting
import Service
import Telemetry
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Queued evidence", .serialized, .timeLimit(.minutes(20)))
    struct IntakeDurability {
        private static let items = 1200
        private static let kills = 5

        @Test("Queued evidence is recorded exactly once, however often its workers are killed")
        func judgesKilled() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let folder = try EvidenceFolder()
            try prepare(installation, folder)
            try queue(in: database)
            var random = seededGenerator("kills of judges")
            let roots = folder.path + "/roots"
            var services = [
                try installation.serve("--extra-roots", roots),
                try installation.serve("--extra-roots", roots),
            ]
            var kills = 0
            while try waiting(database) > 0 {
                pause(milliseconds: Int64.random(in: 0...120, using: &random))
                let unlucky = Int.random(in: 0...1, using: &random)
                services[unlucky].process.signal(SIGKILL)
                #expect(services[unlucky].process.wait(milliseconds: 5000) == 128 + SIGKILL)
                kills += try waiting(database) > 0 ? 1 : 0
                // Makes the rows look old, so that the dead process's items return to the queue.
                try database.run(
                    "update deed.intake set next_try_at = 0 where state = 'waiting' and tries > 0")
                services[unlucky] = try installation.serve("--extra-roots", roots)
            }
            #expect(kills >= IntakeDurability.kills, "the queue was empty after \(kills) kills")
            try verify(database, installation)
            #expect(services[0].log.contains(#""event":"extra_roots""#))
            let again = try database.number("select sum(tries - 1) from deed.intake")
            print("\(kills) kills, \(again) tries for a second time")
        }

        @Test(
            "Evidence for the store waits with its reason, alarms, and is judged once possible"
        )
        func storeNotConfigured() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let folder = try EvidenceFolder()
            try prepare(installation, folder)
            try judge("store", installation)
            let ledger = database.ledger()
            defer { ledger.close() }
            try queue(RawEvidence(.appReceipt, ReceiptPlan().bytes), "i_1", for: "u1", in: ledger)
            try database.run("update deed.intake set tries = 5")
            let service = try installation.serve("--extra-roots", folder.path + "/roots")
            func item() throws -> JSON {
                try installation.run("intake", "show", "i_1", "--json").json
            }
            #expect(try eventually(within: 20_000) { try item()["tries"] == 6 })
            #expect(eventually(within: 5000) { service.log.contains(#""event":"intake_stuck""#) })
            let waiting = try item()
            #expect(waiting["state"] == "waiting" && waiting["code"] == "store_not_configured")
            var client = try APIClient(key: "none")
            let stuck = try eventually(within: 20_000) {
                let metrics = try client.send("GET", service.url + "/metrics").text
                return metrics.contains("\ndeed_intake_stuck 1\n")
                    && metrics.contains("\ndeed_intake_tries_total{outcome=\"again\"} 1\n")
            }
            #expect(stuck)
            try judge("local", installation)
            let retried = try installation.run("intake", "retry", "i_1", "--reason", "by signature")
            #expect(retried.code == 0)
            #expect(try eventually(within: 20_000) { try item()["state"] == "believed" })
            let known = try #require(try item()["items"]?.array?.first)
            #expect(known["outcome"] == "recorded" && known["purchase"] == "apple:1000000000000001")
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 10_000) == 0)
            #expect(!service.log.contains("jobs_incomplete"))
        }

        private func judge(_ judge: String, _ installation: Installation) throws {
            let done = try installation.run(
                "app", "set", "--bundle-id", Payload.bundleID, "--receipts", judge)
            #expect(done.code == 0, "\(done.errors)")
        }

        private func waiting(_ database: ScratchDatabase) throws -> Int64 {
            try database.number("select count(*) from deed.intake where state = 'waiting'")
        }

        private func prepare(_ installation: Installation, _ folder: EvidenceFolder) throws {
            let catalog = #"{"products":[{"id":"coins","kind":"consumable","credits":{"gold":5}}]}"#
            let file = try folder.write(Array(catalog.utf8), "catalog.json")
            for arguments in [
                ["project", "create", "default"], ["catalog", "apply", file],
                ["app", "set", "--bundle-id", Payload.bundleID],
            ] {
                let done = try installation.run(arguments)
                #expect(done.code == 0, "\(arguments): \(done.errors)")
            }
        }

        private func queue(in database: ScratchDatabase) throws {
            let ledger = database.ledger()
            defer { ledger.close() }
            for number in 0..<IntakeDurability.items {
                let raw = RawEvidence(.signedTransaction, Self.transaction(number))
                try queue(raw, "i_\(number)", for: "c\(number % 40)", in: ledger)
            }
        }

        private func queue(
            _ raw: RawEvidence, _ id: String, for customer: String, in ledger: Ledger
        ) throws {
            let wish = IntakeWish(
                project: try ProjectID("default"), purpose: .submit(try CustomerID(customer)),
                order: nil, heading: try Prover(minted: Metrics()).heading(of: raw))
            let item = IntakeItem(try IntakeID(id), wish, now: Payload.signedAt)
            _ = try #require(try ledger.addIntake(item, raw.bytes))
        }

        private static func transaction(_ number: Int) -> [UInt8] {
            var payload = Payload.transaction
            let id = JSON.string("\(7_000_000_000_000 + number)")
            payload["transactionId"] = id
            payload["originalTransactionId"] = id
            payload["productId"] = "coins"
            payload["type"] = "Consumable"
            for name in ["expiresDate", "subscriptionGroupIdentifier", "appAccountToken"] {
                payload[name] = nil
            }
            return Array(payload.signed().utf8)
        }

        private func verify(_ database: ScratchDatabase, _ installation: Installation) throws {
            let items = Int64(IntakeDurability.items)
            let facts: [(String, Int64)] = [
                ("count(*) from deed.intake where state = 'believed'", items),
                ("count(*) from deed.events where type = 'purchase.made'", items),
                ("count(*) from deed.events where type = 'balance.credited'", items),
                ("count(distinct cause) from deed.events where cause like 'intake:i_%'", items),
                ("count(*) from deed.holders", items), ("count(*) from deed.evidence", items),
                ("sum(amount)::bigint from deed.customer_balances", 5 * items),
                ("count(*) from deed.intake where results not like '%recorded%'", 0),
            ]
            for (query, expected) in facts {
                #expect(try database.number("select \(query)") == expected, "\(query)")
            }
            try installation.expectWholeLog()
        }
    }
}
