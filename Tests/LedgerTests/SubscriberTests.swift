import Core
import Following
import Ledger
import Synchronization
import TestSupport
import Testing

/// Writes down all that it hears.
private final class Recorder: Subscriber {
    private struct Notes {
        var heard = [Int64](repeating: 0, count: Shard.count)
        var begun = [Int64](repeating: 0, count: Shard.count)
        var moment = 0
        var subjects: [Shard: [Int64: ShardChange.Subject]] = [:]
        var gaps = 0
        var commits = 0
    }
    private let notes = Mutex(Notes())
    /// Whether it wants to hear of what was there before it, too.
    private let isFromTheBeginning: Bool
    /// Whether it takes in what the instance tells of its own commits.
    private let listensToCommits: Bool

    init(fromTheBeginning: Bool = false, listensToCommits: Bool = true) {
        isFromTheBeginning = fromTheBeginning
        self.listensToCommits = listensToCommits
    }

    var heard: [Int64] { notes.withLock(\.heard) }
    var begun: [Int64] { notes.withLock(\.begun) }
    var moment: Int { notes.withLock(\.moment) }
    var gaps: Int { notes.withLock(\.gaps) }
    var commits: Int { notes.withLock(\.commits) }
    var subjects: [Shard: [Int64: ShardChange.Subject]] { notes.withLock(\.subjects) }

    func hear(_ commit: Commit, since moment: Int) {
        notes.withLock { $0.commits += 1 }
        if listensToCommits { take(commit.changes, isNews: false, since: moment) }
    }

    func hear(_ news: LogNews, since moment: Int) {
        take(news.changes, isNews: true, since: moment)
    }

    func restart(at heads: [Int64], askedAt: Int64) {
        notes.withLock { notes in
            notes.heard = isFromTheBeginning ? notes.heard.map { _ in 0 } : heads
            notes.begun = notes.heard
            notes.subjects = [:]
            notes.moment += 1
        }
    }

    private func take(_ changes: [ShardChange], isNews: Bool, since moment: Int) {
        notes.withLock { notes in
            guard notes.moment == moment else { return }
            for change in changes {
                let shard = Int(change.shard.number)
                guard change.positions.lowerBound <= notes.heard[shard] + 1 else {
                    // Of a commit that overtook another one; the log tells of both.
                    if isNews { notes.gaps += 1 }
                    continue
                }
                notes.heard[shard] = max(notes.heard[shard], change.positions.upperBound)
                for (subject, sequence) in change.subjects {
                    notes.subjects[change.shard, default: [:]][sequence] = subject
                }
            }
        }
    }
}

@Suite("Following the log", .timeLimit(.minutes(10)))
struct SubscriberTests {
    private let database: ScratchDatabase

    init() throws {
        database = try ScratchDatabase()
    }

    @Test("Each subscriber hears of everything that two instances write, and of nothing twice")
    func everything() throws {
        let ledgers = [database.ledger(), database.ledger()]
        defer { for ledger in ledgers { ledger.close() } }
        let all = [Recorder(), Recorder(listensToCommits: false), Recorder()]
        for (index, recorder) in all.enumerated() { ledgers[index / 2].subscribe(recorder) }
        try #require(eventually(within: 5000) { all.allSatisfy { $0.moment == 1 } })
        inParallel(4) { index in
            for number in 0..<150 {
                let customer = "u\((index + number) % 40)"
                _ = try? ledgers[index % 2].append(
                    .give("pro", to: .test(customer), grant: "g\(index)-\(number)"))
            }
        }
        let heads = try ledgers[0].heads()
        #expect(heads.reduce(0, +) == 600)
        for recorder in all {
            #expect(eventually(within: 5000) { recorder.heard == heads })
            #expect(recorder.gaps == 0)
            #expect(recorder.commits > 0)
            #expect(recorder.begun.allSatisfy { $0 == 0 })
        }
        // Each stretch tells of a customer's last change in it, so of the last one in any case.
        for number in 0..<40 {
            let stream = try Stream.test("u\(number)")
            let last = try database.number(
                "select max(seq) from deed.events where customer = 'u\(number)'")
            for recorder in all {
                #expect(recorder.subjects[stream.shard]?[last] == .customer(stream))
            }
        }
    }

    @Test(
        "One that comes later begins at the end, and one that asks for all gets what is far behind")
    func late() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        // More than fits into three looks.
        inParallel(16) { index in
            for number in 0..<110 {
                _ = try? ledger.append(.give("pro", to: stream, grant: "g\(index)-\(number)"))
            }
        }
        let (late, thorough) = (Recorder(), Recorder(fromTheBeginning: true))
        ledger.subscribe(late)
        try #require(eventually(within: 5000) { late.moment == 1 })
        #expect(late.begun[Int(stream.shard.number)] == 1760)
        ledger.subscribe(thorough)
        #expect(eventually(within: 10_000) { thorough.heard == late.heard })
        #expect(thorough.gaps == 0)
        #expect(thorough.subjects[stream.shard]?.count ?? 0 >= 4)
        #expect(late.subjects.isEmpty)
    }

    @Test(
        "Where the log ends before what was heard of, all begin anew at its end when that is accepted"
    )
    func shrunk() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let recorder = Recorder()
        ledger.subscribe(recorder)
        try #require(eventually(within: 5000) { recorder.moment == 1 })
        let stream = try Stream.test("u1")
        for number in 0..<3 {
            _ = try ledger.append(.give("pro", to: stream, grant: "g\(number)"))
        }
        try #require(
            eventually(within: 5000) { recorder.heard[Int(stream.shard.number)] == 3 })
        let moment = recorder.moment
        try database.run(
            """
            alter table deed.events disable trigger user;
            alter table deed.shards disable trigger user;
            delete from deed.events where seq = 3;
            update deed.shards as s set head = 2, chain = e.chain
            from deed.events as e where s.head = 3 and e.shard = s.shard and e.seq = 2
            """)
        #expect(eventually(within: 5000) { ledger.impediments.map(\.kind) == [.behind] })
        #expect(recorder.moment == moment)
        try database.acceptLog()
        #expect(
            eventually(within: 10_000) {
                recorder.moment > moment && recorder.heard[Int(stream.shard.number)] == 2
            })
    }
}
