import Core
import Histories
import Postgres
import Service
import TestSupport
import Testing

@testable import Ledger

@Suite("Publishing next to what cannot be published")
final class PublishingFaultTests {
    private static let customers = 120
    private let database: ScratchDatabase
    private let clock = TestClock()
    private let ledger: Ledger

    /// Gives each customer a right that has ended, without publishing the end.
    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger(clock: clock.reading)
        _ = try ledger.append(
            .project(
                id("default"), actor: id("test"),
                cause: Cause(text: "create", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _ in [.projectCreated(ProjectCreated(project: id("default")))] })
        let end = clock.now.advanced(byMilliseconds: 1000)
        let wish = GiveGrant(
            grant: id("g1"), entitlement: id("pro"), time: .from(nil, until: .at(end)),
            reason: id("test"), ticket: nil)
        let cause = Cause(text: "key:g1", digest: [UInt8](repeating: 0, count: 32))
        let given = ledger.appendAll(
            try (0..<PublishingFaultTests.customers).map { number in
                .customer(try .test("u\(number)"), actor: id("test"), cause: cause) {
                    state, catalog, now throws(Refusal) in
                    try state.decide(wish, by: catalog, now: now)
                }
            }, at: .run(nil), isRehearsal: false)
        for answer in given { _ = try answer.get() }
        clock.advance(byMilliseconds: 2000)
    }

    deinit { ledger.close() }

    private func ended() throws -> Int64 {
        try database.number("select count(*) from deed.events where type = 'access.ended'")
    }

    /// Returns the first shard with customers, and the number of its customers.
    private func firstShard() throws -> (shard: Int64, customers: Int64) {
        let shard = try database.number("select min(shard) from deed.customers")
        return (
            shard,
            try database.number("select count(*) from deed.customers where shard = \(shard)")
        )
    }

    @Test(
        "A shard whose log is blocked delays no other, and is named as the fault"
    )
    func blocked() throws {
        let (shard, customers) = try firstShard()
        try database.run(
            """
            insert into deed.events select e.shard, s.head + 1, project, environment, 'stray',
                version, type, payload, digest, e.chain, occurred_at, e.recorded_at, actor, cause,
                cause_index, cause_digest, catalog_version, evidence, format
            from deed.events as e join deed.shards as s using (shard)
            where e.shard = \(shard) order by seq desc limit 1
            """)
        let publication = try ledger.publishBoundaries()
        #expect(publication.fault == .logBlocked)
        #expect(try ended() == Int64(PublishingFaultTests.customers) - customers)
        let shardAlone = try ledger.publishBoundaries(
            of: id("default"), in: Shard(number: Int16(shard)))
        #expect(shardAlone.fault == .logBlocked)
    }

    @Test("A customer with unreadable events delays no other on the page")
    func unreadable() throws {
        try database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{}' where customer in ('u3', 'u50')
            """)
        let cold = database.ledger(clock: clock.reading)
        defer { cold.close() }
        let publication = try cold.publishBoundaries()
        guard case .unreadable = publication.fault else {
            Issue.record("\(String(describing: publication.fault))")
            return
        }
        #expect(publication.customers == PublishingFaultTests.customers)
        #expect(publication.notices == PublishingFaultTests.customers - 2)
        #expect(try ended() == Int64(PublishingFaultTests.customers) - 2)
    }

    @Test("A new catalog projects all but customers with unreadable events")
    func unreadableForCatalog() throws {
        try changeCatalog()
        try database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{}' where customer in ('u3', 'u50')
            """)
        let cold = database.ledger(clock: clock.reading)
        defer { cold.close() }
        for expected in [PublishingFaultTests.customers - 2, 0] {
            var faults: [Fault] = []
            #expect(try cold.reproject { faults.append($1) } == expected)
            guard faults.count == 1, case .unreadable = faults[0] else {
                Issue.record("\(faults)")
                return
            }
        }
        #expect(try ended() == Int64(PublishingFaultTests.customers) - 2)
        #expect(try projected() == Int64(PublishingFaultTests.customers) - 2)
    }

    @Test("A new catalog projects all but those of a shard that cannot be written")
    func blockedForCatalog() throws {
        try changeCatalog()
        let (shard, customers) = try firstShard()
        try database.run(
            """
            create function deed.refuse() returns trigger language plpgsql as
            $$ begin raise exception 'not now' using errcode = 'P0001'; end $$;
            create trigger refuse before insert on deed.events for each row
                when (new.shard = \(shard)) execute function deed.refuse()
            """)
        var faults: [Fault] = []
        let count = try ledger.reproject { faults.append($1) }
        #expect(Int64(count) == Int64(PublishingFaultTests.customers) - customers)
        #expect(faults.count == 1)
        #expect(try projected() == Int64(PublishingFaultTests.customers) - customers)
        try database.run("drop trigger refuse on deed.events")
        faults = []
        #expect(Int64(try ledger.reproject { faults.append($1) }) == customers)
        #expect(faults.isEmpty)
    }

    private func changeCatalog() throws {
        let catalog = catalog([product("pro", .autoRenewable(group: nil, level: 1), ["vip"])])
        _ = try ledger.append(
            .project(
                id("default"), actor: id("test"),
                cause: Cause(text: "catalog", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _ in [.catalogChanged(CatalogChanged(version: 1, catalog: catalog))] })
    }

    /// Returns the number of customers whose rows follow the new catalog.
    private func projected() throws -> Int64 {
        try database.number("select count(*) from deed.customers where catalog_version = 1")
    }

    @Test("Customers with unreadable events cost no other a separate transaction")
    func together() throws {
        try database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{}' where customer in ('u3', 'u50')
            """)
        let cold = database.ledger(clock: clock.reading)
        defer { cold.close() }
        _ = try cold.publishBoundaries()
        // A shard has fewer customers than a batch, so one batch publishes each shard.
        let parted = try database.number(
            """
            select count(*) from (select from deed.events where type = 'access.ended'
            group by shard having count(distinct xmin::text) > 1) as parted
            """)
        #expect(parted == 0)
        // The next search finds these customers again. All others are done.
        let next = try cold.publishBoundaries()
        #expect(next.customers == 2 && next.notices == 0 && next.fault != nil)
    }

    @Test("A shard whose statements always take too long is named, and delays no other")
    func tooLong() throws {
        let (shard, customers) = try firstShard()
        try database.run(
            """
            create function deed.take_too_long() returns trigger language plpgsql as
            $$ begin raise exception 'canceling statement' using errcode = '57014'; end $$;
            create trigger take_too_long before insert on deed.events for each row
                when (new.shard = \(shard)) execute function deed.take_too_long()
            """)
        let publication = try ledger.publishBoundaries()
        guard case .broken(let sentence) = publication.fault else {
            Issue.record("\(String(describing: publication.fault))")
            return
        }
        #expect(sentence.contains("shard \(shard) "))
        #expect(try ended() == Int64(PublishingFaultTests.customers) - customers)
    }

    @Test("A shard that another session has locked is left for the next check")
    func locked() throws {
        let (shard, customers) = try firstShard()
        let lock = "select from deed.shards where shard = \(shard) for update"
        var holder = try Connection.open(database.settings())
        try holder.run([
            Statement("begin")(),
            Statement(embedded: Array(lock.utf8))(),
        ]) { _, _ in }
        let publication = try ledger.publishBoundaries()
        #expect(publication.fault == nil && publication.next.map { $0 < clock.now } == true)
        #expect(try ended() == Int64(PublishingFaultTests.customers) - customers)
        try holder.run([Statement("rollback")()]) { _, _ in }
        #expect(try ledger.publishBoundaries().fault == nil)
        #expect(try ended() == Int64(PublishingFaultTests.customers))
    }
}
