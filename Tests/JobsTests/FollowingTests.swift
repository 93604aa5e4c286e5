import Core
import Following
import Jobs
import Ledger
import Synchronization
import Telemetry
import TestSupport
import Testing

@Suite("Following the log from a durable place", .timeLimit(.minutes(20)))
struct FollowingTests {
    private static let leaseTime: Int64 = 15_000
    private let database: ScratchDatabase
    private let ledger: Ledger
    private let clock = TestClock()
    private let reader = DurableReader("reader", from: .beginning)

    init() throws {
        database = try ScratchDatabase()
        ledger = database.ledger()
    }

    /// The events that the job delivered, by shard.
    private final class Notes: Sendable {
        private struct State {
            var taken: [Shard: [ClosedRange<Int64>]] = [:]
            var atWork = 0
            var most = 0
        }
        private let state = Mutex(State())

        func take(_ stretches: [Stretch]) {
            state.withLock { state in
                state.atWork += 1
                state.most = max(state.most, state.atWork)
            }
            for stretch in stretches {
                let positions = stretch.start + 1...stretch.end
                #expect(stretch.events.map(\.position.sequence) == Array(positions))
                state.withLock { $0.taken[stretch.shard, default: []].append(positions) }
            }
            state.withLock { $0.atWork -= 1 }
        }

        var taken: [Shard: [ClosedRange<Int64>]] { state.withLock(\.taken) }
        /// The maximum number of threads that received events at the same time.
        var most: Int { state.withLock(\.most) }
        var count: Int { taken.values.joined().reduce(0) { $0 + $1.count } }

        /// Returns whether the job delivered each shard's events after that position, in order and once.
        func isWhole(behind start: Int64 = 0) -> Bool {
            taken.values.allSatisfy { ranges in
                var last = start
                return ranges.allSatisfy { range in
                    defer { last = range.upperBound }
                    return range.lowerBound == last + 1
                }
            }
        }
    }

    private func lease(by ledger: Ledger? = nil) throws -> Lease {
        try #require(
            try (ledger ?? self.ledger).takeLease(
                of: "reader", at: clock.now,
                until: clock.now.advanced(byMilliseconds: FollowingTests.leaseTime), lastRun: nil))
    }

    private func give(_ count: Int, to customer: String, _ name: String) throws {
        for number in 0..<count {
            _ = try ledger.append(
                .give("pro", to: .test(customer), grant: "\(name)-\(number)"))
        }
    }

    private func read(
        _ reader: DurableReader? = nil, under lease: Lease, by ledger: Ledger? = nil
    ) throws -> Notes {
        let notes = Notes()
        while try (ledger ?? self.ledger).read(by: reader ?? self.reader, under: lease, notes.take)
        {}
        return notes
    }

    @Test("More events than one look takes come in order, and processed ones do not come again")
    func order() throws {
        inParallel(16) { lane in try? give(70, to: "u1", "lane-\(lane)") }
        try give(3, to: "u2", "other")
        let lease = try lease()
        let notes = try read(under: lease)
        #expect(notes.count == 1123)
        #expect(notes.isWhole())
        #expect(notes.taken[try Stream.test("u1").shard]?.count ?? 0 > 1)
        #expect(try read(under: lease).count == 0)
        try give(1, to: "u1", "last")
        #expect(try read(under: lease).taken.values.joined().map { $0 } == [1121...1121])
    }

    @Test("Events of a process that died before its place moved come again")
    func died() throws {
        try give(3, to: "u1", "g")
        let dead = try lease()
        let lost = Notes()
        #expect(throws: Fault.broken("the process died")) {
            try ledger.read(by: reader, under: dead) { stretches throws(Fault) in
                lost.take(stretches)
                throw .broken("the process died")
            }
        }
        clock.advance(byMilliseconds: FollowingTests.leaseTime)
        let other = database.ledger()
        defer { other.close() }
        let notes = try read(under: lease(by: other), by: other)
        #expect(lost.count == 3 && notes.taken == lost.taken)
    }

    @Test("A process whose lease was taken over no longer moves the place")
    func fenced() throws {
        try give(3, to: "u1", "g")
        let late = try lease()
        let other = database.ledger()
        defer { other.close() }
        let news = Mutex<Lease?>(nil)
        let isMore = try ledger.read(by: reader, under: late) { stretches throws(Fault) in
            clock.advance(byMilliseconds: FollowingTests.leaseTime)
            let taken = try other.takeLease(
                of: "reader", at: clock.now,
                until: clock.now.advanced(byMilliseconds: FollowingTests.leaseTime), lastRun: nil)
            news.withLock { $0 = taken }
        }
        #expect(!isMore)
        #expect(try database.number("select sum(seq)::bigint from deed.cursors") == 0)
        let lease = try #require(news.withLock { $0 })
        #expect(try read(under: lease, by: other).count == 3)
        #expect(try database.number("select sum(seq)::bigint from deed.cursors") == 3)
    }

    @Test(
        "A new name begins at the start or the end as asked, and a known one at its place"
    )
    func start() throws {
        try give(3, to: "u1", "before")
        let lease = try lease()
        let end = DurableReader("late", from: .end)
        #expect(try read(end, under: lease).count == 0)
        try give(2, to: "u1", "after")
        #expect(try read(end, under: lease).isWhole(behind: 3))
        #expect(try read(DurableReader("late", from: .beginning), under: lease).count == 0)
        #expect(try read(under: lease).count == 5)
    }

    @Test("Events written to a restored log are passed on")
    func putBack() throws {
        try give(3, to: "u1", "g")
        let lease = try lease()
        #expect(try read(under: lease).count == 3)
        try database.run("update deed.cursors set seq = seq + 100 where seq > 0")
        #expect(try read(under: lease).count == 0)
        try give(2, to: "u1", "again")
        #expect(try read(under: lease).isWhole(behind: 3))
        #expect(try database.number("select sum(seq)::bigint from deed.cursors") == 5)
    }

    @Test("A reader of one project gets its events completely, and its place moves past them")
    func ofProject() throws {
        for number in 0..<250 {
            let project = number % 50 == 0 ? "small" : "large"
            _ = try ledger.append(
                .give("pro", to: .test("u1", project: project), grant: "g\(number)"))
        }
        let reader = DurableReader(
            "reader", from: .beginning, Interest(in: try ProjectID("small"), isWhole: true))
        let lease = try lease()
        let taken = Mutex<[LoggedEvent]>([])
        let isMore = try ledger.read(by: reader, under: lease) { stretches in
            taken.withLock { $0 += stretches.flatMap(\.events) }
        }
        #expect(!isMore)
        let events = taken.withLock { $0 }
        #expect(events.map(\.version) == [1, 2, 3, 4, 5])
        #expect(events.allSatisfy { $0.stream.project.text == "small" && $0.content != nil })
        #expect(try database.number("select sum(seq)::bigint from deed.cursors") == 5)
        // Events of other projects do not move the cursors.
        _ = try ledger.append(.give("pro", to: .test("u1", project: "large"), grant: "last"))
        #expect(try !ledger.read(by: reader, under: lease) { _ in Issue.record("others' events") })
        #expect(try database.number("select sum(seq)::bigint from deed.cursors") == 5)
    }

    @Test("Among two instances, one takes at a time: everything both write, once and in order")
    func twoInstances() throws {
        let other = database.ledger()
        defer { other.close() }
        let notes = Notes()
        let runners = [ledger, other].map { ledger in
            Runner(
                [.following(reader, of: ledger, notes.take)], leases: ledger, now: clock.reading,
                machineClock: clock.reading, log: LoggedLines().log, metrics: Metrics())
        }
        for runner in runners { runner.start() }
        inParallel(4) { lane in
            let ledger = lane.isMultiple(of: 2) ? ledger : other
            for number in 0..<60 {
                _ = try? ledger.append(
                    .give("pro", to: .test("u\(number % 20)"), grant: "g\(lane)-\(number)"))
            }
        }
        // The clock of the leases stands still, but a run returns its lease when it ends.
        #expect(eventually(within: 20_000) { notes.count == 240 })
        for runner in runners { runner.stop() }
        for runner in runners { #expect(runner.unfinished(after: 10_000) == []) }
        #expect(notes.count == 240 && notes.isWhole())
        #expect(notes.most == 1)
    }
}
