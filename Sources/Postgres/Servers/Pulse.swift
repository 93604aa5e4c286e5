import Synchronization

/// Gives up all connections of a process at once, even during a wait: their server has fallen
/// silent, or is no longer the one to use.
package final class Pulse: Sendable {
    private let losses = Atomic(0)
    private let isAcquainted = Atomic(false)

    package init() {}

    /// Gives up every connection that exists now.
    package func lose() { loseOthers() }

    /// Gives up all connections except the caller's own. That one counts as begun after this loss,
    /// whose number is returned.
    @discardableResult
    func loseOthers() -> Int { losses.add(1, ordering: .acquiringAndReleasing).newValue }

    /// From now on, servers are compared with earlier ones.
    func noteMeeting() { isAcquainted.store(true, ordering: .releasing) }

    var hasMet: Bool { isAcquainted.load(ordering: .acquiring) }

    /// How often connections were given up.
    var count: Int { losses.load(ordering: .acquiring) }
}
