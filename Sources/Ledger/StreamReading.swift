import Core
import Postgres
import SQL

extension Connection {
    /// Hands over what was recorded of each stream after the version that is known, and tells where
    /// the streams' shards ended before that: what is handed over may be newer, never older.
    mutating func load(
        _ streams: [Stream], after versions: [Int64],
        _ take: (EventRow) throws(LedgerError) -> Void
    ) throws(LedgerError) -> LoadedHeads {
        let shards = Set(streams.map(\.shard)).map(\.number)
        var heads = LoadedHeads()
        try read([
            Statement.loadHeads(.int2s(shards)),
            Statement.loadStreams(of: streams, after: versions),
        ]) { index, rows throws(LedgerError) in
            for row in 0..<rows.count {
                if index == 0 {
                    heads.told[Shard(number: rows.int2(row, 0))] = rows.int8(row, 1)
                } else {
                    let row = try EventRow(rows, row)
                    heads.take(row.position)
                    try take(row)
                }
            }
        }
        return heads
    }
}

/// Where shards end.
struct LoadedHeads {
    /// Before their streams were read: what answers may claim.
    fileprivate(set) var told: [Shard: Int64] = [:]
    private var newer: [Shard: Int64] = [:]

    /// As far as anything was seen of them.
    var seen: [Shard: Int64] { told.merging(newer) { max($0, $1) } }

    fileprivate mutating func take(_ position: Position) {
        newer[position.shard] = max(newer[position.shard] ?? 0, position.sequence)
    }
}

extension StateCache {
    /// Takes in where shards end; throws when the log was longer before.
    func observe(
        _ heads: [Shard: Int64], askedAfter seenHeads: [Int64]
    ) throws(LedgerError) {
        for (shard, head) in heads {
            let isThere = observe(head: head, of: shard, askedAfter: seenHeads)
            if !isThere { throw .logShrunk }
        }
    }
}
