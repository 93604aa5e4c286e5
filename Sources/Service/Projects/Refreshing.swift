import Core
import Synchronization

/// Reads a list again for callers who miss something in it: one read at a time, a limited number per second, and
/// none right after one that failed. What strangers can ask for must neither load the database nor
/// hold up those who answer.
final class Refreshing: Sendable {
    private static let pauseAfterFault: Int64 = 500

    private struct State {
        var allowance = Allowance(.reloads)
        var fault: (fault: Fault, at: Instant)?
    }
    private let state = Mutex(State())
    private let looking = Mutex(())

    /// What `find` gives, after `reload` when it gives nothing at first. Those who miss something at
    /// the same time wait for the first one's read, and share its fault.
    func find<Found>(
        at now: Instant, _ find: () -> Found?, reload: () throws(Fault) -> Void
    ) throws(Fault) -> Found? {
        if let found = find() { return found }
        return try looking.withLock { _ throws(Fault) in
            if let found = find() { return found }
            if let fault = recentFault(at: now) { throw fault }
            guard state.withLock({ $0.allowance.take(at: now) }) else { return nil }
            do throws(Fault) {
                try reload()
            } catch {
                state.withLock { $0.fault = (error, now) }
                throw error
            }
            state.withLock { $0.fault = nil }
            return find()
        }
    }

    /// Reloads, unless the limit of reloads is reached. What is there already does not prevent it.
    func refresh(at now: Instant, reload: () throws(Fault) -> Void) throws(Fault) {
        _ = try find(at: now, { () -> Void? in nil }, reload: reload)
    }

    private func recentFault(at now: Instant) -> Fault? {
        guard let (fault, at) = state.withLock(\.fault) else { return nil }
        let age = now.milliseconds - at.milliseconds
        // Those who waited came before it was over.
        return age < Refreshing.pauseAfterFault ? fault : nil
    }
}
