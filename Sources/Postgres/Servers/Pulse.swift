import Synchronization

/// Abandons all connections of a process at once, even during a wait, because their server has fallen silent or is no
/// longer the right one.
package final class Pulse: Sendable {
    private let losses = Atomic(0)
    private let isAcquainted = Atomic(false)

    package init() {}

    /// Abandons every current connection.
    package func lose() { loseOthers() }

    /// Abandons all connections except the caller's own, which counts as opened afterwards. Returns how many times
    /// connections have been abandoned, including this time.
    @discardableResult
    func loseOthers() -> Int { losses.add(1, ordering: .acquiringAndReleasing).newValue }

    /// Records that a connection has reached a server. From then on, new servers are compared with earlier ones.
    func noteMeeting() { isAcquainted.store(true, ordering: .releasing) }

    var hasMet: Bool { isAcquainted.load(ordering: .acquiring) }

    /// How many times connections were abandoned.
    var count: Int { losses.load(ordering: .acquiring) }
}
