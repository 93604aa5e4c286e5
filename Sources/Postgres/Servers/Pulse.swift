import Synchronization

/// Gives up all connections of a process at once, even during a wait: their server has fallen
/// silent, or is no longer the one to use.
package final class Pulse: Sendable {
    private let losses = Atomic(0)
    private let isAcquainted = Atomic(false)

    package init() {}

    /// Gives up every connection that exists now.
    package func lose() { loseOthers() }

    /// Gives up all but the caller's own, which counts as begun after the loss with the returned
    /// number.
    @discardableResult
    func loseOthers() -> Int { losses.add(1, ordering: .acquiringAndReleasing).newValue }

    /// From now on, a server is compared with what was seen of another one.
    func noteMeeting() { isAcquainted.store(true, ordering: .releasing) }

    var hasMet: Bool { isAcquainted.load(ordering: .acquiring) }

    /// How often connections were given up.
    var count: Int { losses.load(ordering: .acquiring) }
}
