import CReceive
import Synchronization

/// How fast a client takes a large answer.
///
/// The connection's thread begins and ends an answer, and the sweeper looks how far it is.
struct Outflow: ~Copyable, Sendable {
    /// The minimum rate in bytes per second, averaged over the time allowed for an answer.
    static let rate: Int64 = 64 << 10

    private static let none: Int64 = -1
    /// How many bytes the client had acknowledged when the answer began or was last looked at; `none` without a large
    /// answer. Bytes that the system only buffers do not count.
    private let acknowledged = Atomic<Int64>(Outflow.none)

    func begin(_ bytes: Int, over milliseconds: Int64, on socket: Int32) {
        // A smaller answer that is still underway after that time is too slow in any case.
        guard Int64(bytes) > Outflow.least(over: milliseconds) else { return }
        acknowledged.store(receive_acknowledged(socket), ordering: .relaxed)
    }

    func end() { acknowledged.store(Outflow.none, ordering: .relaxed) }

    /// Returns whether a large answer is underway, and has kept the minimum rate since it was last looked at.
    func keepsPace(over milliseconds: Int64, on socket: Int32) -> Bool {
        let former = acknowledged.load(ordering: .relaxed)
        if former == Outflow.none { return false }
        let count = receive_acknowledged(socket)
        let mark = acknowledged.compareExchange(
            expected: former, desired: count, ordering: .relaxed)
        return mark.exchanged && count - former >= Outflow.least(over: milliseconds)
    }

    private static func least(over milliseconds: Int64) -> Int64 { rate * milliseconds / 1000 }
}
