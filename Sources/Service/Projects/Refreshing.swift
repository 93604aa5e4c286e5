import Core
import Synchronization

/// A list from the database, kept in memory. It is read again if it lacks an entry that a caller
/// needs. Reads happen one at a time, with a limit per second, and not right after a failed
/// read. Strangers' requests must neither overload the database nor delay other callers.
final class Refreshing<Kept: Sendable>: Sendable {
    private static var pauseAfterFault: Int64 { 500 }

    private struct Limits {
        var allowance = Allowance(.reloads)
        var fault: (fault: Fault, at: Instant)?
    }
    private let kept: Mutex<Kept>
    private let reads = Atomic(0)
    /// The limits of reads. The lock is held during a read, so that the result of an earlier read
    /// cannot replace that of a later one.
    private let reading = Mutex(Limits())
    private let read: @Sendable () throws(Fault) -> Kept

    init(_ empty: Kept, read: @escaping @Sendable () throws(Fault) -> Kept) {
        kept = Mutex(empty)
        self.read = read
    }

    /// How many times the list has been read.
    var edition: Int { reads.load(ordering: .acquiring) }

    /// Returns the entry, if it is in memory, and the list's edition.
    func known<Found: Sendable>(_ find: (Kept) -> Found?) -> (found: Found, edition: Int)? {
        kept.withLock { kept in find(kept).map { ($0, reads.load(ordering: .relaxed)) } }
    }

    /// Returns the result of `find`. If there is none, reads the database and tries again. Callers who miss entries at
    /// the same time wait for one read and share its fault.
    func find<Found: Sendable>(
        at now: Instant, _ find: (Kept) -> Found?
    ) throws(Fault) -> Found? {
        if let known = known(find) { return known.found }
        return try reading.withLock { limits throws(Fault) in
            if let known = known(find) { return known.found }
            // Callers who waited for the failed read share its fault.
            if let (fault, at) = limits.fault,
                now.milliseconds - at.milliseconds < Refreshing.pauseAfterFault
            {
                throw fault
            }
            guard limits.allowance.take(at: now) else { return nil }
            do throws(Fault) {
                try keep()
            } catch {
                limits.fault = (error, now)
                throw error
            }
            limits.fault = nil
            return known(find)?.found
        }
    }

    /// Reads the list again, unless it has been read too often recently.
    func refresh(at now: Instant) throws(Fault) {
        _ = try find(at: now) { _ -> Int? in nil }
    }

    func reload() throws(Fault) { try reading.withLock { _ throws(Fault) in try keep() } }

    private func keep() throws(Fault) {
        let new = try read()
        kept.withLock { kept in
            kept = new
            reads.add(1, ordering: .releasing)
        }
    }
}
