import Core
import Crypto
import Histories
import TestSupport
import Testing

@testable import Ledger

@Suite("Coding of kept states")
struct KeptStateCodingTests {
    private static let stream = Stream(
        project: id("default"), environment: .production, customer: id("u1"))

    private func state(after events: some Sequence<RecordedEvent>) -> CustomerState {
        var state = CustomerState()
        for event in events { state.apply(event) }
        return state
    }

    /// Returns the state as read back from the table.
    private func kept(_ state: CustomerState) -> CustomerState? {
        let content = KeptState.content(of: state)
        let digest = KeptState.digest(of: content, Self.stream, version: state.version)
        return KeptState.state(
            content, digest: digest, of: Self.stream, version: state.version)
    }

    /// Keeps the state after the first events, applies the other events to it, and returns how it
    /// differs from the right state.
    private func difference(_ events: [RecordedEvent], cut: Int) -> String? {
        let first = state(after: events.prefix(cut))
        guard var state = kept(first) else { return "the state after \(cut) is not read back" }
        if state != first { return "the state after \(cut) is another one" }
        for event in events.dropFirst(cut) { state.apply(event) }
        let whole = self.state(after: events)
        if state != whole { return "kept after \(cut), the rest gives another state" }
        if KeptState.content(of: state) != KeptState.content(of: whole) {
            return "kept after \(cut), the rest gives other bytes"
        }
        return nil
    }

    @Test("A kept state and the events behind it give what all events give: any events")
    func anyEvents() {
        let seed = printedSeed(of: "kept states of any events")
        for offset in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed &+ offset)
            let events = RandomStream(seed: seed &+ offset, count: 60).events
            for _ in 0..<3 {
                let cut = Int(random.number(1...60))
                if let difference = difference(events, cut: cut) {
                    Issue.record("seed \(seed &+ offset): \(difference)")
                    return
                }
            }
        }
    }

    @Test("A kept state and the events behind it give what all events give: published lives")
    func publishedLives() {
        let seed = printedSeed(of: "kept states of published lives")
        for offset in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed &+ offset)
            var life = PublishedLife()
            let facts = RandomHistory(seed: seed &+ offset).facts.shuffled(using: &random)
            for (day, fact) in facts.enumerated() {
                life.record(AnyFact.facts([fact]), at: at(2 * Int64(day)))
            }
            life.look(at: at(400))
            if life.events.isEmpty { continue }
            let cut = Int(random.number(1...Int64(life.events.count)))
            if let difference = difference(life.events, cut: cut) {
                Issue.record("seed \(seed &+ offset): \(difference)")
                return
            }
        }
    }

    @Test("A kept state gives what it was kept of: merged customers and Google Play")
    func worlds() throws {
        let seed = printedSeed(of: "kept states of worlds")
        for offset in 0..<100 as Range<UInt64> {
            var world = World()
            var random = SeededGenerator(seed: seed &+ offset)
            let ids: [CustomerID] = ["a", "b", "c"].map { id($0) }
            for fact in RandomHistory(seed: seed &+ offset).facts.shuffled(using: &random) {
                let one = ids[Int(random.number(0...2))]
                _ = try? world.submit([AnyFact.facts([fact])], by: .customer(one))
                if random.chance(20) { try? world.merge(one, into: ids[0]) }
                if random.chance(10) { try? world.undoMerge(of: one) }
                if random.chance(20) { try? world.adjust(5, of: one) }
            }
            let play = PlayLife(seed: seed &+ offset).readings.shuffled(using: &random)
            let states =
                Array(world.states.values)
                + [CustomerState(recording: play.map { facts([$0]) }, catalog: playShop)]
            for state in states where kept(state) != state {
                Issue.record("seed \(seed &+ offset): a state comes back as another one")
                return
            }
        }
    }

    /// If this test fails, the same events give a different state or different bytes. Raise
    /// `KeptState.number`, so that Deed does not read older kept states, and record the new digest.
    @Test("The number of kept states stands for what a program makes of events")
    func number() {
        var hash = SHA256()
        for seed in 0..<200 as Range<UInt64> {
            let events = RandomStream(seed: seed, count: 60).events
            hash.update(KeptState.content(of: state(after: events)))
        }
        #expect(KeptState.number == 3)
        let digest = hash.finish().bytes.hexDigits
        #expect(digest == "a0239974c159a41b9529515bda1648bde0384acb8322d61a29d2b0121810cb6b")
    }

    @Test("What is damaged, of another version or of another stream is not read")
    func refused() throws {
        let state = state(after: RandomStream(seed: 1, count: 40).events)
        let (content, version) = (KeptState.content(of: state), state.version)
        let digest = KeptState.digest(of: content, Self.stream, version: version)
        func read(
            _ content: [UInt8], _ digest: [UInt8], _ version: Int64, of stream: Stream = Self.stream
        ) -> CustomerState? {
            KeptState.state(content, digest: digest, of: stream, version: version)
        }
        #expect(read(content, digest, version) == state)
        var other = content
        other[content.count / 2] ^= 1
        #expect(read(other, digest, version) == nil)
        #expect(read(content, digest.map { $0 ^ 1 }, version) == nil)
        #expect(read(content, digest, version + 1) == nil)
        #expect(read(content, digest, version, of: try .test("u2")) == nil)
        #expect(read([], KeptState.digest(of: [], Self.stream, version: version), version) == nil)
    }

    @Test("A stream remembers its last causes, and never a part of one")
    func causes() {
        var causes = RecentCauses()
        var version: Int64 = 0
        func cause(_ number: Int) -> Cause {
            Cause(text: "key:\(number)", digest: [UInt8](repeating: 0, count: 32))
        }
        for number in 0..<400 {
            for _ in 0..<3 {
                version += 1
                let record = EventRecord(
                    occurredAt: at(0), recordedAt: at(0), actor: id("a"),
                    cause: cause(number).text, catalogVersion: 0)
                let event = Event.balanceSpent(
                    BalanceSpent(currency: id("coins"), amount: 1, reason: nil))
                causes.add(
                    RecordedEvent(
                        stream: Self.stream, version: version,
                        position: Position(shard: Self.stream.shard, sequence: version),
                        event: event, record: record), causeDigest: [])
            }
            #expect(version - causes.base < 3 * RecentCauses.span)
            for earlier in 0...number {
                let (first, last) = (Int64(3 * earlier + 1), Int64(3 * earlier + 3))
                let obeyed = causes.obeyed(cause(earlier))
                #expect((obeyed == nil) == (last <= causes.base), "\(earlier) of \(number)")
                if let obeyed { #expect(obeyed.first == first && obeyed.last == last) }
            }
        }
    }
}
