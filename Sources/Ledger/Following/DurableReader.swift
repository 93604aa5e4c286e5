package import Core
package import Following
import Postgres
import SQL

/// A reader that stores its place in the log under a name, so that it does not miss any events.
package struct DurableReader: Sendable {
    /// Where a reader with a new name begins.
    package enum Start: Sendable {
        case beginning
        case end
    }
    /// Processes the events that follow the reader's place.
    package typealias Taking = @Sendable ([Stretch]) throws(Fault) -> Void
    package let name: String
    let start: Start
    let interest: Interest

    package init(_ name: String, from start: Start, _ interest: Interest = Interest()) {
        self.name = name
        self.start = start
        self.interest = interest
    }
}

extension Ledger {
    /// Passes on the events after the reader's place, each shard in order, and moves the place once
    /// all of them are processed. If the process dies before that, or its lease expires, the same
    /// events are passed on again. Returns true if more events follow.
    package func read(
        by reader: DurableReader, under lease: Lease,
        _ take: ([Stretch]) throws(Fault) -> Void
    ) throws(Fault) -> Bool {
        var look = LogLook([(reader.interest, try place(of: reader))])
        try faulting { () throws(LedgerError) in
            try watching.settled { connection throws(LedgerError) in try look.ask(&connection) }
        }
        look.note(in: unread)
        let news = look.news[0]
        let new = news.filter { !$0.events.isEmpty }
        // After a restore to an earlier state, the next events in the log are new ones. A page
        // without readable events has an empty list.
        let passed =
            new + news.filter { $0.end < $0.start || $0.events.isEmpty && !$0.isComplete }
        if passed.isEmpty { return false }
        // This check comes first: if the place cannot move, processed events would be passed on again.
        try requireWritable()
        if !new.isEmpty { try take(new) }
        return try move(reader, over: passed, under: lease) && !news.allSatisfy(\.isComplete)
    }

    /// Returns the reader's place, or creates it where the reader starts; empty if another instance has just created it.
    private func place(of reader: DurableReader) throws(Fault) -> [Position] {
        func place(_ rows: borrowing Rows, _ row: Int) -> Position {
            Position(shard: Shard(number: rows.int2(row, 0)), sequence: rows.int8(row, 1))
        }
        let found = try list(Statement.readCursor(.text(reader.name)), over: watching, place)
        if !found.isEmpty { return found }
        try requireWritable()
        let call = Statement.openCursor(.text(reader.name), .bool(reader.start == .end))
        return try list(call, over: watching, place)
    }

    /// Returns false if the lease was taken over or the place no longer exists.
    private func move(
        _ reader: DurableReader, over stretches: [Stretch], under lease: Lease
    ) throws(Fault) -> Bool {
        try requireWritable()
        let call = Statement.moveCursor(
            .text(reader.name), .int2s(stretches.map(\.shard.number)),
            .int8s(stretches.map(\.end)), .text(lease.name), .int8(lease.fence))
        return try list(call, over: watching) { _, _ in () }.count == stretches.count
    }
}
