package import Core
package import Postgres
import SQL

/// An instance, according to its row in the database.
package struct SeenInstance: Sendable {
    package let name: String
    /// How many milliseconds ago the instance started, according to PostgreSQL's clock.
    package let startedAgo: Int64
    package let seenAgo: Int64
    /// The JSON that the instance wrote.
    package let says: String
}

/// When an operator's task was last done, and its report in JSON.
package struct LastDone: Sendable {
    package let what: String
    package let doneAt: Instant
    package let ago: Int64
    package let says: String

    fileprivate init(_ rows: borrowing Rows, _ row: Int) {
        what = rows.text(row, 0)
        doneAt = Instant(milliseconds: rows.int8(row, 1))
        ago = rows.int8(row, 2)
        says = rows.text(row, 3)
    }
}

/// A table, or one of its indexes, as stored in the database.
package struct StoredRelation: Sendable {
    package let table: String
    /// `nil` for the table itself.
    package let index: String?
    package let bytes: Int64
    /// The row count that PostgreSQL last estimated; `nil` before the first estimate.
    package let rows: Int64?
}

/// The operator's view of a database and its instances.
extension Ledger {
    /// Shows other processes that this instance is alive. Does not wait for standbys, because the
    /// next call replaces a lost row.
    package func noteInstance(
        _ name: String, startedAgo: Int64, says: String
    ) throws(Fault) {
        try sendBeside(Statement.noteInstance(.text(name), .int8(startedAgo), .text(says)))
    }

    package func forgetInstance(_ name: String) throws(Fault) {
        try sendBeside(Statement.forgetInstance(.text(name)))
    }

    /// Records that the task has just been done.
    package func note(done what: String, says: String) throws(Fault) {
        try sendBeside(Statement.noteDone(.text(what), .text(says)))
    }

    /// Returns the last record of an operator's task; `nil` if the task was never done.
    package func lastDone(_ what: String) throws(Fault) -> LastDone? {
        try allDone().first { $0.what == what }
    }

    package func allDone() throws(Fault) -> [LastDone] {
        try list(Statement.listDone(), over: watching) { rows, row in LastDone(rows, row) }
    }

    package func noteNames() throws(Fault) -> Set<String> { Set(try allDone().map(\.what)) }

    package func storageBytes() throws(Fault) -> Int64 {
        try list(Statement.measureStorage(), over: watching) { rows, row in rows.int8(row, 0) }
            .first ?? 0
    }

    func sendBeside(_ call: Call) throws(Fault) {
        try send(
            [
                Statement.begin(), ConnectionSettings.losableTransaction(), call,
                Statement.commit(),
            ], over: watching)
    }

    /// The streams and rows that this process was recently unable to read.
    package var unreadStreams: [(subject: UnreadSubject, reason: String)] { unread.list }
}

/// The data that commands read and write without the service.
package struct OperatorsView: ~Copyable {
    var link: Link

    package init(_ settings: ConnectionSettings) { link = Link(settings) }

    package mutating func instances() throws(LedgerError) -> [SeenInstance] {
        try link.list(Statement.listInstances()) { rows, row in
            SeenInstance(
                name: rows.text(row, 0), startedAgo: rows.int8(row, 1),
                seenAgo: rows.int8(row, 2), says: rows.text(row, 3))
        }
    }

    package mutating func done() throws(LedgerError) -> [LastDone] {
        try link.list(Statement.listDone()) { rows, row in LastDone(rows, row) }
    }

    /// Returns when each shared job last ran, according to Deed's clock.
    package mutating func jobs() throws(LedgerError) -> [(name: String, ranAt: Instant)] {
        try link.list(Statement.listLeases()) { rows, row in
            (rows.text(row, 0), Instant(milliseconds: rows.int8(row, 1)))
        }
    }

    /// Returns the database's size, and its server's data folder if the login is allowed to see it.
    package mutating func storage() throws(LedgerError) -> (bytes: Int64, folder: String?) {
        try link.list(Statement.measureStorage()) { rows, row in
            (rows.int8(row, 0), rows.optionalText(row, 1))
        }.first ?? (0, nil)
    }

    /// Returns the size of each table and index.
    package mutating func stored() throws(LedgerError) -> [StoredRelation] {
        try link.list(Statement.listStorage()) { rows, row in
            StoredRelation(
                table: rows.text(row, 0), index: rows.optionalText(row, 1),
                bytes: rows.int8(row, 2), rows: rows.optionalInt8(row, 3))
        }
    }

    /// Kinds of store calls that have used up their budget or are paused at the store's request,
    /// with the remaining milliseconds.
    package mutating func budgets(
        at now: Instant
    ) throws(LedgerError) -> [(place: String, usedFor: Int64, restsFor: Int64)] {
        let call = Statement.countBudgets(.int8(now.milliseconds * 1000))
        return try link.list(call) { rows, row in
            let place = (0..<5).map { rows.text(row, $0) }.joined(separator: " ")
            return (place, rows.int8(row, 5), rows.int8(row, 6))
        }
    }

    package mutating func note(done what: String, says: String) throws(LedgerError) {
        try link.settled { connection throws(LedgerError) in
            try connection.execute([Statement.noteDone(.text(what), .text(says))])
        }
    }
}
