import Core
import Evidence
import JSON
import Ledger
import Minting
import SQL
import Service
import Synchronization
import Telemetry
import TestSupport
import Testing

extension ProgramTests {
    @Suite("A database connection that loses commits", .serialized, .timeLimit(.minutes(20)))
    struct CommitLoss {
        private static let rounds = 4
        private static let coins: Int64 = 1000
        private let database: ScratchDatabase
        private let installation: Installation
        private let folder: EvidenceFolder
        private let proxy: PostgresProxy
        private let service: RunningService
        private let key: String
        private let store = MintedStore(environment: "Sandbox")

        init() throws {
            database = try ScratchDatabase()
            installation = try Installation(database)
            folder = try EvidenceFolder()
            try installation.sell(in: folder)
            key = try installation.makeKey()
            proxy = try PostgresProxy(database.url)
            service = try installation.serve(
                "--extra-roots", "\(folder.path)/roots", "--database-url", proxy.url)
        }

        /// A request, and its expected result.
        private struct Wish: Sendable {
            let path: String
            let body: String
            let key: String?
            let status: Int
        }

        @Test(
            "An answered write exists once, and a repetition gets the same answer",
            arguments: PostgresProxy.Loss.allCases)
        func writes(_ loss: PostgresProxy.Loss) throws {
            var client = try APIClient(key: key)
            let adjusted = try client.send(
                "POST", "\(service.url)/v1/customers/spender/balances/coins/adjust",
                body: #"{"amount":\#(CommitLoss.coins),"reason":"r"}"#)
            #expect(adjusted.status == 200)
            for round in 1...CommitLoss.rounds {
                let wishes = try wishes(round)
                let before = retries
                // After a successful commit, there is no second attempt to lose.
                let times = loss == .command ? 1 + round % 3 : 1
                // An instance also commits its heartbeat, which affects no answer.
                proxy.lose(loss, of: .commit, after: .insertEvents, times: times)
                let first = try answers(to: wishes)
                #expect(proxy.left == 0)
                #expect(eventually(within: 5000) { retries > before })
                let again = try answers(to: wishes)
                for (wish, (first, again)) in zip(wishes, zip(first, again)) {
                    #expect(first.status == wish.status, "\(wish.path): \(first)")
                    #expect(again.status == wish.status, "\(wish.path): \(again)")
                    if wish.key != nil {
                        #expect(timeless(again.text) == timeless(first.text), "\(wish.path)")
                    }
                }
            }
            try verify(&client)
        }

        private func wishes(_ round: Int) throws -> [Wish] {
            let customers = "/v1/customers"
            let sales = [false, true].map { isKeyed in
                let name = "\(round)-\(isKeyed)"
                let sale = Sale(name, "coins.100", .consumable, at: Payload.signedAt)
                let body: JSON = [
                    "environment": "sandbox",
                    "signed_transactions": [.string(store.transaction(sale))],
                ]
                return Wish(
                    path: "\(customers)/buyer-\(name)/receipts", body: body.text,
                    key: isKeyed ? "buy \(name)" : nil, status: 200)
            }
            return sales + [
                Wish(
                    path: "\(customers)/guest/grants",
                    body: #"{"entitlement":"vip\#(round)","reason":"r","allow_unknown":true}"#,
                    key: "give \(round)",
                    status: 201),
                Wish(
                    path: "\(customers)/spender/balances/coins/spend", body: #"{"amount":1}"#,
                    key: "spend \(round)", status: 200),
            ]
        }

        /// Sends all requests at the same time, and returns the answers.
        private func answers(to wishes: [Wish]) throws -> [(status: Int, text: String)] {
            let answers = Mutex<[Int: (status: Int, text: String)]>([:])
            inParallel(wishes.count) { index in
                let wish = wishes[index]
                guard var client = try? APIClient(key: key),
                    let answer = try? client.send(
                        "POST", service.url + wish.path, body: wish.body, idempotencyKey: wish.key)
                else { return }
                answers.withLock { $0[index] = answer }
            }
            let all = answers.withLock { $0 }
            return try wishes.indices.map { try #require(all[$0], "\(wishes[$0].path)") }
        }

        /// Returns the answer without its instant.
        private func timeless(_ answer: String) -> String {
            answer.replacing(/"at":"[^"]*"/, with: "")
        }

        /// How often the service has repeated a commit.
        private var retries: Int {
            service.log.split(separator: "\n").count { $0.contains(#""event":"commit_retried""#) }
        }

        private func verify(_ client: inout APIClient) throws {
            let rounds = Int64(CommitLoss.rounds)
            let counts = [
                "purchase.made": 2 * rounds, "balance.credited": 2 * rounds, "grant.given": rounds,
                "balance.spent": rounds,
            ]
            for (type, count) in counts {
                let found = try database.number(
                    "select count(*) from deed.events where type = '\(type)'")
                #expect(found == count, "\(type)")
            }
            let path = "\(service.url)/v1/customers/spender/balances"
            let left = try client.read(path)["balances"]?["coins"]?.integer
            #expect(left == CommitLoss.coins - rounds)
            try installation.expectWholeLog()
        }

        @Test(
            "A decision about queued evidence is carried out once",
            arguments: PostgresProxy.Loss.allCases, ["settle", "drop"])
        func queue(_ loss: PostgresProxy.Loss, _ verb: String) throws {
            let item = try queued()
            var client = try APIClient(key: key)
            for times in [1, 2] {
                let url = "\(service.url)/v1/intake/\(item.id)/\(verb)"
                let body = #"{"reason":"r \#(times)"}"#
                try database.run("update deed.intake set state = 'waiting', revision = 0")
                proxy.lose(loss, of: .changeIntake, times: times)
                var answer = try client.send("POST", url, body: body)
                #expect(proxy.left == 0)
                // Deed lost both attempts and does not know the outcome, so the sender asks again.
                #expect(answer.status == (times == 1 ? 200 : 503))
                if times == 2 { answer = try client.send("POST", url, body: body) }
                #expect(answer.status == 200)
                let again = try client.send("POST", url, body: body)
                #expect(again.text == answer.text)
                #expect(try database.number("select revision from deed.intake") == 1)
            }
        }

        /// Returns an item that is not due in this century.
        private func queued() throws -> IntakeItem {
            let due = Instant(milliseconds: 4_102_444_800_000)
            let ledger = database.ledger()
            defer { ledger.close() }
            let raw = RawEvidence(.appReceipt, ReceiptPlan().bytes)
            let wish = IntakeWish(
                project: try ProjectID("default"), purpose: .submit(try CustomerID("u1")),
                order: nil, heading: try Prover(minted: Metrics()).heading(of: raw))
            let item = IntakeItem(try IntakeID("i_1"), wish, now: due)
            return try #require(try ledger.addIntake(item, raw.bytes))
        }
    }
}
