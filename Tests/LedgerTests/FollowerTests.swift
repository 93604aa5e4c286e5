import Core
import Following
import Ledger
import Synchronization
import TestSupport
import Testing

/// A reader that records everything that it gets.
private final class Recorder: LogReader {
    private struct Notes {
        var place = [Int64](repeating: 0, count: Shard.count)
        var begun = [Int64](repeating: 0, count: Shard.count)
        var moment = 0
        var events: [LoggedEvent] = []
        var gaps = 0
        var commits = 0
    }
    private let notes = Mutex(Notes())
    let interest: Interest
    /// Whether the reader also wants events from before its creation.
    private let isFromTheBeginning: Bool
    /// Whether the reader processes the instance's own commits.
    private let listensToCommits: Bool

    init(
        _ interest: Interest = Interest(), fromTheBeginning: Bool = false,
        listensToCommits: Bool = true
    ) {
        self.interest = interest
        isFromTheBeginning = fromTheBeginning
        self.listensToCommits = listensToCommits
    }

    var place: [Int64] { notes.withLock(\.place) }
    var begun: [Int64] { notes.withLock(\.begun) }
    var moment: Int { notes.withLock(\.moment) }
    var gaps: Int { notes.withLock(\.gaps) }
    var commits: Int { notes.withLock(\.commits) }
    /// The new events, in order.
    var events: [LoggedEvent] { notes.withLock(\.events) }

    func hear(_ commit: Commit, since moment: Int) {
        notes.withLock { $0.commits += 1 }
        if listensToCommits { take(commit.stretches, isNews: false, since: moment) }
    }

    func take(_ news: [Stretch], askedAt: Int64, since moment: Int) {
        take(news, isNews: true, since: moment)
    }

    func restart(at heads: [Int64], askedAt: Int64) {
        notes.withLock { notes in
            notes.place = isFromTheBeginning ? notes.place.map { _ in 0 } : heads
            notes.begun = notes.place
            notes.events = []
            notes.moment += 1
        }
    }

    private func take(_ stretches: [Stretch], isNews: Bool, since moment: Int) {
        notes.withLock { notes in
            guard notes.moment == moment else { return }
            for stretch in stretches {
                let shard = Int(stretch.shard.number)
                let known = notes.place[shard]
                guard stretch.start <= known else {
                    // These events are from a commit that overtook another one. The log reports both commits.
                    if isNews { notes.gaps += 1 }
                    continue
                }
                notes.place[shard] = max(known, stretch.end)
                notes.events += stretch.events.filter { $0.position.sequence > known }
            }
        }
    }
}

@Suite("Following the log", .timeLimit(.minutes(20)))
struct FollowerTests {
    private let database: ScratchDatabase

    init() throws {
        database = try ScratchDatabase()
    }

    @Test(
        "An event that cannot be read stops no reader: it is left out, or told without its record",
        arguments: ["actor = ''", "environment = 'mars'", "customer = ''"])
    func damaged(change: String) throws {
        let lines = LoggedLines()
        let (writer, follower) = (database.ledger(), database.ledger(log: lines.log))
        defer { for ledger in [writer, follower] { ledger.close() } }
        let readers = [
            Recorder(fromTheBeginning: true),
            Recorder(Interest(isWhole: true, page: 2), fromTheBeginning: true),
            Recorder(Interest(in: try ProjectID("default"), isWhole: true), fromTheBeginning: true),
        ]
        for number in 0..<9 {
            _ = try writer.append(.give("pro", to: .test("u1"), grant: "g\(number)"))
        }
        try database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set \(change) where version between 2 and 4;
            alter table deed.events enable trigger all
            """)
        for reader in readers { follower.follow(with: reader) }
        let isNamed = change.hasPrefix("actor")
        let versions: [Int64] = isNamed ? Array(1...9) : [1, 5, 6, 7, 8, 9]
        for reader in readers {
            #expect(eventually(within: 20_000) { reader.events.map(\.version) == versions })
            #expect(reader.moment == 1 && reader.gaps == 0)
        }
        _ = try writer.append(.give("pro", to: .test("u1"), grant: "g9"))
        for reader in readers {
            #expect(eventually(within: 20_000) { reader.events.last?.version == 10 })
        }
        #expect(!lines.all.contains { $0.contains("not_followed") })
        #expect(isNamed || follower.unreadStreams.count == 1)
        let whole = readers[1].events.filter { $0.content?.damage != nil }
        #expect(whole.map(\.version) == (isNamed ? [2, 3, 4] : []))
        for event in whole { #expect(throws: Fault.self) { try follower.recorded(event) } }
    }

    @Test("Each reader gets everything that two instances write, and nothing twice")
    func everything() throws {
        let ledgers = [database.ledger(), database.ledger()]
        defer { for ledger in ledgers { ledger.close() } }
        let all = [Recorder(), Recorder(listensToCommits: false), Recorder()]
        for (index, recorder) in all.enumerated() { ledgers[index / 2].follow(with: recorder) }
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
            #expect(eventually(within: 5000) { recorder.place == heads })
            #expect(recorder.gaps == 0)
            #expect(recorder.commits > 0)
            #expect(recorder.begun.allSatisfy { $0 == 0 })
        }
        for recorder in all { #expect(recorder.events.byShard == heads.map { Array(1..<$0 + 1) }) }
        for event in all.flatMap(\.events) {
            let row = try database.number(
                """
                select count(*) from deed.events where shard = \(event.position.shard.number)
                    and seq = \(event.position.sequence) and customer = '\(event.stream.customer)'
                    and version = \(event.version) and type = '\(event.type)'
                """)
            #expect(row == 1 && event.content == nil)
        }
    }

    @Test(
        "A later reader begins at the end, and one that asks for all gets old events too")
    func late() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let stream = try Stream.test("u1")
        // These events do not fit into three looks.
        inParallel(16) { index in
            for number in 0..<110 {
                _ = try? ledger.append(.give("pro", to: stream, grant: "g\(index)-\(number)"))
            }
        }
        let (late, thorough) = (Recorder(), Recorder(fromTheBeginning: true))
        ledger.follow(with: late)
        try #require(eventually(within: 5000) { late.moment == 1 })
        #expect(late.begun[Int(stream.shard.number)] == 1760)
        ledger.follow(with: thorough)
        #expect(eventually(within: 10_000) { thorough.place == late.place })
        #expect(thorough.gaps == 0)
        #expect(thorough.events.map(\.position.sequence) == Array(1...1760))
        #expect(late.events.isEmpty)
    }

    @Test(
        "If the log ends before a known place, all begin again at its end once accepted"
    )
    func shrunk() throws {
        let ledger = database.ledger()
        defer { ledger.close() }
        let recorder = Recorder()
        ledger.follow(with: recorder)
        try #require(eventually(within: 5000) { recorder.moment == 1 })
        let stream = try Stream.test("u1")
        for number in 0..<3 {
            _ = try ledger.append(.give("pro", to: stream, grant: "g\(number)"))
        }
        try #require(
            eventually(within: 5000) { recorder.place[Int(stream.shard.number)] == 3 })
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
                recorder.moment > moment && recorder.place[Int(stream.shard.number)] == 2
            })
    }

    @Test("A reader of whole events gets each exactly as logged, whichever instance wrote it")
    func whole() throws {
        let ledgers = [database.ledger(), database.ledger()]
        defer { for ledger in ledgers { ledger.close() } }
        let (whole, bare) = (Recorder(Interest(isWhole: true)), Recorder())
        for (ledger, reader) in zip(ledgers, [whole, bare]) { ledger.follow(with: reader) }
        try #require(eventually(within: 5000) { whole.moment == 1 && bare.moment == 1 })
        for number in 0..<40 {
            let wish = try Command.give("pro", to: .test("u\(number % 7)"), grant: "g\(number)")
            _ = try ledgers[number % 2].append(wish)
        }
        #expect(eventually(within: 5000) { whole.events.count == 40 && bare.events.count == 40 })
        #expect(bare.events.allSatisfy { $0.content == nil })
        for event in whole.events {
            let content = try #require(event.content)
            let chain = content.chain.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let row = try database.number(
                """
                select count(*) from deed.events where shard = \(event.position.shard.number)
                    and seq = \(event.position.sequence) and payload = $$\(content.payload)$$
                    and chain = decode('\(chain)', 'hex') and format = \(content.format)
                    and occurred_at = \(content.record.occurredAt.milliseconds)
                    and recorded_at = \(content.record.recordedAt.milliseconds)
                    and actor = '\(content.record.actor)' and cause = '\(content.record.cause)'
                    and catalog_version = \(content.record.catalogVersion)
                """)
            #expect(row == 1, "\(event)")
        }
    }

    @Test("A reader in memory gets each event of its project once, and no others")
    func ofProject() throws {
        let ledgers = [database.ledger(), database.ledger()]
        defer { for ledger in ledgers { ledger.close() } }
        let told = Mutex<[LoggedEvent]>([])
        let begun = Mutex(0)
        let reader = MemoryReader(Interest(in: try ProjectID("small"))) {
            begun.withLock { $0 += 1 }
        } tell: { events in
            told.withLock { $0 += events }
        }
        ledgers[0].follow(with: reader)
        try #require(eventually(within: 5000) { begun.withLock { $0 } == 1 })
        inParallel(4) { lane in
            for number in 0..<150 {
                let project = number % 10 == lane ? "small" : "large"
                let grant = "g\(lane)-\(number)"
                let stream = try? Stream.test("u\(number % 3)", project: project)
                _ = try? ledgers[lane % 2].append(.give("pro", to: #require(stream), grant: grant))
            }
        }
        let heads = try ledgers[0].heads()
        #expect(heads.reduce(0, +) == 600)
        // The reader's position also moves past events of other projects.
        #expect(eventually(within: 5000) { reader.place == heads })
        let events = told.withLock { $0 }
        #expect(events.count == 60)
        #expect(events.allSatisfy { $0.stream.project.text == "small" })
        #expect(Set(events.map(\.position)).count == 60)
        for sequences in events.byShard { #expect(sequences == sequences.sorted()) }
    }
}

extension [LoggedEvent] {
    /// The sequences in each shard, in order of arrival.
    fileprivate var byShard: [[Int64]] {
        Shard.all.map { shard in
            filter { $0.position.shard == shard }.map(\.position.sequence)
        }
    }
}
