package import Core
import Postgres
import SQL
import Threading

/// Health checks of the database.
extension Ledger {
    /// The pause, in milliseconds, before another server is looked for again while writes fail, if there is only one
    /// address or if servers hide their identity.
    private static let addressPause: Int64 = 1000

    /// Checks the database, and abandons connections to a hanging server. Returns the test clock's time, if there is a
    /// test clock.
    package func look() throws(Fault) -> Instant? {
        do throws(LedgerError) {
            return try lookTwice()
        } catch {
            throw error.fault
        }
    }

    /// Opens a new session to find out why the old one is silent. A slow server answers the new
    /// session, if only with a refusal, and its other sessions stay usable. A hanging server does not
    /// answer. If the new session reaches a different server, connecting abandons the other sessions.
    private func lookTwice() throws(LedgerError) -> Instant? {
        do throws(LedgerError) {
            return try lookOnce()
        } catch {
            guard case .postgres(let reason) = error, reason.isSilence else { throw error }
        }
        do throws(LedgerError) {
            let found = try lookOnce()
            // A server that hides its identity may be a different one.
            if !known.isServerKnown { pulse.lose() }
            return found
        } catch {
            // Connections are abandoned only once per silence, because later ones reach a server that is at worst slow.
            if case .postgres(let reason) = error, !reason.isAnswer, hanging.begins() {
                pulse.lose()
            }
            throw error
        }
    }

    /// Throws if reads may come from a server to which other instances no longer write. A server that
    /// was suspended while a standby was promoted keeps answering reads until this check detects it.
    package func requireCertainty() throws(Fault) {
        if !condition.dependsOnStandby { return }
        let asked = monotonicMicroseconds()
        let fault = certainty.change(wake: .none) { last in
            // Another caller's check suffices if it began after this call.
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

    /// Checks the database. While writes fail, this check also tries other addresses: a new session goes to the most
    /// recently promoted server. If that is a different server, connecting abandons the sessions with this one. A
    /// single address may also lead to a different server, but is tried less often.
    private func lookOnce() throws(LedgerError) -> Instant? {
        let found = try lookAtServer()
        let isKnown = known.isServerKnown
        let pause = hasOtherAddresses && isKnown ? 0 : Ledger.addressPause
        guard condition.isDoubtDue(every: pause) else { return found }
        looking.change(wake: .none) { $0.leave() }
        // The new session may reach another server without showing it.
        return try lookAtServer(outlivingOthers: !isKnown && condition.isReadOnly)
    }

    /// Checks the server. If `outlivingOthers` is true, abandons all sessions except the one that reached the server.
    private func lookAtServer(outlivingOthers: Bool = false) throws(LedgerError) -> Instant? {
        let (beginning, found) = try askOnce { connection throws(LedgerError) in
            let beginning = clocks.database.begin()
            let found = try connection.list(Statement.lookAtServer()) { rows, row in
                (
                    testClock: rows.optionalInt8(row, 0).map(Instant.init(milliseconds:)),
                    shown: Instant(milliseconds: rows.int8(row, 1)), look: DatabaseLook(rows)
                )
            }.first
            if found?.look.isNoted == true { try known.heed(&connection) }
            if condition.isFull, try connection.hasRoom() { condition.noteRoom() }
            if outlivingOthers { connection.outliveOthers() }
            return (beginning, found)
        }
        hanging.ends()
        guard let found else { return nil }
        clocks.database.compare(found.shown, since: beginning)
        condition.note(found.look)
        return found.testClock
    }

    /// Checks the server once. Does not retry after silence, because a retry would only delay the result. After
    /// refusing a server, connects again, because nothing else might do so.
    private func askOnce<Answer>(
        _ body: (inout Connection) throws(LedgerError) -> Answer
    ) throws(LedgerError) -> Answer {
        try looking.change(wake: .none) { link throws(LedgerError) in
            if known.impediment != nil { link.leave() }
            return try link.settled(body)
        }
    }

    /// What prevents writes of rows that do not follow from the log: wrong clocks, or a wait that
    /// would occupy a connection and a server session.
    var barrier: Impediment? { clocks.database.impediment ?? condition.barrier }

    func requireWritable() throws(Fault) {
        if let barrier { throw .impeded(barrier) }
    }

    /// What prevents normal use of the database; empty if nothing does.
    package var impediments: [Impediment] {
        [known.impediment, clocks.database.impediment].compactMap(\.self) + condition.impediments
    }
}

/// The last check that reads had to wait for.
struct Certainty: Sendable {
    var began: Int64 = 0
    var fault: Fault?
}

/// Whether the server has remained silent since its last answer.
final class Hanging: Sendable {
    private let state = Monitor(false)

    /// Records that the server has gone silent. Returns true if it was not already marked silent.
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
            isNoted: rows.bool(0, 6), demand: LogDemand(rows, 0, from: 7))
    }
}

extension Connection {
    /// Returns whether a megabyte can be written to the disk that holds the data. The space is freed immediately.
    fileprivate mutating func hasRoom() throws(LedgerError) -> Bool {
        do throws(LedgerError) {
            try execute([Statement.begin(), Statement.tryRoom(), Statement.rollback()])
            return true
        } catch {
            guard case .postgres(let reason) = error, reason.kind == .statement else { throw error }
            // If the login lacks the right to try this, the next write will show whether there is
            // space.
            return !reason.isLackOfRoom
        }
    }
}
