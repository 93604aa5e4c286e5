import Auditing
import Core
import Histories
import Ledger
import Postgres
import TestSupport
import Testing
import Threading

@Suite("Merges in the log")
struct MergeBatchTests {
    private let database: ScratchDatabase
    private let ledger: Ledger

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger(change: { $0.committers = 1 })
    }

    private static func cause(_ key: String) -> Cause {
        Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
    }

    private func whole(
        _ from: String, with other: String, _ key: String, decide: @escaping Command.Decide
    ) throws -> Command {
        let stream = try Stream.test(from)
        var command = Command(
            stream: stream, actor: try Actor("cli:test"), cause: Self.cause(key),
            concernsMerged: true, decide: decide)
        command.customers = [id(other)]
        command.customersElsewhere = [stream.customer, id(other)]
        command.movesWhole = true
        return command
    }

    private func merge(_ from: String, into other: String, key: String) throws -> Command {
        let wish = MergeCustomer(id(from), into: id(other), reason: id("r"), ticket: nil)
        return try whole(from, with: other, key) { situation throws(Refusal) in
            try wish.decide(situation)
        }
    }

    private func undo(_ from: String, of other: String, key: String) throws -> Command {
        let wish = UndoMerge(id(from), partOf: id(other), reason: id("r"), ticket: nil)
        return try whole(from, with: other, key) { situation throws(Refusal) in
            try wish.decide(situation)
        }
    }

    private func register(_ token: AccountToken, for customer: String, key: String) throws
        -> Command
    {
        .customer(try .test(customer), actor: try Actor("test"), cause: Self.cause(key)) {
            state, _, _ throws(Refusal) in
            try state.decide(RegisterToken(token: token))
        }
    }

    /// Returns a command with the store's news of a purchase.
    private func news(_ fact: TransactionFact, key: String) throws -> Command {
        let submission = Submission(
            [Submission.Item(index: 0, facts: facts([fact]))], by: .store)
        let stream = try Stream.test("x").neighbouring(submission.keepers[0])
        var command = Command(
            stream: stream, actor: try Actor("test"), cause: Self.cause(key)
        ) { situation throws(Refusal) in
            // Leaves out the evidence, because this test does not need it.
            let decision = try submission.decide(situation)
            return Decision(
                parts: decision.parts.map { .init(customer: $0.customer, events: $0.events) })
        }
        command.purchases = submission.purchases
        command.tokens = submission.tokens
        command.customers = submission.keepers
        return command
    }

    private func proveAll(_ location: SourceLocation = #_sourceLocation) throws {
        let auditor = Auditor(database.settings())
        var projections = ProjectionAudit()
        try projections.compareAll(auditor) { _ in }
        #expect(
            projections.findings.isEmpty, "\(projections.findings.listed)", sourceLocation: location
        )
    }

    private func state(_ customer: String) throws -> CustomerState {
        try ledger.customer(of: .test(customer)).customer
    }

    @Test("What comes in the same batch sees the merge: a token and a purchase are the other one's")
    func oneBatch() throws {
        defer { ledger.close() }
        let token = AccountToken(random: [UInt8](repeating: 3, count: 16))
        _ = try ledger.append(register(token, for: "anon", key: "t"))
        let first = transaction("p1", "level2", .nonConsumable, at(0)) {
            $0.accountToken = token.text
        }
        _ = try ledger.append(news(first, key: "n1"))
        #expect(try state("anon").purchases.count == 1)
        var holder = try Connection.open(database.settings())
        try holder.run(Script(embedded: Array("begin; lock deed.shards in exclusive mode".utf8)))
        ledger.submit(try .give("pro", to: .test("x"), grant: "g0")) { _ in }
        pause(milliseconds: 50)
        let answers = Monitor<[Result<Outcome, CommandError>]>([])
        let later = transaction("p2", "level3", .nonConsumable, at(1)) {
            $0.accountToken = token.text
        }
        // The order of these commands depends on the data that each of them loads.
        let commands = [
            try merge("anon", into: "ben", key: "m"), try news(later, key: "n2"),
            try .give("pro", to: .test("anon"), grant: "g1"),
        ]
        for command in commands {
            ledger.submit(command) { result in answers.change { $0.append(result) } }
        }
        try holder.run(Script(embedded: Array("rollback".utf8)))
        let all = try #require(
            answers.wait(milliseconds: 60_000) { $0.count == commands.count ? $0 : nil })
        let refused = all.compactMap { result -> Refusal? in
            if case .failure(.refused(let refusal)) = result { refusal } else { nil }
        }
        #expect(all.count { (try? $0.get()) != nil } + refused.count == commands.count)
        #expect(refused.allSatisfy { $0 == .customerMerged(id("anon"), into: id("ben")) })
        let whole = try state("ben")
        #expect(whole.purchases.map(\.id) == [purchaseID("p1"), purchaseID("p2")])
        #expect(whole.grants.count + refused.count == 1)
        #expect(try state("anon").purchases.isEmpty && state("anon").grants.isEmpty)
        #expect(
            try database.number("select count(*) from deed.tokens where customer = 'ben'") == 1)
        #expect(
            try database.number("select count(*) from deed.holders where customer = 'ben'") == 2)
        try proveAll()
        _ = try ledger.append(undo("anon", of: "ben", key: "u"))
        _ = try ledger.append(merge("anon", into: "carl", key: "m2"))
        #expect(try state("carl").purchases.count == 2)
        try proveAll()
    }

    @Test("All four streams are written, and a new fold of them says the same")
    func folded() throws {
        defer { ledger.close() }
        let token = AccountToken(random: [UInt8](repeating: 4, count: 16))
        _ = try ledger.append(register(token, for: "anon", key: "t"))
        _ = try ledger.append(.give("pro", to: .test("anon"), grant: "g1"))
        _ = try ledger.append(merge("anon", into: "ben", key: "m"))
        let written = """
            select count(*) from deed.events
            where type in ('customer.merged', 'customer.joined') and actor = 'cli:test'
            """
        #expect(try database.number(written) == 4)
        let anew = database.ledger()
        defer { anew.close() }
        for customer in ["anon", "ben"] {
            let read = try anew.customer(of: .test(customer)).customer
            #expect(try read == state(customer), "\(customer)")
        }
        let grant = try #require(try state("ben").grants.first)
        #expect(grant.givenAt != nil && grant.givenBy != nil)
        let repeated = try ledger.append(merge("anon", into: "ben", key: "m"))
        #expect(repeated.isRepetition && repeated.events.map(\.event.type) == [.customerMerged])
        try proveAll()
    }

    @Test("A chain of any length is merged on, and each of it leads to the last one")
    func chains() throws {
        _ = try ledger.append(.give("pro", to: .test("c0"), grant: "g0", key: "g0"))
        for number in 0..<12 {
            _ = try ledger.append(
                merge("c\(number)", into: "c\(number + 1)", key: "m\(number)"))
        }
        for number in 0..<12 {
            #expect(try state("c\(number)").mergedInto == id("c12"))
        }
        #expect(try state("c12").grants.count == 1)
        try proveAll()
        ledger.close()
    }

    @Test(
        "A merge into a large account waits for these two customers alone, and so does its undoing")
    func locks() throws {
        defer { ledger.close() }
        for number in 0..<40 {
            let part = "part-\(number)"
            _ = try ledger.append(
                .give("pro", to: .test(part), grant: "g\(number)", key: "g\(number)"))
            _ = try ledger.append(merge(part, into: "large", key: "m\(number)"))
        }
        _ = try ledger.append(.give("pro", to: .test("late"), grant: "g", key: "g"))
        let streams = try ["late", "large"].map { try Core.Stream.test($0) }
        let needed = Set((streams + streams.map(\.inOtherEnvironment)).map(\.shard.number))
        let parts = try (0..<40).map { try Core.Stream.test("part-\($0)").shard.number }
        #expect(!Set(parts).isSubset(of: needed))
        // Meanwhile, another service locks all other shards.
        let others = """
            begin; select from deed.shards
            where shard not in (\(needed.map(String.init).joined(separator: ", "))) for update
            """
        var holder = try Connection.open(database.settings())
        try holder.run(Script(embedded: Array(others.utf8)))
        let answers = Monitor<[Result<Outcome, CommandError>]>([])
        for command in [
            try merge("late", into: "large", key: "m"), try undo("late", of: "large", key: "u"),
        ] {
            let before = answers.change { $0.count }
            ledger.submit(command) { result in answers.change { $0.append(result) } }
            let result = answers.wait(milliseconds: 60_000) { $0.count > before ? $0.last : nil }
            #expect((try? result?.get()) != nil, "\(String(describing: result))")
        }
        try holder.run(Script(embedded: Array("rollback".utf8)))
        #expect(try state("large").grants.count == 40 && state("late").grants.count == 1)
    }

    @Test("A row without an event does not make a purchase go along")
    func forged() throws {
        defer { ledger.close() }
        let fact = transaction("p1", "level2", .nonConsumable, at(0))
        _ = try ledger.append(.record([fact], for: .test("anon"), key: "b"))
        try database.run("update deed.holders set customer = 'mallory'")
        #expect(throws: CommandError.self) {
            _ = try ledger.append(merge("anon", into: "ben", key: "m"))
        }
        #expect(try state("anon").mergedInto == nil && state("ben").version == 0)
    }
}

extension Core.Stream {
    fileprivate func neighbouring(_ customer: CustomerID) -> Core.Stream {
        Core.Stream(project: project, environment: environment, customer: customer)
    }
}
