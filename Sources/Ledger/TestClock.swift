package import Core
package import Postgres
import SQL

/// A database's test clock, which all instances share.
package final class TestClockTable: Sendable {
    private let pool: Pool

    package init(_ settings: ConnectionSettings) {
        pool = Pool(settings, size: 1)
    }

    /// Returns the clock's time; `nil` if there is none.
    package func read() throws(LedgerError) -> Instant? {
        try first(Statement.readTestClock()).map(Instant.init(milliseconds:))
    }

    /// Returns the clock's time. The fault says only that the time cannot be read.
    package func instant() throws(Fault) -> Instant? {
        try faulting { () throws(LedgerError) in try read() }
    }

    /// Gives the database a test clock that starts at `now`, unless it already has one. This needs
    /// the owner's login. A database with production data refuses.
    package func mark(at now: Instant) throws(LedgerError) {
        _ = try first(Statement.markTestClock(.int8(now.milliseconds)))
    }

    /// Moves the clock forward to `target`. If `from` is given, the clock moves only if it shows
    /// that time. Returns false if it did not move.
    package func move(to target: Instant, from: Instant?) throws(Fault) -> Bool {
        let call = Statement.moveTestClock(
            .int8(target.milliseconds), .int8(from?.milliseconds))
        // A clock that already shows the target may have been moved by another caller, who also counts a duration from
        // `from`.
        return try faulting { () throws(LedgerError) in
            try first(call, isRepeatable: from == nil) != nil
        }
    }

    /// Returns the first instant after this one at which access changes or work becomes due without any call.
    package func nextDue(after instant: Instant) throws(Fault) -> Instant? {
        try faulting { () throws(LedgerError) in
            try first(Statement.findNextDue(.int8(instant.milliseconds)))
                .map(Instant.init(milliseconds:))
        }
    }

    private func first(_ call: Call, isRepeatable: Bool = true) throws(LedgerError) -> Int64? {
        try pool.settled(isRepeatable: isRepeatable) { connection throws(LedgerError) in
            try connection.list(call) { rows, row in rows.optionalInt8(row, 0) }.first ?? nil
        }
    }
}

extension Ledger {
    /// Returns the time of the database's test clock; `nil` if it has none.
    package func testClock() throws(Fault) -> Instant? {
        try list(Statement.readTestClock(), over: watching) { rows, row in
            Instant(milliseconds: rows.int8(row, 0))
        }.first
    }
}
