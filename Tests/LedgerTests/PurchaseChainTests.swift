import Auditing
import Core
import Histories
import Ledger
import TestSupport
import Testing

@Suite("Purchase tokens that continue each other, in the database")
struct PurchaseChainTests {
    private let database: ScratchDatabase
    private let ledger: Ledger

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger()
    }

    private func cause(_ key: String) -> Cause {
        Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
    }

    /// Records a reading for a customer, or for the customer whom it concerns.
    private func submit(
        _ fact: TransactionFact, by customer: String? = nil, key: String
    ) throws {
        let holder = customer.map { id($0) as CustomerID }
        let submission = Submission(
            [.init(index: 0, facts: facts([fact]))],
            by: holder.map { .customer($0) } ?? .store)
        let stream = Stream(
            project: id("default"), environment: .production,
            customer: holder ?? .unclaimed(fact.purchase))
        var command = Command(stream: stream, actor: try Actor("test"), cause: cause(key)) {
            situation throws(Refusal) in try submission.decide(situation)
        }
        command.purchases = submission.purchases
        command.tokens = submission.tokens
        command.customers = submission.keepers
        command.evidence = [
            EvidenceRecord(
                digest: [UInt8](repeating: key.utf8.first ?? 0, count: 32),
                kind: "google_subscription",
                app: fact.app, signedAt: fact.signedAt, content: [], certificates: [],
                isKeptAlways: false)
        ]
        _ = try ledger.append(command)
    }

    private func token(
        _ name: String, of root: String, continuing older: String?, order: String, at day: Int64
    ) -> TransactionFact {
        playReading(
            .active, name, of: root, at: at(day), from: at(day),
            [playItem("pro", order, to: at(day + 30))], mark: name
        ) { $0.continues = older.map { id($0) } }
    }

    private var first: TransactionFact {
        token("t1", of: "t1", continuing: nil, order: "GPA.1", at: 0)
    }
    private var second: TransactionFact {
        token("t2", of: "t1", continuing: "t1", order: "GPA.2", at: 10)
    }
    /// The third token, as read when Deed could not read the second one.
    private var third: TransactionFact {
        token("t3", of: "t2", continuing: "t2", order: "GPA.3", at: 20)
    }

    private func chain(of token: String) throws -> String? {
        try ledger.chain(
            ofToken: id(token), in: AppKey(store: .google, id: id("com.example.game")),
            of: id("default"))?.text
    }

    private func expectSoundness() throws {
        var projections = ProjectionAudit()
        let auditor = Auditor(database.settings(role: LedgerSettings.serviceRole))
        try projections.compareAll(auditor) { _ in }
        #expect(projections.findings.isEmpty, "\(projections.findings.listed)")
    }

    private func purchases(of customer: String) throws -> [Purchase] {
        try ledger.customer(of: .test(customer)).customer.purchases
    }

    @Test("Each token leads to its chain, and an unknown one to none")
    func lookUp() throws {
        try submit(first, by: "anna", key: "1")
        try submit(second, by: "anna", key: "2")
        #expect(try chain(of: "t1") == "t1" && chain(of: "t2") == "t1")
        #expect(try chain(of: "t3") == nil)
        try expectSoundness()
    }

    @Test("A token leads to its own purchase, even if another customer's continues it")
    func apart() throws {
        let alone = token("t2", of: "t2", continuing: "t1", order: "GPA.2", at: 10)
        try submit(alone, by: "ben", key: "2")
        try submit(first, by: "anna", key: "1")
        #expect(try purchases(of: "anna").count == 1 && purchases(of: "ben").count == 1)
        #expect(try chain(of: "t1") == "t1" && chain(of: "t2") == "t2")
    }

    @Test("A token in the middle that comes last makes one purchase of two")
    func middle() throws {
        try submit(first, by: "anna", key: "1")
        try submit(third, by: "anna", key: "3")
        #expect(try purchases(of: "anna").count == 2)
        try submit(second, by: "anna", key: "2")
        #expect(try purchases(of: "anna").map(\.id.description) == ["google:t1"])
        // Each of the tokens leads to the purchase.
        for token in ["t1", "t2", "t3"] {
            #expect(["t1", "t2"].contains(try chain(of: token)))
        }
        #expect(try database.number("select count(*) from deed.purchases") == 1)
        try expectSoundness()
        // A fact that names the second token still finds its purchase.
        let renewed = token("t3", of: "t2", continuing: "t2", order: "GPA.3..0", at: 20)
        try submit(renewed, by: "anna", key: "4")
        #expect(try purchases(of: "anna").count == 1)
        try expectSoundness()
    }

    @Test("What waits unclaimed goes along with the rest of its chain")
    func unclaimed() throws {
        try submit(third, key: "3")
        try submit(first, by: "anna", key: "1")
        #expect(try purchases(of: "anna").count == 1)
        try submit(second, key: "2")
        #expect(try purchases(of: "anna").map(\.readings.count) == [3])
        try expectSoundness()
    }

    @Test("A purchase with several names moves under all of them")
    func moved() throws {
        for (key, fact) in ["1": first, "3": third] { try submit(fact, by: "anna", key: key) }
        try submit(second, by: "anna", key: "2")
        let purchase = PurchaseID(store: .google, original: id("t1"))
        var command = Command(
            stream: try .test("ben"), actor: try Actor("test"), cause: cause("m")
        ) { situation throws(Refusal) in
            let move = try MovePurchase(
                purchase, from: id("anna"), to: id("ben"), cause: .transferred, catalog: playShop
            ).decide(
                from: situation.customer(id("anna")), to: situation.customer(id("ben")),
                now: situation.now)
            return Decision(parts: [
                .init(customer: id("anna"), events: move.leaving),
                .init(customer: id("ben"), events: move.arriving),
            ])
        }
        command.purchases = [HeldPurchase(app: id("com.example.game"), purchase: purchase)]
        command.customers = [id("anna")]
        _ = try ledger.append(command)
        #expect(try purchases(of: "anna").isEmpty)
        #expect(try purchases(of: "ben").map(\.readings.count) == [3])
        let holders = "select count(*) from deed.holders where customer = 'ben'"
        #expect(try database.number(holders) == 2)
        try expectSoundness()
    }

    /// Returns a reading of the second token. It names the first token only until it is acknowledged.
    private func again(
        continuing older: String?, order: String = "GPA.2", at day: Int64,
        for account: String? = nil
    ) -> TransactionFact {
        var fact = token("t2", of: "t2", continuing: older, order: order, at: day)
        fact.accountToken = account
        return fact
    }

    private static let account = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"

    /// Registers the account's token for a customer.
    private func register(_ customer: String) throws {
        let token = try #require(AccountToken(Self.account))
        _ = try ledger.append(
            Command.claiming(
                token, for: .test(customer), actor: try Actor("test"), cause: cause("register")
            ) { _ throws(Refusal) in [.tokenRegistered(TokenRegistered(token: token))] })
    }

    @Test("A purchase changes hands, whichever of its names the evidence has")
    func named() throws {
        try submit(first, by: "anna", key: "1")
        try submit(again(continuing: "t1", at: 10), by: "anna", key: "2")
        try register("ben")
        let renewed = again(continuing: nil, order: "GPA.2..0", at: 41, for: Self.account)
        try submit(renewed, key: "3")
        #expect(try purchases(of: "anna").isEmpty)
        #expect(try purchases(of: "ben").map(\.id.description) == ["google:t1"])
        #expect(try purchases(of: "ben").map(\.readings.count) == [3])
        let holders = "select count(*) from deed.holders where customer = 'ben'"
        #expect(try database.number(holders) == 2)
        try expectSoundness()
    }

    @Test("What waits under one name is claimed with evidence of another one")
    func claimed() throws {
        try submit(third, key: "3")
        try submit(first, key: "1")
        try submit(second, key: "2")
        try expectSoundness()
        let renewed = token("t3", of: "t2", continuing: "t2", order: "GPA.3..0", at: 20)
        try submit(renewed, by: "anna", key: "4")
        #expect(try purchases(of: "anna").map(\.readings.count) == [4])
        #expect(try database.number("select count(*) from deed.unclaimed") == 0)
        try expectSoundness()
    }

    @Test("What waits is found under its keeper's name, also when an older token gave it another")
    func keeper() throws {
        try submit(first, key: "1")
        try submit(again(continuing: "t1", at: 10, for: Self.account), key: "2")
        for table in ["unclaimed", "unclaimed_tokens"] {
            let rows = "select count(*) from deed.\(table) where original = 't2'"
            #expect(try database.number(rows) == 1, "\(table)")
        }
        try expectSoundness()
        try register("ben")
        #expect(try purchases(of: "ben").map(\.id.description) == ["google:t1"])
        #expect(try database.number("select count(*) from deed.unclaimed") == 0)
        try expectSoundness()
    }

    @Test("What is kept beside a purchase goes with its holder, under every name")
    func erased() throws {
        for (fact, key) in [(third, "3"), (first, "1"), (second, "2")] {
            try submit(fact, by: "anna", key: key)
        }
        let app = StoreApp(
            project: id("default"), key: AppKey(store: .google, id: first.app))
        let names = try purchases(of: "anna").flatMap(\.allIDs)
        #expect(names.map(\.description) == ["google:t1", "google:t2"])
        for name in names {
            let place = StorePurchase(app: app, environment: .production, purchase: name)
            try ledger.keep(HistoryMark(revision: "r"), of: place)
        }
        #expect(try database.number("select count(*) from deed.histories") == 2)
        let erasing = Command.customer(
            try .test("anna"), actor: try Actor("test"), cause: cause("erase"),
            concernsMerged: true
        ) { _, _, _ in
            [.customerErased(CustomerErased(reason: id("r"), ticket: nil))]
        }
        _ = try ledger.append(erasing)
        #expect(try database.number("select count(*) from deed.histories") == 0)
    }
}
