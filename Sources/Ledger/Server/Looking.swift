package import Core
import Postgres
import SQL
import Threading

/// Checks of the database.
extension Ledger {
    /// How many milliseconds pass before a server's only address is tried again while writes to it fail.
    private static let addressPause: Int64 = 1000

    /// Checks the database, and gives up connections to a hanging server; returns the test clock's time, if
    /// there is one.
    package func look() throws(Fault) -> Instant? {
        do throws(LedgerError) {
            return try lookTwice()
        } catch {
            throw error.fault
        }
    }

    /// A silent session may belong to a slow server, whose other sessions are still usable. A new session
    /// shows which: a slow server answers it, if only with a refusal; a hanging server does not; and if
    /// it meets another server, the greeting gives up the other sessions.
    private func lookTwice() throws(LedgerError) -> Instant? {
        do throws(LedgerError) {
            return try lookOnce()
        } catch {
            guard case .postgres(let reason) = error, reason.isSilence else { throw error }
        }
        do throws(LedgerError) {
            let found = try lookOnce()
            // A server that hides its identity may be another one.
            if !known.isServerKnown { pulse.lose() }
            return found
        } catch {
            // Only once: connections made since then belong to a server that is slow at worst.
            if case .postgres(let reason) = error, !reason.isAnswer, hanging.begins() {
                pulse.lose()
            }
            throw error
        }
    }

    /// Throws if it is unclear whether reads come from the server that others write to: one that was
    /// suspended while a standby was promoted answers as before until this is noticed.
    package func requireCertainty() throws(Fault) {
        if !condition.dependsOnStandby { return }
        let asked = monotonicMicroseconds()
        let fault = certainty.change(wake: .none) { last in
            // Another caller's look that began since then is as good.
            if last.began < asked {
                last.began = monotonicMicroseconds()
                do throws(Fault) {
                    _ = try look()
                    last.fault = nil
                } catch {
                    last.fault = error
                }
            }
            return last.fault
        }
        if let fault { throw fault }
    }

    /// While writes fail, the other addresses are checked, too: a new session goes to the server that was
    /// promoted last, and if that is another one, sessions with this server are given up. A single address
    /// may lead to another server as well, and is tried less often.
    private func lookOnce() throws(LedgerError) -> Instant? {
        let found = try lookAtServer()
        let pause = hasOtherAddresses ? 0 : Ledger.addressPause
        guard condition.isDoubtDue(every: pause) else { return found }
        looking.change(wake: .none) { $0.leave() }
        return try lookAtServer()
    }

    private func lookAtServer() throws(LedgerError) -> Instant? {
        let (beginning, found) = try askOnce { connection throws(LedgerError) in
            let beginning = clocks.database.begin()
            var found: (testClock: Instant?, shown: Instant, look: DatabaseLook)?
            try connection.read([Statement.lookAtServer()]) { _, rows in
                found = (
                    rows.optionalInt8(0, 0).map(Instant.init(milliseconds:)),
                    Instant(milliseconds: rows.int8(0, 1)), DatabaseLook(rows)
                )
            }
            if found?.look.isNoted == true { try known.heed(&connection) }
            if condition.isFull, try connection.hasRoom() { condition.noteRoom() }
            return (beginning, found)
        }
        hanging.ends()
        guard let found else { return nil }
        clocks.database.compare(found.shown, since: beginning)
        condition.note(found.look)
        return found.testClock
    }

    /// Does not retry after silence: that would only delay the result. After a server was refused, it
    /// connects again, since nothing else might.
    private func askOnce<Answer>(
        _ body: (inout Connection) throws(LedgerError) -> Answer
    ) throws(LedgerError) -> Answer {
        try looking.change(wake: .none) { link throws(LedgerError) in
            if known.impediment != nil { link.leave() }
            return try link.settled(body)
        }
    }

    /// What would stop a write of rows that do not follow from the log: wrong clocks, or a wait that occupies
    /// a connection and a server session.
    var barrier: Impediment? { clocks.database.impediment ?? condition.barrier }

    func requireWritable() throws(Fault) {
        if let barrier { throw .impeded(barrier) }
    }

    /// What prevents normal use of the database; empty if nothing does.
    package var impediments: [Impediment] {
        [known.impediment, clocks.database.impediment].compactMap(\.self) + condition.impediments
    }
}

/// The result of the last check that reads waited for.
struct Certainty: Sendable {
    var began: Int64 = 0
    var fault: Fault?
}

/// Whether the server has been silent since its last answered look.
final class Hanging: Sendable {
    private let state = Monitor(false)

    /// Whether this is news.
    func begins() -> Bool {
        state.change(wake: .none) { isHanging in
            defer { isHanging = true }
            return !isHanging
        }
    }

    func ends() { state.change(wake: .none) { $0 = false } }
}

extension DatabaseLook {
    /// Reads the row of `look_at_server`.
    fileprivate init(_ rows: borrowing Rows) {
        self.init(
            isReadOnly: rows.bool(0, 2), standbysNeeded: rows.int8(0, 3),
            standbysPresent: rows.int8(0, 4), waitingCommits: rows.int8(0, 5),
            isNoted: rows.bool(0, 6))
    }
}

extension Connection {
    /// Whether a megabyte can be written where the data are. It is freed immediately.
    fileprivate mutating func hasRoom() throws(LedgerError) -> Bool {
        do throws(LedgerError) {
            try execute([Statement.begin(), Statement.tryRoom(), Statement.rollback()])
            return true
        } catch {
            guard case .postgres(let reason) = error, reason.kind == .statement else { throw error }
            // If the login may not try, the next write shows it.
            return !reason.isLackOfRoom
        }
    }
}
