package import Core
import Postgres
import SQL

/// What a look at the database takes.
extension Ledger {
    /// Looks how the database is; where its test clock stands, if it has one.
    package func look() throws(Fault) -> Instant? {
        do throws(LedgerError) {
            let (beginning, found) = try looking.settled { connection throws(LedgerError) in
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
            throw error.fault
        }
    }

    /// Throws where instants that are written would be wrong.
    func requireRightClock() throws(Fault) {
        if let impediment = clocks.database.impediment { throw .impeded(impediment) }
    }

    /// What keeps the database from being worked with as usual; empty when nothing does.
    package var impediments: [Impediment] {
        [clocks.database.impediment].compactMap(\.self) + condition.impediments
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
    /// Whether a megabyte can be written where the data are. It is given back at once.
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
