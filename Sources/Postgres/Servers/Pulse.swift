import Synchronization

/// Gives up all of a process's connections at once, even during a wait: their server fell silent,
/// or is no longer the one to use.
package final class Pulse: Sendable {
    private let losses = Atomic(0)
    private let isAcquainted = Atomic(false)

    package init() {}

    /// Gives up every current connection.
    package func lose() { loseOthers() }

    /// Gives up all connections but the caller's own, which counts as begun after this loss.
    /// Returns the loss's number.
    @discardableResult
    func loseOthers() -> Int { losses.add(1, ordering: .acquiringAndReleasing).newValue }

    /// Notes that a server was met; later ones are compared with earlier ones.
    func noteMeeting() { isAcquainted.store(true, ordering: .releasing) }

    var hasMet: Bool { isAcquainted.load(ordering: .acquiring) }

    /// How often connections were given up.
    var count: Int { losses.load(ordering: .acquiring) }
}
