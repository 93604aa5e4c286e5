/// Runs callbacks at given instants. All callbacks share one thread, so they must not block it.
package final class Alarms: Sendable {
    private struct State: Sendable {
        var rings: [(at: Int64, ring: @Sendable () -> Void)] = []
        var isRunning = false
    }
    private let state = Monitor(State())

    package init() {}

    /// Calls `ring` once the monotonic clock reaches `instant`, which is in milliseconds.
    package func ring(at instant: Int64, _ ring: @escaping @Sendable () -> Void) {
        let mustStart = state.change { state in
            state.rings.append((instant, ring))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { startThread("alarms") { [self] in run() } }
    }

    /// Runs until there are no alarms left.
    private func run() {
        while true {
            let now = monotonicMilliseconds()
            let (due, next) = state.change(wake: .none) { state in
                let due = state.rings.filter { $0.at <= now }.map(\.ring)
                state.rings.removeAll { $0.at <= now }
                let next = state.rings.map(\.at).min()
                if due.isEmpty, next == nil { state.isRunning = false }
                return (due, next)
            }
            for ring in due { ring() }
            if !due.isEmpty { continue }
            guard let next else { return }
            _ = state.wait(milliseconds: max(next - now, 1)) { state in
                // An alarm added in the meantime may be due earlier.
                state.rings.contains { $0.at < next } ? () : nil
            }
        }
    }
}
