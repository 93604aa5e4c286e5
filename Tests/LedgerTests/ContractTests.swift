import Auditing
import Core
import Histories
import Ledger
import Postgres
import TestSupport
import Testing

@Suite("What other programs read in SQL")
struct ContractTests {
    private let database: ScratchDatabase
    private let ledger: Ledger
    private let project: ProjectID

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger(clock: { Histories.at(40) })
        project = try ProjectID("default")
        try change { project, state throws(Refusal) in try state.create(project) }
        try change(to: shop, key: "first catalog")
    }

    private func change(
        key: String = "create",
        _ decide: @escaping @Sendable (ProjectID, ProjectState) throws(Refusal) -> [Event]
    ) throws {
        let project = project
        _ = try ledger.append(
            .project(
                project, actor: try Actor("test"),
                cause: Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
            ) { state, _ throws(Refusal) in try decide(project, state) })
    }

    private func change(to catalog: Catalog, key: String) throws {
        try change(key: key) { project, state throws(Refusal) in
            try state.change(to: catalog, of: project)
        }
    }

    /// Creates customers, each with a random history whose facts arrived in any order.
    private func customers(_ count: Int, seed: UInt64) throws -> [Stream] {
        let streams = try (0..<count).map { try Stream.test("customer \($0)") }
        inParallel(8) { lane in
            for index in stride(from: lane, to: count, by: 8) {
                let history = RandomHistory(seed: seed &+ UInt64(index), prefix: "c\(index)-")
                var random = SeededGenerator(seed: seed &+ UInt64(index))
                for (number, fact) in history.facts.shuffled(using: &random).enumerated() {
                    _ = try? ledger.append(
                        .record(AnyFact.facts([fact]), for: streams[index], key: "\(number)"))
                }
                if index % 5 == 0 {
                    _ = try? ledger.append(.give("pro", to: streams[index], grant: "g"))
                }
            }
        }
        return streams
    }

    @Test("deed.entitled gives the service's answer at every boundary, even by a changed catalog")
    func entitled() throws {
        let seed = printedSeed(of: "entitled")
        let streams = try customers(60, seed: seed)
        #expect(try compare(streams) > 500)
        try change(
            to: catalog([product("pro", .autoRenewable(group: nil, level: 1), ["pro", "vip"])]),
            key: "second catalog")
        let projected = try ledger.reproject { Issue.record("\($0): \($1)") }
        #expect(projected == streams.count)
        #expect(try compare(streams) > 100)
        let again = try ledger.reproject { Issue.record("\($0): \($1)") }
        #expect(again == 0)
    }

    /// Asks the service and the database the same questions. Returns their number.
    private func compare(_ streams: [Stream]) throws -> Int {
        var connection = try Connection.open(database.settings(role: LedgerSettings.serviceRole))
        var asked = 0
        for stream in streams {
            let snapshot = try ledger.customer(of: stream)
            let questions = questions(about: snapshot)
            let call = ContractTests.entitled(
                .text(stream.project.text), .text(stream.customer.text),
                .texts(questions.map(\.entitlement.text)),
                .int8s(questions.map(\.instant.milliseconds)))
            var answers: [Bool] = []
            try connection.run([call]) { _, rows in
                answers = (0..<rows.count).map { rows.bool($0, 0) }
            }
            #expect(answers.count == questions.count)
            for (question, answer) in zip(questions, answers) {
                let expected = snapshot.customer.entitlements(
                    at: question.instant, catalog: snapshot.project.catalog)
                let isActive = expected[question.entitlement]?.isActive ?? false
                #expect(answer == isActive, "\(stream.customer) \(question)")
            }
            asked += questions.count
        }
        return asked
    }

    private struct Question {
        let entitlement: EntitlementID
        let instant: Instant
    }

    private func questions(about snapshot: CustomerSnapshot) -> [Question] {
        snapshot.customer.runs(by: snapshot.project.catalog).flatMap { entitlement, runs in
            runs.flatMap { run in
                [run.start, run.end].compactMap(\.self).flatMap { bound in
                    [-1, 0, 1].map { offset in
                        Question(
                            entitlement: entitlement,
                            instant: bound.advanced(byMilliseconds: offset))
                    }
                }
            }
        }
    }

    private static let entitled = Statement(
        """
        select deed.entitled($1, $2, entitlement, deed.instant(instant))
        from unnest($3::text[], $4::bigint[]) with ordinality as q (entitlement, instant, place)
        order by place
        """)

    @Test(
        "An instant in SQL is that instant, and infinite outside the years 1 to 9999",
        arguments: [
            (0, "1970-01-01 00:00:00+00"), (-1, "1969-12-31 23:59:59.999+00"),
            (-62_135_596_800_000, "0001-01-01 00:00:00+00"),
            (-62_135_596_800_001, "-infinity"), (Int64.min, "-infinity"),
            (253_402_300_799_999, "9999-12-31 23:59:59.999+00"),
            (253_402_300_800_000, "infinity"), (Int64.max, "infinity"),
        ] as [(Int64, String)])
    func instants(_ milliseconds: Int64, _ expected: String) throws {
        var connection = try Connection.open(database.settings(role: LedgerSettings.serviceRole))
        let written = Instant(milliseconds: milliseconds).text
        try connection.run([
            Statement(
                """
                select deed.instant($1::bigint)::text, deed.instant($2::text)::text
                from set_config('timezone', 'UTC', false)
                """)(.int8(milliseconds), .text(written))
        ]) { _, rows in
            #expect(rows.text(0, 0) == expected)
            #expect(rows.text(0, 1) == expected)
        }
    }

    @Test("Balances and subscriptions read as in the service")
    func views() throws {
        let seed = printedSeed(of: "views")
        let streams = try customers(40, seed: seed)
        var expected = Set<String>()
        var purchases = 0
        var expectedNames = Set<String>()
        for stream in streams {
            let customer = try ledger.customer(of: stream).customer
            for currency in customer.balances.currencies {
                expected.insert("\(stream.customer) \(currency) \(customer.balances[currency])")
            }
            for purchase in customer.purchases
            where [.autoRenewable, .nonRenewing].contains(purchase.kind(by: shop)) {
                purchases += 1
                expectedNames.insert("\(stream.customer) \(purchase.id)")
            }
        }
        var connection = try Connection.open(database.settings(role: LedgerSettings.serviceRole))
        var found = Set<String>()
        var subscriptions: Int64 = 0
        var names = Set<String>()
        try connection.run([
            Statement(
                "select customer, currency, amount from deed.balances")(),
            Statement(
                "select count(*) from deed.subscriptions where product is not null")(),
            Statement(
                "select customer, purchase from deed.subscriptions")(),
        ]) { index, rows in
            if index == 1 { subscriptions = rows.int8(0, 0) }
            for row in 0..<rows.count where index == 2 {
                names.insert("\(rows.text(row, 0)) \(rows.text(row, 1))")
            }
            for row in 0..<rows.count where index == 0 {
                found.insert("\(rows.text(row, 0)) \(rows.text(row, 1)) \(rows.int8(row, 2))")
            }
        }
        #expect(found == expected)
        #expect(subscriptions == Int64(purchases))
        #expect(names == expectedNames)
    }

    @Test("A restarted ledger folds the log to the same states")
    func coldStart() throws {
        let seed = printedSeed(of: "a cold start")
        let streams = try customers(40, seed: seed)
        let other = database.ledger()
        defer { other.close() }
        for stream in streams {
            let warm = try ledger.customer(of: stream)
            let cold = try other.customer(of: stream)
            #expect(warm.customer == cold.customer)
            #expect(warm.project == cold.project)
        }
    }

    @Test("An audit finds nothing if a customer uses two store accounts")
    func twoAccounts() throws {
        for name in ["account1", "account2"] {
            var fact = installation("1.0", on: at(0), signed: at(1))
            fact.appTransaction = id(name)
            _ = try ledger.append(
                .record(AnyFact.facts([.app(fact)]), for: .test("first"), key: name))
        }
        var audit = ProjectionAudit()
        try audit.compareAll(Auditor(database.settings())) { _ in }
        #expect(audit.findings.isEmpty, "\(audit.findings)")
    }

    @Test("A purchase has one holder, even if others prove it")
    func oneHolder() throws {
        let fact = transaction("t1", "level2", .nonConsumable, at(0))
        let facts = Histories.facts([fact])
        _ = try ledger.append(.record(facts, for: .test("first"), key: "1"))
        #expect(throws: CommandError.refused(.move(.heldByAnother))) {
            try ledger.append(.record(facts, for: .test("second"), key: "1"))
        }
        _ = try ledger.append(.record(facts, for: .test("first"), key: "2"))
        #expect(try ledger.customer(of: .test("second")).customer.version == 0)
    }

    @Test(
        "SQL finds the shard that the service does",
        arguments: ["u1", "", "ü/🎮", "a b", String(repeating: "x", count: 250)])
    func shards(_ name: String) throws {
        var connection = try Connection.open(database.settings())
        let stream = try Stream.test("c\(name)", environment: .sandbox)
        try connection.run([
            Statement("select deed.shard_of('default', 'sandbox', $1)")(
                .text(stream.customer.text))
        ]) { _, rows in #expect(rows.int2(0, 0) == stream.shard.number) }
    }
}
