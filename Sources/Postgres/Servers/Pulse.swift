import Synchronization

/// Gives up all connections of a process at once, even in the middle of a wait: the server that they
/// were made to has fallen silent, or is not the one to work with any more.
package final class Pulse: Sendable {
    private let losses = Atomic(0)
    private let isAcquainted = Atomic(false)

    package init() {}

    /// Gives up every connection that exists now.
    package func lose() { loseOthers() }

    /// The same but for the caller's own, which counts as begun behind the loss with that number.
    @discardableResult
    func loseOthers() -> Int { losses.add(1, ordering: .acquiringAndReleasing).newValue }

    /// From now on a server is held against what was seen of another one.
    func noteMeeting() { isAcquainted.store(true, ordering: .releasing) }

    var hasMet: Bool { isAcquainted.load(ordering: .acquiring) }

    /// How often connections were given up.
    var count: Int { losses.load(ordering: .acquiring) }
}
