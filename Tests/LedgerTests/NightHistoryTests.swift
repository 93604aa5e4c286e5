import Auditing
import Core
import Histories
import Service
import Synchronization
import TestSupport
import Testing

@testable import Ledger

@Suite("Random histories while the clock runs", .timeLimit(.minutes(20)))
final class NightHistoryTests {
    private let database: ScratchDatabase
    private let clock = HistoryClock()
    private let project: ProjectID
    private var ledgers: [Ledger] = []

    init() throws {
        database = try ScratchDatabase()
        project = try ProjectID("default")
        ledgers = [database.ledger(clock: clock.reading), database.ledger(clock: clock.reading)]
        let digest = [UInt8](repeating: 0, count: 32)
        for (key, event) in [
            ("create", Event.projectCreated(ProjectCreated(project: project))),
            ("catalog", .catalogChanged(CatalogChanged(version: 1, catalog: shop))),
        ] {
            _ = try ledgers[0].append(
                .project(project, actor: id("test"), cause: Cause(text: key, digest: digest)) {
                    _, _ in [event]
                })
        }
        _ = try ledgers[0].publishBoundaries()
    }

    deinit { for ledger in ledgers { ledger.close() } }

    /// Returns the facts of all customers in any order. Some early facts arrive late.
    private func deliveries(
        _ count: Int, seed: UInt64
    ) throws -> [(stream: Stream, fact: AnyFact, key: String)] {
        var random = SeededGenerator(seed: seed)
        var all: [(stream: Stream, fact: AnyFact, key: String)] = []
        for index in 0..<count {
            let stream = try Stream.test("customer \(index)")
            let history = RandomHistory(seed: seed &+ UInt64(index), prefix: "c\(index)-")
            for (number, fact) in history.facts.enumerated() {
                all.append((stream, fact, "\(number)"))
            }
        }
        return all.shuffled(using: &random)
    }

    @Test("Two instances, the job, the night and late facts publish what a model does, once each")
    func once() throws {
        let (ledgers, project) = (ledgers, project)
        let seed = printedSeed(of: "histories while the clock runs")
        let deliveries = try deliveries(40, seed: seed)
        let (rounds, lanes) = (12, 2)
        let faults = Mutex<[String]>([])
        @Sendable func noting(_ body: () throws -> Void) {
            do { try body() } catch { faults.withLock { $0.append("\(error)") } }
        }
        for round in 0..<rounds {
            clock.set(at(Int64(round) * 4))
            inParallel(lanes + 2) { lane in
                switch lane {
                case 0..<lanes:
                    for place in stride(
                        from: round * lanes + lane, to: deliveries.count, by: rounds * lanes)
                    {
                        let told = deliveries[place]
                        noting {
                            _ = try ledgers[lane].append(
                                .record(
                                    AnyFact.facts([told.fact]), for: told.stream, key: told.key))
                        }
                    }
                case lanes: noting { _ = try ledgers[0].publishBoundaries() }
                default:
                    for shard in Shard.all {
                        noting { _ = try ledgers[1].publishBoundaries(of: project, in: shard) }
                    }
                }
            }
        }
        #expect(faults.withLock { $0 } == [])
        clock.set(at(200))
        _ = try ledgers[1].publishBoundaries()
        #expect(try ledgers[0].publishBoundaries().notices == 0)
        try expectOnce(of: Set(deliveries.map(\.stream)))
        try expectAsModel(deliveries)
        var audit = ProjectionAudit()
        try audit.compareAll(Auditor(database.settings())) { _ in }
        #expect(audit.findings.isEmpty, "\(audit.findings)")
    }

    /// Compares the published boundaries of each customer with a model in memory, which gets the
    /// same facts at the same times.
    private func expectAsModel(
        _ deliveries: [(stream: Stream, fact: AnyFact, key: String)]
    ) throws {
        let cold = database.ledger(clock: { at(200) })
        defer { cold.close() }
        let facts = Dictionary(grouping: deliveries, by: \.stream)
        for (stream, told) in facts {
            let byCause = Dictionary(uniqueKeysWithValues: told.map { ("key:\($0.key)", $0.fact) })
            var model = PublishedLife()
            var heard: Set<String> = []
            var published: [String] = []
            for recorded in try cold.events(of: stream, after: 0, limit: 1000).map(\.recorded) {
                if let fact = byCause[recorded.cause], heard.insert(recorded.cause).inserted {
                    model.record(AnyFact.facts([fact]), at: recorded.recordedAt)
                }
                switch recorded.event {
                case .accessStarted(let notice):
                    published.append(PublishedLife.line("started", notice))
                case .accessEnded(let notice):
                    published.append(PublishedLife.line("ended", notice))
                case .accessEndingSoon(let notice):
                    published.append(PublishedLife.line("ending_soon", notice))
                default: break
                }
            }
            model.look(at: at(200))
            #expect(published == model.notices, "\(stream)")
        }
    }

    private func expectOnce(of streams: Set<Stream>) throws {
        let cold = database.ledger(clock: { at(200) })
        defer { cold.close() }
        var (ended, regained) = (0, 0)
        for stream in streams {
            var seen = Set<String>()
            var open: Set<EntitlementID> = []
            for entry in try cold.events(of: stream, after: 0, limit: 1000) {
                switch entry.recorded.event {
                case .accessEnded(let notice):
                    ended += 1
                    #expect(seen.insert("\(notice.entitlement) \(notice.at)").inserted)
                    open.insert(notice.entitlement)
                case .accessStarted(let notice):
                    if open.remove(notice.entitlement) != nil { regained += 1 }
                default: break
                }
                #expect(
                    try Event(type: entry.type, format: 1, payload: entry.payload)
                        == entry.recorded.event)
            }
            let state = try cold.customer(of: stream).customer
            #expect(state == (try ledgers[0].customer(of: stream).customer))
            #expect(Set(state.endedAccess.keys) == open)
        }
        // Below these numbers, the test would prove little.
        #expect(ended > 20 && regained > 0, "\(ended), \(regained)")
    }
}

private final class HistoryClock: Sendable {
    private let instant = Mutex(at(0))

    var reading: @Sendable () -> Instant { { self.instant.withLock { $0 } } }

    func set(_ instant: Instant) { self.instant.withLock { $0 = instant } }
}
