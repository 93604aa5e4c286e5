import AppStore
import Core
import Histories
import Service
import Synchronization
import TestSupport

/// Useless answers, chosen at random. Each kind of answer occurs for each kind of call.
final class Strikes: Sendable {
    private static let troubles: [StoreTrouble] = [
        .unavailable("what answered in its place is not JSON"), .unavailable("it answered 500"),
        .unreadable("\"data\" is missing"), .foreign("signature_invalid"),
        .refused(byAppStore: 4_000_000, "not today"), .refused(byAppStore: 4_290_001, ""),
        .refused(byAppStore: 4_000_012, "too far in the past"), .endlessPages(limit: 3),
        .unauthorized, .untrusted("another certificate"), .limited(until: Instant(milliseconds: 0)),
        .refused(byAppStore: 4_040_010, "not found"),
    ]

    private struct State {
        var random: SeededGenerator
        var isOn = true
        var calls = 0
        var struck = 0
    }
    private let state: Mutex<State>
    private let rate: Double

    init(_ rate: Double, seed: UInt64) {
        self.rate = rate
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    var calls: Int { state.withLock { $0.calls } }
    var struck: Int { state.withLock { $0.struck } }
    func end() { state.withLock { $0.isOn = false } }

    /// Returns the result of a call. Some answers say nothing about the question.
    func strike(_ call: StoreCall) throws(StoreTrouble) -> StoreAnswer? {
        let trouble: StoreTrouble?? = state.withLock { state in
            state.calls += 1
            guard state.isOn, Double.random(in: 0..<1, using: &state.random) < rate else {
                return nil
            }
            state.struck += 1
            let which = Int.random(in: 0...Strikes.troubles.count, using: &state.random)
            return .some(which < Strikes.troubles.count ? Strikes.troubles[which] : nil)
        }
        guard let trouble else { return nil }
        if let trouble { throw trouble }
        if case .notifications = call { throw .foreign("it is about something else") }
        return StoreAnswer(environment: .sandbox)
    }
}
