package import Core
package import Following
import Postgres
import SQL

/// A durable place in each shard of the log, for those who must miss nothing of it.
package struct LogCursor: Sendable {
    /// Where a cursor begins that is not there yet.
    package enum Start: Sendable {
        case beginning
        case end
    }
    /// Does whatever has to be done about what follows.
    package typealias Taking = @Sendable ([ShardChange]) throws(Fault) -> Void
    package let name: String
    package let start: Start

    package init(_ name: String, from start: Start) {
        self.name = name
        self.start = start
    }
}

extension Ledger {
    /// Hands over what follows on the cursor, each shard in its order, and moves the cursor when all of
    /// that is done. What a process took that died before that, or whose lease had run out, is handed over
    /// again. True when there is more.
    package func read(
        by cursor: LogCursor, under lease: Lease,
        _ take: ([ShardChange]) throws(Fault) -> Void
    ) throws(Fault) -> Bool {
        let known = try places(of: cursor)
        if known.isEmpty { return false }
        var look = LogLook()
        _ = try list(LogLook.call(behind: known), over: watching) { rows, row throws(LedgerError) in
            try look.add(rows, row)
        }
        // Of a log that was put back to an earlier state, what comes next is new.
        let shrunk = look.stretches.values.filter(\.isShrunk)
        let grown = look.stretches.values.filter { !$0.isShrunk && !$0.isEmpty }
        let changes = grown.map(\.change).sorted { $0.shard < $1.shard }
        let ends =
            changes.map { Position(shard: $0.shard, sequence: $0.positions.upperBound) }
            + shrunk.map { Position(shard: $0.known.shard, sequence: $0.head) }
        if ends.isEmpty { return false }
        // First: what was done while the cursor cannot be moved would be handed over again.
        try requireWritable()
        if !changes.isEmpty { try take(changes) }
        return try move(cursor, to: ends, under: lease) && !grown.allSatisfy(\.isComplete)
    }

    /// Lets go of it: its name begins anew. False when there is none.
    package func forgetCursor(_ name: String) throws(Fault) -> Bool {
        try requireWritable()
        return try !list(Statement.forgetCursor(.text(name)), over: watching) { _, _ in () }.isEmpty
    }

    /// Where it is, or begins; none while another instance has just begun it.
    private func places(of cursor: LogCursor) throws(Fault) -> Set<Position> {
        func place(_ rows: borrowing Rows, _ row: Int) -> Position {
            Position(shard: Shard(number: rows.int2(row, 0)), sequence: rows.int8(row, 1))
        }
        let found = try list(Statement.readCursor(.text(cursor.name)), over: watching, place)
        if !found.isEmpty { return Set(found) }
        try requireWritable()
        let call = Statement.openCursor(.text(cursor.name), .bool(cursor.start == .end))
        return Set(try list(call, over: watching, place))
    }

    /// False when the lease was taken over, or the cursor is gone.
    private func move(
        _ cursor: LogCursor, to places: [Position], under lease: Lease
    ) throws(Fault) -> Bool {
        try requireWritable()
        let call = Statement.moveCursor(
            .text(cursor.name), .int2s(places.map(\.shard.number)),
            .int8s(places.map(\.sequence)), .text(lease.name), .int8(lease.fence))
        return try list(call, over: watching) { _, _ in () }.count == places.count
    }
}
