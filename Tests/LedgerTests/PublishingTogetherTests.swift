import Auditing
import Core
import Histories
import Postgres
import TestSupport
import Testing
import Threading

@testable import Ledger

@Suite("Boundaries of several shards that are published together")
final class PublishingTogetherTests {
    private static let customers = 700
    private let database: ScratchDatabase
    private let clock = TestClock()
    private let ledger: Ledger
    private let project: ProjectID = id("default")

    /// A right of each customer has ended, and nothing told it: more than one commit of each connection holds.
    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger(clock: clock.reading)
        _ = try ledger.append(
            .project(
                project, actor: id("test"),
                cause: Cause(text: "create", digest: [UInt8](repeating: 0, count: 32))
            ) { _, _ in [.projectCreated(ProjectCreated(project: id("default")))] })
        _ = try ledger.publishBoundaries()
        let wish = GiveGrant(
            grant: id("g1"), entitlement: id("pro"), start: nil,
            end: .at(clock.now.advanced(byMilliseconds: 1000)), reason: id("test"), ticket: nil)
        let cause = Cause(text: "key:g1", digest: [UInt8](repeating: 0, count: 32))
        let given = ledger.appendAll(
            try (0..<PublishingTogetherTests.customers).map { number in
                .customer(try .test("u\(number)"), actor: id("test"), cause: cause) {
                    state, _, now throws(Refusal) in try state.decide(wish, now: now)
                }
            })
        for answer in given { _ = try answer.get() }
        clock.advance(byMilliseconds: 2000)
    }

    deinit { ledger.close() }

    private func ended(_ condition: String = "true") throws -> Int64 {
        try database.number(
            "select count(*) from deed.events where type = 'access.ended' and \(condition)")
    }

    private func customers(in shard: Shard) throws -> Int {
        Int(
            try database.number(
                "select count(*) from deed.customers where shard = \(shard.number)"))
    }

    private func expectEachOnce() throws {
        #expect(try ended() == Int64(PublishingTogetherTests.customers))
        var audit = ProjectionAudit()
        try audit.compareAll(Auditor(database.settings())) { _ in }
        #expect(audit.findings.isEmpty, "\(audit.findings)")
    }

    @Test("Each shard is told its own counts, and each boundary is published once")
    func counts() throws {
        let rehearsed = try ledger.publishBoundaries(
            of: project, inAll: Array(Shard.all), isRehearsal: true)
        #expect(try ended() == 0)
        let published = try ledger.publishBoundaries(of: project, inAll: Array(Shard.all))
        #expect(rehearsed == published)
        #expect(published.count == Shard.all.count)
        for (shard, publication) in published {
            let count = try customers(in: shard)
            #expect(publication.customers == count && publication.notices == count)
            #expect(publication.fault == nil)
        }
        try expectEachOnce()
        let again = try ledger.publishBoundaries(of: project, inAll: Array(Shard.all))
        #expect(again.values.allSatisfy { $0 == Publication() })
    }

    @Test("A shard that another session holds is busy, and keeps no other from being published")
    func locked() throws {
        let shard = try Stream.test("u1").shard
        var holder = try Connection.open(database.settings())
        let lock = "select from deed.shards where shard = \(shard.number) for update"
        try holder.run([
            Statement(name: "begin", text: "begin")(),
            Statement(name: "lock", embedded: Array(lock.utf8))(),
        ]) { _, _ in }
        let published = try ledger.publishBoundaries(of: project, inAll: Array(Shard.all))
        #expect(published.filter { $0.value.fault != nil }.mapValues(\.fault) == [shard: .busy])
        #expect(published[shard]?.notices == 0)
        #expect(try ended("shard = \(shard.number)") == 0)
        #expect(
            try ended() == Int64(PublishingTogetherTests.customers - customers(in: shard)))
        #expect(published.values.reduce(0) { $0 + $1.notices } == Int(try ended()))
        try holder.run([Statement(name: "rollback", text: "rollback")()]) { _, _ in }
        let rest = try ledger.publishBoundaries(of: project, inAll: Array(Shard.all))
        #expect(rest[shard]?.fault == nil)
        try expectEachOnce()
    }

    @Test(
        "A customer whose events cannot be read is a fault of that shard alone",
        arguments: [true, false])
    func unreadable(isRehearsal: Bool) throws {
        try database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{}' where customer = 'u3'
            """)
        let cold = database.ledger(clock: clock.reading)
        defer { cold.close() }
        let published = try cold.publishBoundaries(
            of: project, inAll: Array(Shard.all), isRehearsal: isRehearsal)
        let shard = try Stream.test("u3").shard
        #expect(published.filter { $0.value.fault != nil }.map(\.key) == [shard])
        let notices = published.values.reduce(0) { $0 + $1.notices }
        #expect(notices == PublishingTogetherTests.customers - 1)
        #expect(try ended() == (isRehearsal ? 0 : Int64(notices)))
    }

    @Test("What is not wanted any more ends between two commits, and no shard of it counts as done")
    func stopped() throws {
        var looks = 0
        let published = try ledger.publishBoundaries(of: project, inAll: Array(Shard.all)) {
            looks += 1
            return false
        }
        #expect(looks > 0)
        #expect(published.count <= Shard.all.count / 2)
        #expect(try ended() < Int64(PublishingTogetherTests.customers))
        let rest = try ledger.publishBoundaries(of: project, inAll: Array(Shard.all))
        #expect(rest.count == Shard.all.count)
        try expectEachOnce()
    }
}
