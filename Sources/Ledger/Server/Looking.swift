package import Core
import Postgres
import SQL
import Threading

/// What a look at the database takes.
extension Ledger {
    /// How many milliseconds pass before the one address of a server to which writes fail is tried again.
    private static let addressPause: Int64 = 1000

    /// Looks how the database is, and has connections given up to a server that hangs; where its test clock
    /// stands, if it has one.
    package func look() throws(Fault) -> Instant? {
        do throws(LedgerError) {
            return try lookTwice()
        } catch {
            throw error.fault
        }
    }

    /// A session that is silent may be one of a slow server, of which the others are still of use. A new
    /// session tells: a slow server answers it, if only with a refusal, a server that hangs does not, and
    /// where it meets another server, that greeting has the others given up.
    private func lookTwice() throws(LedgerError) -> Instant? {
        do throws(LedgerError) {
            return try lookOnce()
        } catch {
            guard case .postgres(let reason) = error, reason.isSilence else { throw error }
        }
        do throws(LedgerError) {
            let found = try lookOnce()
            // A server that hides which one it is may be another one.
            if !known.isServerKnown { pulse.lose() }
            return found
        } catch {
            // Once: connections that were made since belong to a server that is slow at worst.
            if case .postgres(let reason) = error, !reason.isAnswer, hanging.begins() {
                pulse.lose()
            }
            throw error
        }
    }

    /// Throws where it cannot be told that what is read now is of the server that others write to: one that
    /// stood still while a standby was promoted answers as before until that is noticed.
    package func requireCertainty() throws(Fault) {
        if !condition.dependsOnStandby { return }
        let asked = monotonicMicroseconds()
        let fault = certainty.change(wake: .none) { last in
            // A look that began since then is as good as one of its own.
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

    /// While writes fail the other addresses are looked at, too: a new session is made to the server that was
    /// promoted last, and where that is another one, the sessions with this one are given up. One address may
    /// lead to another server as well, and is tried less often.
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

    /// Not a second time where nothing is answered: that would be known later. After a server was refused the
    /// way to the database is tried anew, since nothing else may happen to connect.
    private func askOnce<Answer>(
        _ body: (inout Connection) throws(LedgerError) -> Answer
    ) throws(LedgerError) -> Answer {
        try looking.change(wake: .none) { link throws(LedgerError) in
            if known.impediment != nil { link.leave() }
            return try link.settled(body)
        }
    }

    /// What a write of rows that do not follow from the log would run into: instants that are wrong, or a wait that keeps a
    /// connection and a session of the server.
    var barrier: Impediment? { clocks.database.impediment ?? condition.barrier }

    func requireWritable() throws(Fault) {
        if let barrier { throw .impeded(barrier) }
    }

    /// What keeps the database from being worked with as usual; empty when nothing does.
    package var impediments: [Impediment] {
        [known.impediment, clocks.database.impediment].compactMap(\.self) + condition.impediments
    }
}

/// What came of the last look for which reads waited.
struct Certainty: Sendable {
    var began: Int64 = 0
    var fault: Fault?
}

/// Whether the server has said nothing since a look at it was answered last.
final class Hanging: Sendable {
    private let state = Monitor(false)

    /// Whether it is news.
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
    /// Whether a megabyte can be written where the data are. It is given back immediately.
    fileprivate mutating func hasRoom() throws(LedgerError) -> Bool {
        do throws(LedgerError) {
            try execute([Statement.begin(), Statement.tryRoom(), Statement.rollback()])
            return true
        } catch {
            guard case .postgres(let reason) = error, reason.kind == .statement else { throw error }
            // Where the login may not try, the next write tells.
            return !reason.isLackOfRoom
        }
    }
}
