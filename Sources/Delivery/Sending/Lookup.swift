import Core
import Outbound
import Threading

/// What is known of a webhook's addresses. It looks them up on a thread of its own: a name server
/// may be silent for long.
final class Lookup: Sendable {
    /// For how many milliseconds a look-up counts, by whether something may be sent.
    private static let lifetimes: [Bool: Int64] = [true: 30_000, false: 5000]

    struct Found: Sendable {
        let url: WebhookURL
        let obstacle: OutboundError?
        let until: Int64
    }
    private struct State {
        var found: Found?
        /// Whose addresses are being looked up.
        var asked: WebhookURL?
    }
    private let state = Monitor(State())

    /// What was found, or `nil` while nothing is known; then it calls `done` once there is. Old
    /// addresses count while they are looked up again, since each socket is checked before it
    /// connects.
    func find(
        _ url: WebhookURL, _ gate: SafeGate, done: @escaping @Sendable () -> Void
    ) -> Found? {
        let (found, isAsking) = state.change(wake: .none) { state -> (Found?, Bool) in
            let found = state.found?.url == url ? state.found : nil
            let isFresh = found.map { monotonicMilliseconds() < $0.until } ?? false
            if isFresh { return (found, false) }
            let isAsking = state.asked != url
            state.asked = url
            return (found?.obstacle == nil ? found : nil, isAsking)
        }
        if isAsking {
            startThread("name look-up") { [state] in
                let obstacle = gate.obstacle(to: url)
                let lifetime = Lookup.lifetimes[obstacle == nil] ?? 0
                state.change(wake: .none) { state in
                    // The address was changed during the look-up.
                    if state.asked != url { return }
                    state.asked = nil
                    state.found = Found(
                        url: url, obstacle: obstacle, until: monotonicMilliseconds() + lifetime)
                }
                done()
            }
        }
        return found
    }
}
