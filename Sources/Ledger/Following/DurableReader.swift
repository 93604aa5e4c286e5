package import Core
package import Following
import Postgres
import SQL

/// Who reads the log from a place that is kept under a name, and so misses nothing of it.
package struct DurableReader: Sendable {
    /// Where it begins when its name is new.
    package enum Start: Sendable {
        case beginning
        case end
    }
    /// Handles the events that follow.
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
    /// Hands over what follows on the reader's place, each shard in its order, and moves the place when all of
    /// that is done. What a process took that died before that, or whose lease had run out, is handed over
    /// again. True when there is more.
    package func read(
        by reader: DurableReader, under lease: Lease,
        _ take: ([Stretch]) throws(Fault) -> Void
    ) throws(Fault) -> Bool {
        var look = LogLook([(reader.interest, try place(of: reader))])
        try faulting { () throws(LedgerError) in
            try watching.settled { connection throws(LedgerError) in try look.ask(&connection) }
        }
        let news = look.news[0]
        let new = news.filter { !$0.events.isEmpty }
        // Of a log that was put back to an earlier state, what comes next is new.
        let passed = new + news.filter { $0.end < $0.start }
        if passed.isEmpty { return false }
        // First: what was done while the place cannot be moved would be handed over again.
        try requireWritable()
        if !new.isEmpty { try take(new) }
        return try move(reader, over: passed, under: lease) && !news.allSatisfy(\.isComplete)
    }

    /// Lets go of its place: its name begins anew. False when there is none.
    package func forgetReader(_ name: String) throws(Fault) -> Bool {
        try requireWritable()
        return try !list(Statement.forgetCursor(.text(name)), over: watching) { _, _ in () }.isEmpty
    }

    /// Where it is, or begins; nowhere while another instance has just begun it.
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

    /// False when the lease was taken over, or the place is gone.
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
