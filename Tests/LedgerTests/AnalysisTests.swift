import Core
import Foundation
import Histories
import JSON
import Ledger
import Postgres
import Synchronization
import TestSupport
import Testing

/// Runs the queries of `docs/sql.md` on a history with known answers.
@Suite("Analysts' questions in SQL")
struct AnalysisTests {
    private let database: ScratchDatabase
    private let ledger: Ledger
    private let clock: SetClock

    private final class SetClock: Sendable {
        let instant = Mutex(Histories.at(0))
        var now: Instant { instant.withLock { $0 } }
        func set(_ instant: Instant) { self.instant.withLock { $0 = instant } }
    }

    init() throws {
        database = try ScratchDatabase()
        clock = SetClock()
        ledger = database.ledger(clock: { [clock] in clock.now })
        try change("create") { project, state throws(Refusal) in try state.create(project) }
        try change("catalog") { project, state throws(Refusal) in
            try state.change(to: shop, of: project)
        }
    }

    private func change(
        _ key: String,
        _ decide: @escaping @Sendable (ProjectID, ProjectState) throws(Refusal) -> [Event]
    ) throws {
        let project = try ProjectID("default")
        _ = try ledger.append(
            .project(
                project, actor: try Actor("test"),
                cause: Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
            ) { state, _ throws(Refusal) in try decide(project, state) })
    }

    private func record(
        _ customer: String, _ transactions: [TransactionFact], renewals: [RenewalFact] = []
    ) throws {
        _ = try ledger.append(
            .record(
                Histories.facts(transactions, renewals: renewals), for: .test(customer),
                key: "evidence"))
    }

    private func give(
        _ entitlement: String, to customer: String, grant: String, ticket: String,
        from start: Instant? = nil
    ) throws {
        let wish = GiveGrant(
            grant: id(grant), entitlement: id(entitlement),
            time: .from(start, until: .never), reason: id("outage"), ticket: id(ticket))
        try append(to: customer, key: grant) { state, now throws(Refusal) in
            try state.decide(wish, by: Catalog(), now: now)
        }
    }

    private func append(
        to customer: String, key: String,
        _ decide: @escaping @Sendable (CustomerState, Instant) throws(Refusal) -> [Event]
    ) throws {
        _ = try ledger.append(
            .customer(
                .test(customer), actor: try Actor("test"),
                cause: Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
            ) { state, _, now throws(Refusal) in try decide(state, now) })
    }

    /// Returns a subscription period between two days.
    private func period(
        _ transaction: String, of original: String, _ product: String, _ days: Range<Int64>,
        _ milliunits: Int64, _ currency: String,
        _ change: (inout TransactionFact) -> Void = { _ in }
    ) -> TransactionFact {
        Histories.transaction(
            transaction, of: original, product, .autoRenewable, at(days.lowerBound),
            to: at(days.upperBound)
        ) {
            $0.price = Price(milliunits: milliunits, currency: currency)
            change(&$0)
        }
    }

    private func sale(
        _ name: String, _ product: String, _ kind: ProductKind, _ day: Int64, _ milliunits: Int64
    ) -> TransactionFact {
        Histories.transaction(name, product, kind, at(day)) {
            $0.price = Price(milliunits: milliunits, currency: "USD")
        }
    }

    private func tellHistory() throws {
        func trial(_ fact: inout TransactionFact) {
            fact.offer = Offer(kind: .introductory, discount: .freeTrial)
        }
        // These are 12 January and the 12th of each following month.
        let starts: [Int64] = [11, 42, 70, 101, 131, 162]
        try record(
            "anna",
            [period("a0", of: "a0", "pro", 4..<11, 0, "USD", trial)]
                + zip(starts, starts.dropFirst()).map { start, end in
                    period("a\(start)", of: "a0", "pro", start..<end, 9990, "USD")
                })
        // An old receipt mentions the trial but not the price.
        try record(
            "ben",
            [
                period("b0", of: "b0", "pro", 19..<26, 0, "USD") {
                    trial(&$0)
                    $0.price = nil
                }
            ])
        try record(
            "cleo",
            [
                period("c0", of: "c0", "pro", 40..<68, 8990, "EUR"),
                period("c1", of: "c0", "pro", 68..<99, 8990, "EUR") {
                    $0.revocation = refund(at: at(78))
                },
            ])
        var coins = sale("d1", "coins", .consumable, 60, 990)
        coins.revocation = refund(at: at(62), .prorated, milliPercent: 50_000)
        try record("dora", [sale("d0", "level2", .nonConsumable, 45, 4990), coins])
        try record(
            "emil", [period("e0", of: "e0", "plus", 110..<138, 4990, "EUR")],
            renewals: [Histories.renewal(of: "e0", signed: at(111), on: false)])
        try record(
            "fred",
            [
                period("f0", of: "f0", "pro", 131..<162, 9990, "USD") {
                    $0.ownership = .familyShared
                }
            ])
        clock.set(at(100))
        try give("pro", to: "gina", grant: "g1", ticket: "T-1")
        try give("pro", to: "hans", grant: "g2", ticket: "T-1")
        try give("pro", to: "anna", grant: "g3", ticket: "T-2")
        // This grant starts later in the month, so it gives no access yet.
        try give("pro", to: "ines", grant: "g4", ticket: "T-3", from: at(140))
        clock.set(at(105))
        _ = try ledger.append(.revoke("g2", of: .test("hans"), key: "revoke"))
    }

    /// 15 May 2026, as SQL.
    private let now = "timestamptz '2026-05-15T00:00:00Z'"

    private static let answers: [(number: Int, rows: [String])] = [
        (
            1,
            ["2026-01 2", "2026-02 2", "2026-03 2", "2026-04 3", "2026-05 3"]
        ),
        (2, ["2026-02 1 0", "2026-03 2 1", "2026-04 1 0"]),
        (3, ["2026-01 2 1"]),
        (
            4,
            [
                "2026-01 USD 9.99 0 9.99", "2026-02 EUR 8.99 0 8.99", "2026-02 USD 14.98 0 14.98",
                "2026-03 EUR 8.99 8.99 0.00", "2026-03 USD 10.98 0.495 10.485",
                "2026-04 EUR 4.99 0 4.99", "2026-04 USD 9.99 0 9.99", "2026-05 USD 9.99 0 9.99",
            ]
        ),
        (5, ["emil plus 2026-05-19T00:00:00+00:00"]),
        // Two trials of pro do not count as sales.
        (6, ["coins 1 1 100.0", "pro 7 1 14.3", "level2 1 0 0.0", "plus 1 0 0.0"]),
        (
            7,
            [
                "T-1 2 1 [\"gina\",\"hans\"]", "T-2 1 0 [\"anna\"]", "T-3 1 0 [\"ines\"]",
            ]
        ),
        (8, ["ad_free 2 0 0", "level2 1 0 0", "pro 1 2 1"]),
        (
            9,
            [
                "anna USD 49.95 2026-01-05T00:00:00+00:00",
                "cleo EUR 8.99 2026-02-10T00:00:00+00:00",
                "dora USD 5.485 2026-02-15T00:00:00+00:00",
                "emil EUR 4.99 2026-04-21T00:00:00+00:00",
            ]
        ),
        (
            10,
            [
                "2026-01 0 2", "2026-01 1 1", "2026-01 2 1", "2026-01 3 1", "2026-01 4 1",
                "2026-02 0 1", "2026-02 1 1", "2026-04 0 1", "2026-04 1 1",
            ]
        ),
        (11, held),
    ]

    /// The holders of pro by day. Each range belongs to one customer: anna, ben, cleo until the
    /// refund, gina, hans, and fred.
    private static let held: [String] = {
        let runs: [Range<Int64>] = [4..<200, 19..<26, 40..<78, 100..<200, 100..<105, 131..<162]
        return (4...134).map { (day: Int64) in
            "\(at(day).text.prefix(10)) \(runs.count { $0.contains(day) })"
        }
    }()

    @Test("The questions on the page have the answers of the history")
    func questions() throws {
        try tellHistory()
        let questions = try AnalysisTests.questions()
        #expect(questions.map(\.number) == AnalysisTests.answers.map(\.number))
        for (question, answer) in zip(questions, AnalysisTests.answers) {
            let query = question.query.replacing("now()", with: now)
            #expect(try rows(of: query) == answer.rows, "question \(question.number)")
        }
    }

    @Test("A login that may only read the views can ask all of them")
    func rights() throws {
        let analyst = try TestLogin(analystOf: database)
        defer { withExtendedLifetime(analyst) {} }
        try tellHistory()
        let url = analyst.url(of: database)
        for question in try AnalysisTests.questions() { try runScript(question.query, at: url) }
        #expect(throws: (any Error).self) { try runScript("select * from deed.events", at: url) }
    }

    @Test("Unclaimed purchases count as sold to no customer; erased grants do not count")
    func edges() throws {
        try record("$unclaimed/", [sale("u0", "level2", .nonConsumable, 3, 4990)])
        #expect(
            try rows(of: "select customer, purchase, price, currency from deed.transactions")
                == ["null apple:u0 4.99 USD"])
        try give("pro", to: "ida", grant: "g1", ticket: "T-1")
        try append(to: "ida", key: "erase") { _, _ throws(Refusal) in
            [.customerErased(CustomerErased(reason: id("wish"), ticket: nil))]
        }
        #expect(try rows(of: "select grant_id from deed.grants") == [])
        try give("vip", to: "ida", grant: "g2", ticket: "T-2")
        #expect(try rows(of: "select grant_id, entitlement from deed.grants") == ["g2 vip"])
    }

    @Test("Offers, refunds and products read as words")
    func words() throws {
        var fact = period("w0", of: "w0", "pro", 0..<30, 1990, "EUR")
        fact.offer = Offer(kind: .unknown(9), discount: .payUpFront)
        fact.offer?.identifier = "spring"
        fact.offer?.period = "P1M"
        fact.revocation = refund(at: at(3), .prorated, .issueWithApp, milliPercent: 33_333)
        try record("willa", [fact])
        #expect(
            try rows(
                of:
                    "select offer, discount, offer_id, offer_period, evidence from deed.transactions"
            ) == ["unknown_9 pay_up_front spring P1M notification"])
        #expect(
            try rows(of: "select because, share, amount from deed.refunds")
                == ["issue_with_app 0.33333 0.6633267"])
        let products = try rows(
            of: """
                select product, kind, entitlements, credits, duration, stacking,
                    subscription_group, level, is_family_shared
                from deed.products where product in ('chest', 'pass', 'solo') order by product
                """)
        #expect(
            products == [
                "chest consumable [] {\"coins\":1000,\"gems\":5} null null null null true",
                "pass non_renewing [\"pass\"] null P30D overlap null null true",
                "solo auto_renewable [\"pro\",\"solo\"] null null null solo 1 false",
            ])
    }

    @Test("Rows that a migration marks are rewritten with what they lack")
    func marked() throws {
        try tellHistory()
        let question = "select transaction, price from deed.transactions order by transaction"
        let complete = try rows(of: question)
        try database.run(
            """
            update deed.purchases set transactions = (
                select json_agg(json_build_object('transaction', t ->> 'transaction'))
                from json_array_elements(transactions) as t);
            update deed.projects set projected_version = -1;
            update deed.customers set catalog_version = -1
            """)
        #expect(try rows(of: question).allSatisfy { $0.hasSuffix(" null") })
        let projected = try ledger.reproject { Issue.record("\($0): \($1)") }
        #expect(projected == 9)
        #expect(try rows(of: question) == complete)
    }

    /// Returns the values of each row, separated by spaces.
    private func rows(of query: String) throws -> [String] {
        var connection = try Connection.open(database.settings())
        try connection.run(Script(embedded: Array("set time zone 'UTC'".utf8)))
        let trimmed = query.trimmingCharacters(in: CharacterSet(charactersIn: "; \n"))
        let statement = Statement(
            embedded: Array("select row_to_json(asked)::text from (\(trimmed)) as asked".utf8))
        var found: [String] = []
        try connection.run([statement()]) { _, rows in
            for row in 0..<rows.count { found.append(rows.text(row, 0)) }
        }
        return try found.map { text in
            try (JSON.read(text).object?.members ?? []).map { $0.value.string ?? $0.value.text }
                .joined(separator: " ")
        }
    }

    /// Returns the page's queries by number.
    private static func questions() throws -> [(number: Int, query: String)] {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/sql.md"), encoding: .utf8)
        return page.components(separatedBy: "\n### ").dropFirst().compactMap { section in
            let parts = section.components(separatedBy: "```")
            guard let number = section.split(separator: ".").first.flatMap({ Int($0) }),
                parts.count > 1
            else { return nil }
            return (number, String(parts[1].dropFirst("sql".count)))
        }
    }
}
