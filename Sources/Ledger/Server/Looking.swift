package import Core
import Postgres
import SQL
import Threading

/// What a look at the database takes.
extension Ledger {
    /// Looks how the database is, and has connections given up to a server that says nothing; where its test clock stands, if it has one.
    package func look() throws(Fault) -> Instant? {
        do throws(LedgerError) {
            let (beginning, found) = try askOnce { connection throws(LedgerError) in
                let beginning = clocks.database.begin()
                var found: (testClock: Instant?, shown: Instant, look: DatabaseLook)?
                try connection.read([Statement.lookAtServer()]) { _, rows in
                    found = (
                        rows.optionalInt8(0, 0).map(Instant.init(milliseconds:)),
                        Instant(milliseconds: rows.int8(0, 1)), DatabaseLook(rows)
                    )
                }
                if condition.isFull, try connection.hasRoom() { condition.noteRoom() }
                return (beginning, found)
            }
            guard let found else { return nil }
            clocks.database.compare(found.shown, since: beginning)
            condition.note(found.look)
            return found.testClock
        } catch {
            if case .postgres(let reason) = error, reason.isSilence { pulse.lose() }
            throw error.fault
        }
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

    /// What a write past the committers would run into: instants that are wrong, or a wait that keeps a
    /// connection and a session of the server.
    var barrier: Impediment? { clocks.database.impediment ?? condition.barrier }

    func requireWritable() throws(Fault) {
        if let barrier { throw .impeded(barrier) }
    }

    /// Runs `body`, which writes past the committers and may be done twice.
    func writing(
        _ body: (inout Connection) throws(LedgerError) -> Void
    ) throws(LedgerError) {
        if let barrier { throw .impeded(barrier) }
        try pool.settled(body)
    }

    /// What keeps the database from being worked with as usual; empty when nothing does.
    package var impediments: [Impediment] {
        [known.impediment, clocks.database.impediment].compactMap(\.self) + condition.impediments
    }
}

extension DatabaseLook {
    /// Reads the row of `look_at_server`.
    fileprivate init(_ rows: borrowing Rows) {
        self.init(
            isReadOnly: rows.bool(0, 2), standbysNeeded: rows.int8(0, 3),
            standbysPresent: rows.int8(0, 4), waitingCommits: rows.int8(0, 5))
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
