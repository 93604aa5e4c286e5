import Auditing
import Core
import Histories
import Ledger
import Postgres
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Commands that concern several customers")
struct SeveralStreamsTests {
    private let database: ScratchDatabase
    private let ledger: Ledger

    init() throws {
        database = try ScratchDatabase()
        // Each batch is decided only after the pause that follows the previous one.
        let clock = TestClock()
        ledger = database.ledger(clock: {
            clock.advance(byMilliseconds: 2000)
            return clock.now
        })
    }

    /// Submits evidence of a purchase for a customer. The policy moves the purchase to that customer.
    private func claim(
        _ fact: TransactionFact, for customer: String, key: String, token: String? = nil,
        evidence: [EvidenceRecord] = []
    ) throws -> Command {
        let stream = try Stream.test(customer)
        let coolDown = try #require(CalendarDuration("PT1S"))
        let policy = TransferPolicy(rule: .transfer, coolDown: coolDown)
        let place = evidence.isEmpty ? nil : 0
        let cause = Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
        var command = Command(stream: stream, actor: try Actor("test"), cause: cause) {
            situation throws(Refusal) in
            let contact = Contact(
                purchase: fact.purchase,
                named: token.flatMap { text in
                    guard let owner = situation.tokenOwners[text] else { return nil }
                    return AccountToken(text).map { NamedHolder(owner, by: $0) }
                },
                submitter: stream.customer)
            let placement = policy.place(
                contact, holder: situation.holder(of: fact.purchase), catalog: shop,
                now: situation.now)
            guard let origin = placement.origin else {
                let wish = RecordFacts(Histories.facts([fact]), catalog: shop)
                let events = situation.customer(placement.holder).decide(wish)
                return Decision(
                    parts: [
                        .init(customer: placement.holder, events: events, restsOn: place)
                    ])
            }
            let move = try MovePurchase(
                fact.purchase, from: origin.customer, to: placement.holder, cause: origin.cause,
                catalog: shop
            ).decide(
                from: situation.customer(origin.customer),
                to: situation.customer(placement.holder), now: situation.now)
            return Decision(
                parts: [
                    .init(
                        customer: origin.customer, events: move.leaving, restsOn: place),
                    .init(
                        customer: placement.holder, events: move.arriving, restsOn: place),
                ])
        }
        command.purchases = [HeldPurchase(app: fact.app, purchase: fact.purchase)]
        command.tokens = token.map { [$0] } ?? []
        command.evidence = evidence
        return command
    }

    @Test("The token of a customer erased in the same batch is no customer's")
    func erasedOwner() throws {
        let ledger = database.ledger(change: { $0.committers = 1 })
        defer { ledger.close() }
        func change(_ customer: String, _ key: String, _ event: Event) throws -> Command {
            .customer(
                try .test(customer), actor: try Actor("test"),
                cause: Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _, _ in [event] }
        }
        for round in 0..<5 as Range<UInt8> {
            let token = AccountToken(random: [UInt8](repeating: round, count: 16))
            let registered = Event.tokenRegistered(TokenRegistered(token: token))
            _ = try ledger.append(change("anna\(round)", "1", registered))
            // Commands that arrive while the committer waits become one batch.
            var holder = try Connection.open(database.settings())
            try holder.run(
                Script(embedded: Array("begin; lock deed.shards in exclusive mode".utf8)))
            ledger.submit(try .give("pro", to: .test("x"), grant: "g\(round)")) { _ in }
            pause(milliseconds: 50)
            let erased = Event.customerErased(CustomerErased(reason: id("r"), ticket: nil))
            ledger.submit(try change("anna\(round)", "2", erased)) { _ in }
            let answer = Monitor<Result<Outcome, CommandError>?>(nil)
            let fact = transaction("t\(round)", "level2", .nonConsumable, at(0)) {
                $0.accountToken = token.text
            }
            ledger.submit(try claim(fact, for: "ben", key: "\(round)", token: token.text)) {
                given in
                answer.change { $0 = given }
            }
            try holder.run(Script(embedded: Array("rollback".utf8)))
            let outcome = try answer.wait { $0 }.get()
            #expect(outcome.events.map(\.event.type.name) == ["purchase.made"])
        }
        var projections = ProjectionAudit()
        let auditor = Auditor(database.settings(role: LedgerSettings.serviceRole))
        try projections.compareAll(auditor) { _ in }
        #expect(projections.findings.isEmpty, "\(projections.findings.listed)")
    }

    private func types(_ customer: String) throws -> [String] {
        try ledger.events(of: .test(customer), after: 0, limit: 100).map(\.type)
    }

    private var level: TransactionFact { transaction("t1", "level2", .nonConsumable, at(0)) }

    @Test("A move writes both streams in one commit, and each says where the purchase went")
    func move() throws {
        defer { ledger.close() }
        _ = try ledger.append(claim(level, for: "first", key: "1"))
        let outcome = try ledger.append(claim(level, for: "second", key: "1"))
        #expect(try types("first") == ["purchase.made", "purchase.detached"])
        #expect(try types("second") == ["purchase.attached"])
        #expect(outcome.events.map(\.event.type.name) == ["purchase.attached"])
        #expect(
            try database.number(
                "select count(*) from deed.holders where customer = 'second'") == 1)
        #expect(
            try database.number(
                "select count(*) from deed.purchases where customer = 'second'") == 1)
        #expect(try database.number("select count(*) from deed.purchases") == 1)
    }

    @Test("What a command writes into another stream uses up none of that stream's causes")
    func linkedCause() throws {
        defer { ledger.close() }
        _ = try ledger.append(claim(level, for: "first", key: "a"))
        _ = try ledger.append(claim(level, for: "second", key: "b"))
        let entries = try ledger.events(of: .test("first"), after: 0, limit: 10)
        #expect(entries.last?.recorded.cause.hasPrefix("linked:") == true)
        let grant = try ledger.append(.give("pro", to: .test("first"), grant: "g", key: "b"))
        #expect(grant.events.map(\.event.type.name) == ["grant.given"])
    }

    @Test("A purchase goes back and forth as often as it is proven, even within one batch")
    func backAndForth() throws {
        defer { ledger.close() }
        let moves = 40
        inParallel(4) { lane in
            for index in 0..<moves / 4 {
                let customer = "customer \((lane + index) % 3)"
                _ = try? ledger.append(claim(level, for: customer, key: "\(lane)-\(index)"))
            }
        }
        var held = 0
        var attached: Int64 = 0
        for number in 0..<3 {
            let state = try ledger.customer(of: .test("customer \(number)")).customer
            held += state.purchases.count
        }
        attached = try database.number(
            "select count(*) from deed.events where type = 'purchase.attached'")
        #expect(held == 1)
        #expect(
            try database.number(
                "select count(*) from deed.events where type = 'purchase.detached'") == attached)
        #expect(try database.number("select count(*) from deed.purchases") == 1)
        for shard in Shard.all { #expect(try ledger.audit(shard).findings.isEmpty) }
    }

    @Test("If many prove one purchase at once on two instances, one holds it")
    func race() throws {
        let other = database.ledger()
        defer {
            ledger.close()
            other.close()
        }
        let facts = Histories.facts([level])
        let results = Mutex<[Result<Outcome, CommandError>]>([])
        inParallel(32) { index in
            let ledger = index % 2 == 0 ? ledger : other
            guard let stream = try? Stream.test("customer \(index)"),
                let command = try? Command.record(facts, for: stream, key: "1")
            else { return }
            let result = Result { () throws(CommandError) in try ledger.append(command) }
            results.withLock { $0.append(result) }
        }
        let all = results.withLock { $0 }
        #expect(all.count == 32)
        #expect(all.count { (try? $0.get()) != nil } == 1)
        for case .failure(let error) in all { #expect(error == .refused(.move(.heldByAnother))) }
        #expect(try database.number("select count(*) from deed.events") == 1)
        #expect(try database.number("select count(*) from deed.holders") == 1)
    }

    @Test("The owner of an account token gets the purchase, whoever proves it")
    func token() throws {
        defer { ledger.close() }
        let token = try #require(AccountToken("6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"))
        let cause = Cause(text: "key:0", digest: [UInt8](repeating: 0, count: 32))
        _ = try ledger.append(
            .claiming(token, for: .test("owner"), actor: Actor("test"), cause: cause) { _ in
                [.tokenRegistered(TokenRegistered(token: token))]
            })
        let command = try claim(level, for: "bearer", key: "1", token: token.text.uppercased())
        let outcome = try ledger.append(command)
        #expect(outcome.events == [])
        #expect(try types("bearer") == [])
        #expect(try types("owner") == ["token.registered", "purchase.made"])
    }

    @Test("Evidence is stored with the events that rest on it, and each certificate once")
    func evidence() throws {
        defer { ledger.close() }
        for number in UInt8(0)..<5 {
            let fact = transaction("t\(number)", "level2", .nonConsumable, at(0))
            let record = EvidenceRecord(
                digest: [UInt8](repeating: number, count: 32), kind: "signed_transaction",
                app: fact.app, signedAt: at(0), content: [1, 2, number],
                certificates: [UInt8(7), 8].map {
                    KeptCertificate(digest: [UInt8](repeating: $0, count: 32), der: [$0, $0])
                })
            for time in 0..<2 {
                _ = try ledger.append(
                    claim(fact, for: "u\(number)", key: "\(time)", evidence: [record]))
            }
        }
        #expect(try database.number("select count(*) from deed.evidence") == 5)
        #expect(try database.number("select count(*) from deed.certificates") == 2)
        #expect(
            try database.number(
                """
                select count(*) from deed.evidence
                where octet_length(certificates) = 64 and octet_length(content) = 3
                """) == 5)
    }

    @Test("A cause from long ago is answered from the log, on other instances too")
    func replay() throws {
        let stream = try Stream.test("u1")
        let first = try ledger.append(.give("pro", to: stream, grant: "g0", key: "first"))
        for number in 1..<50 {
            _ = try ledger.append(.give("pro", to: stream, grant: "g\(number)"))
        }
        let again = try ledger.append(.give("pro", to: stream, grant: "other", key: "first"))
        #expect(again.events == first.events)
        ledger.close()
        let cold = database.ledger()
        defer { cold.close() }
        let later = try cold.append(.give("pro", to: stream, grant: "other", key: "first"))
        #expect(later.events == first.events)
        #expect(try cold.events(of: stream, after: 0, limit: 100).count == 50)
    }

    @Test("Causes are distinguished by their bytes, not by their look")
    func bytes() throws {
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        for (index, key) in ["caf\u{E9}", "cafe\u{301}"].enumerated() {
            _ = try ledger.append(.give("pro", to: stream, grant: "g\(index)", key: key))
        }
        #expect(try ledger.customer(of: stream).customer.grants.count == 2)
    }
}
