import Assembly
import Auditing
import Core
import Feed
import Histories
import Postgres
import TestSupport
import Testing
import Threading

@testable import Ledger

/// Tests which earlier catalogs the ledger reads, and which customers a damaged one affects.
@Suite("Earlier catalogs")
struct EarlierCatalogTests {
    private let database: ScratchDatabase
    private let clock = TestClock()

    init() throws {
        database = try ScratchDatabase()
        let ledger = ledger()
        defer { ledger.close() }
        try change("create", on: ledger) { state throws(Refusal) in
            try state.create(id("default"))
        }
    }

    private func ledger(change: (inout LedgerSettings) -> Void = { _ in }) -> Ledger {
        database.ledger(clock: clock.reading, change: change)
    }

    private func change(
        _ key: String, on ledger: Ledger,
        _ decide: @escaping @Sendable (ProjectState) throws(Refusal) -> [Event]
    ) throws {
        let cause = Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
        _ = try ledger.append(
            .project(id("default"), actor: id("test"), cause: cause) { state, _ throws(Refusal) in
                try decide(state)
            })
    }

    /// Applies a catalog of passes. Its title makes each version different.
    private func apply(_ passes: [String] = ["pass"], on ledger: Ledger) throws {
        let version = try ledger.project(id("default")).catalogVersion + 1
        var draft = CatalogDraft()
        draft.products = passes.map {
            product($0, .nonRenewing(duration: duration("P30D"), stacking: .overlap), ["season"])
        }
        draft.entitlementTitles = [id("season"): "Season \(version)"]
        let catalog = try draft.validated()
        clock.advance(byMilliseconds: 1000)
        try change("catalog \(version)", on: ledger) { state throws(Refusal) in
            try state.change(to: catalog, of: id("default"))
        }
    }

    private func buy(for customer: String, on ledger: Ledger) throws {
        let fact = transaction("of-\(customer)", "pass", .nonRenewing, clock.now)
        let cause = Cause(text: "key:buy", digest: [UInt8](repeating: 0, count: 32))
        var command = Command.customer(try .test(customer), actor: id("test"), cause: cause) {
            state, catalog, _ in
            state.decide(RecordFacts(Histories.facts([fact]), catalog: catalog))
        }
        command.purchases = [HeldPurchase(app: fact.app, purchase: fact.purchase)]
        _ = try ledger.append(command)
    }

    private func gift(to customer: String) throws -> Command {
        try .give("season", to: .test(customer), grant: "gift")
    }

    /// Damages a protected row, as an owner can after disabling the triggers.
    private func lose(_ version: Int) throws {
        try database.run(
            """
            alter table deed.catalogs disable trigger all;
            delete from deed.catalogs where digest = (
                select decode(payload::json ->> 'digest', 'hex') from deed.events
                where type = 'catalog.changed' and payload::json ->> 'version' = '\(version)')
            """)
    }

    @Test("A replaced catalog stays in memory, of the instance that replaced it and of others")
    func replaced() throws {
        let (writer, other) = (ledger(), ledger())
        defer { for ledger in [writer, other] { ledger.close() } }
        try apply(on: writer)
        for customer in ["u1", "u2"] { try buy(for: customer, on: writer) }
        #expect(try other.project(id("default")).catalogVersion == 1)
        try apply(on: writer)
        try lose(1)
        #expect(try writer.append(gift(to: "u1")).events.count == 1)
        #expect(try other.append(gift(to: "u2")).events.count == 1)
    }

    @Test("Other commands of a committer do not wait for an earlier catalog")
    func waiting() throws {
        let writer = ledger()
        try apply(on: writer)
        try buy(for: "u1", on: writer)
        try apply(on: writer)
        writer.close()
        let ledger = ledger {
            $0.committers = 1
            $0.patienceMilliseconds = 2000
        }
        defer { ledger.close() }
        _ = try ledger.append(gift(to: "u2"))
        var holder = try Connection.open(database.settings())
        try holder.run([statement("begin"), statement("lock deed.catalogs")]) { _, _ in }
        let answer = Monitor<PendingCommand.Answer?>(nil)
        ledger.submit(try gift(to: "u1")) { given in answer.change { $0 = given } }
        #expect(
            eventually(within: 10_000) {
                (try? database.number("select count(*) from pg_locks where not granted")) ?? 0 > 0
            })
        #expect(try ledger.append(gift(to: "u3")).events.count == 1)
        #expect(answer.change { $0 == nil })
        try holder.run([statement("commit")]) { _, _ in }
        let given = answer.wait(milliseconds: 10_000) { $0 }
        #expect(try given?.get().events.count == 1)
    }

    private func statement(_ text: String) -> Call { Statement(embedded: Array(text.utf8))() }

    @Test("A catalog that cannot be read takes only its customers out of a batch")
    func alone() throws {
        let writer = ledger()
        try apply(on: writer)
        try buy(for: "u0", on: writer)
        try apply(on: writer)
        let shard = try Stream.test("u0").shard
        let others = try (1...1000).map { "u\($0)" }
            .filter { try Stream.test($0).shard == shard }.prefix(2)
        for customer in others { try buy(for: customer, on: writer) }
        try apply(on: writer)
        writer.close()
        try lose(1)
        let ledger = ledger()
        defer { ledger.close() }
        let answers = ledger.appendAll(
            try (["u0"] + others).map(gift), at: .service, isRehearsal: false)
        #expect(answers.map { (try? $0.get().events.count) ?? 0 } == [0, 1, 1])
        #expect(ledger.unread.list.map(\.subject.customer) == ["u0"])
        // The other commands were committed together.
        #expect(
            try database.number(
                "select count(distinct xmin::text) from deed.events where type = 'grant.given'")
                == 1)
    }

    @Test("Customers with many different products do not empty the cache together")
    func shares() throws {
        let ledger = ledger()
        defer { ledger.close() }
        let passes = (0..<200).map { "pass-\($0)" }
        for _ in 0..<4 { try apply(passes, on: ledger) }
        let editions = try #require(try ledger.project(id("default")).editions(from: 1))
        let (cache, large) = (CatalogCache(bytes: 64 << 10), CatalogCache())
        for pass in passes {
            let need = PastNeed(
                stream: try .test("u1"), products: [ProductKey(store: .apple, id: id(pass))],
                editions: Array(editions.dropLast()))
            for cache in [cache, large] {
                let past = try ledger.pool.settled { connection throws(LedgerError) in
                    try connection.pastCatalogs(for: [need], cache)
                }
                let kept = past.found.keys.filter { cache[$0]?.covers(need.products) == true }
                #expect(kept.count == 3, "\(pass)")
            }
        }
        // In the larger cache, a need for many products loads whole catalogs.
        let places = editions.dropLast().map {
            WantedEdition(project: id("default"), edition: $0).place
        }
        #expect(places.allSatisfy { large[$0]?.covers(nil) == true })
        #expect(places.allSatisfy { cache[$0]?.covers(nil) == false })
    }

    @Test("The feed reads of an earlier catalog only what its customers bought")
    func feed() throws {
        let writer = ledger()
        try apply(["pass", "other"], on: writer)
        try buy(for: "u1", on: writer)
        try apply(["other"], on: writer)
        _ = try writer.append(.give("vip", to: .test("u1"), grant: "gift"))
        writer.close()
        let reader = ledger()
        defer { reader.close() }
        let edition = try #require(try reader.project(id("default")).editions(from: 1)?.first)
        let feed = FeedReader(reader, now: clock.reading)
        let page = try feed.page(FeedQuestion(id("default"), .production))
        #expect(page.items.map(\.type) == ["purchase.made", "access.ended", "grant.given"])
        #expect(page.items.map { $0.access.map(\.kind) } == [[.started], [.ended], [.started]])
        let place = WantedEdition(project: id("default"), edition: edition).place
        let known = try #require(reader.cache.catalogs[place])
        #expect(known.products?.map(\.id.text) == ["pass"])
        #expect(known.catalog.products.map(\.id.text) == ["pass"])
    }

    @Test("A lost catalog is one finding of the projections, however many customers need it")
    func audited() throws {
        let writer = ledger()
        try apply(on: writer)
        for number in 0..<3 { try buy(for: "u\(number)", on: writer) }
        try apply(on: writer)
        writer.close()
        for version in [1, 2] {
            try lose(version)
            var audit = ProjectionAudit()
            try audit.compareAll(Auditor(database.settings())) { _ in }
            #expect(audit.findings.count == 1, "\(audit.findings)")
            let finding = try #require(audit.findings.listed.first)
            #expect(finding.table == "deed.catalogs")
            #expect(finding.expected == "the catalog \(version) of the project 'default'")
            #expect(audit.unreadable == 3)
            #expect(audit.customers == 3)
        }
    }
}
