/// Rings at given instants, all on one thread, which must not be held up.
package final class Alarms: Sendable {
    private struct State: Sendable {
        var rings: [(at: Int64, ring: @Sendable () -> Void)] = []
        var isRunning = false
    }
    private let state = Monitor(State())

    package init() {}

    /// Rings once the monotonic clock shows that many milliseconds.
    package func ring(at instant: Int64, _ ring: @escaping @Sendable () -> Void) {
        let mustStart = state.change { state in
            state.rings.append((instant, ring))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { startThread("alarms") { [self] in run() } }
    }

    /// Runs until nothing is left to ring for.
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
                // One that was added meanwhile may be earlier.
                state.rings.contains { $0.at < next } ? () : nil
            }
        }
    }
}
