package import Service
import Threading

/// Looks again and again where other instances have moved the test clock.
package final class ClockFollower: Sendable {
    /// As often as what other instances have written is looked for.
    private static let pause: Int64 = 50

    private let isStopping = Monitor(false)
    private let clock: SharedClock

    package init(_ clock: SharedClock) {
        self.clock = clock
    }

    package func start() {
        startThread("clock") { [isStopping, clock] in
            while isStopping.wait(milliseconds: ClockFollower.pause, for: { $0 ? () : nil }) == nil
            {
                // An unreachable database is told of by the watch.
                try? clock.follow()
            }
        }
    }

    package func stop() { isStopping.change { $0 = true } }
}
