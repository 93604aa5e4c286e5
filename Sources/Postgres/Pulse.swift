import Synchronization
import Threading

/// Tells all connections of a process that the server has fallen silent, whatever each of them waits for.
///
/// What one of them asked may take its time; a look with a question that takes none tells sooner.
package final class Pulse: Sendable {
    private let lostAt = Atomic(Int64.min)

    package init() {}

    /// Connections that were made by now are given up.
    package func lose() { lostAt.store(monotonicMilliseconds(), ordering: .releasing) }

    func isLost(since time: Int64) -> Bool { lostAt.load(ordering: .acquiring) >= time }
}
