import Core
import Outbound
import Threading

/// The known addresses of a webhook's host. A separate thread looks them up, because a name server may respond slowly.
final class Lookup: Sendable {
    /// The milliseconds for which a lookup's result stays valid, depending on whether it allows sending.
    private static let lifetimes: [Bool: Int64] = [true: 30_000, false: 5000]

    struct Found: Sendable {
        let url: WebhookURL
        let obstacle: OutboundError?
        let until: Int64
    }
    private struct State {
        var found: Found?
        /// The URL whose addresses are being looked up.
        var asked: WebhookURL?
    }
    private let state = Monitor(State())

    /// Returns the result of the lookup, or `nil` if it has not arrived, and then calls `done` once it has. The old
    /// result remains valid during a new lookup, because each socket's address is checked before it connects.
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
                    // The webhook's address changed during the lookup.
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
