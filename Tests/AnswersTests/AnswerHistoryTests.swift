import API
import Answers
import Core
import Histories
import JSON
import Ledger
import Postgres
import Service
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Answers in the course of random histories", .timeLimit(.minutes(20)))
struct AnswerHistoryTests {
    private let services: [TestService]
    private let key: NewKey
    private let streams: [Core.Stream]

    init() throws {
        (services, key, streams) = try makeBazaar(customers: 10)
    }

    @Test(
        "No answer is older than its position, than Deed-After, or than the instance's writes")
    func neverOld() throws {
        let seed = printedSeed(of: "answers that are never old")
        let course = Course(services, key: key, streams: streams)
        inParallel(6) { lane in
            var random = SeededGenerator(seed: seed &+ UInt64(lane))
            if lane < 2 {
                course.write(on: lane, seed: seed, &random)
            } else {
                course.read(on: lane % 2, &random)
            }
        }
        #expect(course.faults == [])
        var logs: [Core.Stream: [RecordedEvent]] = [:]
        for stream in streams {
            logs[stream] = try services[0].ledger.events(
                of: stream, after: 0, limit: 10_000
            ).map(\.recorded)
        }
        let readings = course.readings
        #expect(readings.count > 1000)
        #expect(readings.contains { $0.isImmediate })
        for reading in readings {
            if let wrong = reading.complaint(logs[reading.stream] ?? [], catalog: bazaar) {
                Issue.record("seed \(seed): \(wrong)")
                return
            }
        }
    }

    @Test("Memory, database, SQL and the naive model give one answer at every boundary")
    func oneAnswer() throws {
        let seed = printedSeed(of: "one answer")
        let comparison = AnswerComparison(services, key: key)
        var recorded: [Core.Stream: [AnyFact]] = [:]
        for (index, stream) in streams.enumerated() {
            // Some seeds give short histories, so each customer gets four.
            let history = (0..<4).flatMap { part in
                RandomHistory(
                    seed: seed &+ UInt64(4 * index + part), prefix: "\(index)-\(part)-"
                ).facts
            }
            var random = SeededGenerator(seed: seed &+ UInt64(index))
            recorded[stream] = history
            for (number, fact) in history.shuffled(using: &random).enumerated() {
                _ = services[0].send("GET", comparison.path(of: stream), key: key)
                _ = try services[number % 2].ledger.append(
                    .record(AnyFact.facts([fact]), for: stream, key: "\(number)"))
            }
        }
        var asked = 0
        let clock = services[0].clock
        for stream in streams {
            let facts = AnyFact.facts(recorded[stream] ?? [])
            let sources = NaiveModel(products: naiveBazaar, facts: facts).sources()
            let timelines = NaiveModel.timelines(sources)
            for boundary in NaiveModel.moments(sources) {
                for offset: Int64 in -1...1 {
                    clock.advance(byMilliseconds: boundary + offset - clock.now.milliseconds)
                    let naive = timelines.mapValues { NaiveModel.answer($0, at: boundary + offset) }
                    try comparison.expect(
                        naive, inSQL: naive, of: stream, "seed \(seed), \(stream.customer)")
                    asked += 1
                }
            }
        }
        #expect(asked > 100)
        #expect(services[0].reads.cache.tally.hits > Int64(asked))
    }
}

/// Writers and readers on two instances, and the answers that the readers got.
private final class Course: Sendable {
    private struct State {
        var writing = 2
        /// The newest position of each customer, by the instance that acknowledged it.
        var written: [[Core.Stream: Position]] = [[:], [:]]
        var readings: [Reading] = []
        var faults: [String] = []
    }
    private let state = Mutex(State())
    private let services: [TestService]
    private let key: NewKey
    private let streams: [Core.Stream]

    init(_ services: [TestService], key: NewKey, streams: [Core.Stream]) {
        self.services = services
        self.key = key
        self.streams = streams
    }

    var readings: [Reading] { state.withLock(\.readings) }
    var faults: [String] { state.withLock(\.faults) }

    func write(on instance: Int, seed: UInt64, _ random: inout SeededGenerator) {
        for (index, stream) in streams.enumerated() {
            let seed = seed &+ UInt64(index)
            let history = RandomHistory(seed: seed, prefix: "\(index)-").facts
            // Both instances report the whole history, each in its own order.
            for (number, fact) in history.shuffled(using: &random).enumerated() {
                let key = "\(instance)-\(number)"
                append(on: instance, stream) {
                    try .record(AnyFact.facts([fact]), for: stream, key: key)
                }
                if random.chance(20) {
                    append(on: instance, stream) {
                        try .give("vip\(number % 3)", to: stream, grant: "\(key)-\(index)")
                    }
                }
                services[0].clock.advance(byMilliseconds: random.number(0...day / 4))
            }
        }
        state.withLock { $0.writing -= 1 }
    }

    private func append(on instance: Int, _ stream: Core.Stream, _ command: () throws -> Command) {
        do {
            let outcome = try services[instance].ledger.append(command())
            state.withLock { $0.written[instance][stream] = outcome.position }
        } catch {
            state.withLock { $0.faults.append("\(error)") }
        }
    }

    func read(on instance: Int, _ random: inout SeededGenerator) {
        while state.withLock({ $0.writing > 0 }) {
            let stream = streams[Int(random.number(0...Int64(streams.count - 1)))]
            let asks = random.chance(30)
            let (own, any) = state.withLock { state in
                (state.written[instance][stream], state.written.compactMap { $0[stream] })
            }
            let after = asks ? any.max { $0.sequence < $1.sequence } : nil
            let name = stream.customer.text.replacing(" ", with: "%20")
            let reply = services[instance].send(
                "GET", "/v1/customers/\(name)/entitlements", key: key,
                headers: after.map { [("Deed-After", $0.description)] } ?? [])
            let least = [own, after].compactMap { $0?.sequence }.max() ?? 0
            state.withLock { state in
                guard reply.status == 200 else {
                    state.faults.append(reply.text)
                    return
                }
                state.readings.append(
                    Reading(
                        stream: stream, text: reply.text, least: least,
                        isImmediate: reply.isImmediate))
            }
        }
    }
}

/// A reader's answer, and the lowest sequence that it may reflect.
private struct Reading: Sendable {
    let stream: Core.Stream
    let text: String
    let least: Int64
    let isImmediate: Bool

    /// Returns what is wrong with the answer according to the customer's log, or `nil` if nothing is.
    func complaint(_ log: [RecordedEvent], catalog: Catalog) -> String? {
        guard let json = try? JSON.read(text),
            let position = json["position"]?.string.flatMap(Position.init),
            let at = json["at"]?.string.flatMap({ Instant(text: $0) })
        else { return "unreadable: \(text)" }
        if position.sequence < least { return "\(text) is older than \(least)" }
        var customer = CustomerState()
        let known = log.prefix { $0.position.sequence <= position.sequence }
        for recorded in known { customer.apply(recorded.event) }
        // The answer may reflect more events than its position says, but never fewer.
        for recorded in [nil] + log.dropFirst(known.count).map(Optional.some) {
            if let recorded { customer.apply(recorded.event) }
            if matches(customer, at: at, position, catalog) { return nil }
        }
        return "no state of the customer from \(position) on gives: \(text)"
    }

    private func matches(
        _ customer: CustomerState, at instant: Instant, _ position: Position, _ catalog: Catalog
    ) -> Bool {
        var project = ProjectState()
        project.apply(
            .catalogChanged(CatalogChanged(version: 1, catalog: catalog)), recordedAt: at(0))
        let snapshot = CustomerSnapshot(
            customer: customer, project: project, position: position)
        return EntitlementsAnswer(CustomerView(snapshot, of: stream), at: instant).json.text == text
    }
}
