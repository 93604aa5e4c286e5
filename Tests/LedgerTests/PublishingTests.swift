import Auditing
import Core
import Histories
import Postgres
import SQL
import Service
import Synchronization
import TestSupport
import Testing

@testable import Ledger

@Suite("Published boundaries")
final class PublishingTests {
    private let database: ScratchDatabase
    private let clock = TestClock()
    private let ledger: Ledger
    private let start: Instant

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger(clock: clock.reading)
        start = clock.now
        _ = try ledger.append(
            .project(
                id("default"), actor: id("test"),
                cause: Cause(text: "create", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _ in [.projectCreated(ProjectCreated(project: id("default")))] })
    }

    deinit { ledger.close() }

    private func give(
        _ entitlement: String = "pro", to customer: String, grant: String = "g1",
        from begin: Int64? = nil, until end: Int64
    ) throws {
        let wish = GiveGrant(
            grant: id(grant), entitlement: id(entitlement),
            time: .from(
                begin.map { start.advanced(byMilliseconds: $0) },
                until: .at(start.advanced(byMilliseconds: end))), reason: id("test"), ticket: nil)
        let cause = Cause(text: "key:\(grant)", digest: [UInt8](repeating: 0, count: 32))
        _ = try ledger.append(
            .customer(.test(customer), actor: id("test"), cause: cause) {
                state, catalog, now throws(Refusal) in
                try state.decide(wish, by: catalog, now: now)
            })
    }

    private func record(_ fact: TransactionFact, of stream: Stream) throws {
        let cause = Cause(
            text: "key:\(fact.transaction)", digest: [UInt8](repeating: 0, count: 32))
        var command = Command.customer(stream, actor: id("test"), cause: cause) {
            state, catalog, _ in
            state.decide(RecordFacts(Histories.facts([fact]), catalog: catalog))
        }
        command.purchases = [HeldPurchase(app: fact.app, purchase: fact.purchase)]
        _ = try ledger.append(command)
    }

    private func pass(to milliseconds: Int64) {
        let passed = clock.now.milliseconds - start.milliseconds
        clock.advance(byMilliseconds: milliseconds - passed)
    }

    private func events(_ customer: String) throws -> [RecordedEvent] {
        try ledger.events(of: .test(customer), after: 0, limit: 100).map(\.recorded)
    }

    private func types(_ customer: String) throws -> [String] {
        try events(customer).map(\.event.type.name)
    }

    private func expectSoundRows(_ location: SourceLocation = #_sourceLocation) throws {
        var audit = ProjectionAudit()
        try audit.compareAll(Auditor(database.settings())) { _ in }
        #expect(
            audit.findings.isEmpty, "\(audit.findings)", sourceLocation: location)
    }

    @Test("An end is published once, with its instant, its cause and the answer after it")
    func once() throws {
        try give(to: "u1", until: 1000)
        pass(to: 999)
        #expect(try ledger.publishBoundaries().notices == 0)
        pass(to: 1500)
        let publication = try ledger.publishBoundaries()
        #expect(publication.notices == 1)
        #expect(publication.next == nil)
        #expect(try ledger.publishBoundaries() == Publication())
        let end = try #require(try events("u1").last)
        let boundary = start.advanced(byMilliseconds: 1000)
        #expect(end.occurredAt == boundary)
        #expect(end.cause == "clock:\(boundary.text)")
        #expect(end.actor.text == "deed:clock")
        guard case .accessEnded(let notice) = end.event else {
            Issue.record("\(end.event)")
            return
        }
        #expect(notice.entitlement == id("pro"))
        #expect(notice.answer.isActive == false)
        #expect(notice.answer.source == .grant(id("g1")))
        try expectSoundRows()
    }

    @Test("The next boundary of all customers is known, so that the job can wait for it")
    func next() throws {
        try give(to: "u1", until: 5000)
        try give(to: "u2", from: 3000, until: 9000)
        #expect(try ledger.publishBoundaries().next == start.advanced(byMilliseconds: 3000))
    }

    @Test("A write first publishes what the job has not reached")
    func before() throws {
        try give(to: "u1", until: 1000)
        pass(to: 60_000)
        try give(to: "u1", grant: "g2", until: 90_000)
        #expect(
            try types("u1") == ["grant.given", "access.ended", "grant.given", "access.started"])
        #expect(try ledger.publishBoundaries().notices == 0)
        try expectSoundRows()
    }

    @Test("Boundaries from before any service ran are published by the first one that does")
    func firstStart() throws {
        try give(to: "u1", until: 1000)
        pass(to: 2000)
        #expect(try ledger.publishBoundaries() == Publication(customers: 1, notices: 1))
        #expect(try types("u1") == ["grant.given", "access.ended"])
        #expect(try ledger.publishBoundaries() == Publication())
        try expectSoundRows()
    }

    @Test("A rehearsal writes nothing, and reports what the next run does")
    func rehearsal() throws {
        for number in 0..<20 { try give(to: "u\(number)", from: 500, until: 1000) }
        pass(to: 2000)
        let count = try database.number("select count(*) from deed.events")
        func published(isRehearsal: Bool) throws -> Publication {
            try Shard.all.reduce(into: Publication()) { sum, shard in
                let one = try ledger.publishBoundaries(
                    of: id("default"), in: shard, isRehearsal: isRehearsal)
                sum.customers += one.customers
                sum.notices += one.notices
            }
        }
        let rehearsed = try published(isRehearsal: true)
        #expect(try database.number("select count(*) from deed.events") == count)
        #expect(rehearsed == Publication(customers: 20, notices: 40))
        #expect(try published(isRehearsal: false) == rehearsed)
    }

    @Test("Two instances that check at once publish each boundary once")
    func twoInstances() throws {
        for number in 0..<300 { try give(to: "u\(number)", from: 500, until: 1000) }
        pass(to: 2000)
        let other = database.ledger(clock: clock.reading)
        defer { other.close() }
        let ledgers = [ledger, other]
        let count = Atomic(0)
        inParallel(2) { index in
            let publication = try? ledgers[index].publishBoundaries()
            count.add(publication?.notices ?? 0, ordering: .relaxed)
        }
        #expect(count.load(ordering: .relaxed) == 600)
        #expect(
            try database.number("select count(*) from deed.events where type like 'access.%'")
                == 600)
        try expectSoundRows()
    }

    @Test("A new catalog publishes what it gives and takes, caused by its version")
    func catalogs() throws {
        try apply(version: 1, unlocking: ["season"])
        try record(transaction("t1", "pass", .nonRenewing, start), of: .test("u1"))
        pass(to: 5000)
        try apply(version: 2, unlocking: ["vip"])
        pass(to: 6000)
        var faults: [Fault] = []
        for _ in 0..<2 { _ = try ledger.reproject { faults.append($1) } }
        #expect(faults.isEmpty)
        let notices = try events("u1").dropFirst()
        #expect(notices.map(\.event.type.name) == ["access.ended", "access.started"])
        #expect(notices.allSatisfy { $0.cause == "catalog:2" && $0.actor.text == "deed:catalog" })
        #expect(
            notices.allSatisfy { $0.occurredAt == start.advanced(byMilliseconds: 5000) })
        pass(to: 31 * day)
        #expect(try ledger.publishBoundaries().notices == 1)
        try expectSoundRows()
    }

    @Test(
        "A late fact takes back the published end, by its position, and reads as written"
    )
    func correction() throws {
        try give(to: "u1", until: 1000)
        pass(to: 2000)
        #expect(try ledger.publishBoundaries().notices == 1)
        try give(to: "u1", grant: "g2", from: 500, until: 9000)
        try give(to: "u2", until: 2500)
        pass(to: 3000)
        // The commit that reverses the end also publishes it.
        try give(to: "u2", grant: "g2", from: 500, until: 9000)
        for (customer, end) in [("u1", Int64(1000)), ("u2", 2500)] {
            let instant = self.start.advanced(byMilliseconds: end)
            let all = try ledger.events(of: .test(customer), after: 0, limit: 100)
            let end = try #require(all.first { $0.type == "access.ended" }?.recorded.position)
            let start = try #require(all.last { $0.type == "access.started" })
            guard case .accessStarted(let notice) = start.recorded.event else {
                Issue.record("\(start)")
                return
            }
            #expect(notice.corrects == end)
            #expect(notice.at == instant)
            #expect(start.payload.hasSuffix(#""corrects":"\#(end)"}"#))
        }
        try expectSoundRows()
    }

    private func apply(version: Int64, unlocking entitlements: [String]) throws {
        let catalog = catalog([
            product(
                "pass", .nonRenewing(duration: duration("P30D"), stacking: .overlap),
                entitlements)
        ])
        let cause = Cause(text: "catalog \(version)", digest: [UInt8](repeating: 0, count: 32))
        _ = try ledger.append(
            .project(id("default"), actor: id("test"), cause: cause) { _, _ in
                [.catalogChanged(CatalogChanged(version: version, catalog: catalog))]
            })
    }

    @Test("An unclaimed purchase publishes nothing")
    func unclaimed() throws {
        let keeper = CustomerID.unclaimed(purchaseID("m1"))
        let fact = transaction(
            "m1", "pro", .autoRenewable, start, to: start.advanced(byMilliseconds: 1000))
        let stream = Stream(project: id("default"), environment: .production, customer: keeper)
        try apply(version: 1, unlocking: ["season"])
        try record(fact, of: stream)
        pass(to: 2000)
        #expect(try ledger.publishBoundaries() == Publication())
    }
}
