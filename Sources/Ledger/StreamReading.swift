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
                    heads.take(rows.int8(row, 1), of: Shard(number: rows.int2(row, 0)))
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

/// Where shards end: a few of them, each once.
struct LoadedHeads {
    private var ends: [(shard: Shard, told: Int64, seen: Int64)] = []

    /// Where the shard ended before its streams were read: what answers may claim.
    subscript(shard: Shard) -> Int64 { ends.first { $0.shard == shard }?.told ?? 0 }

    /// As far as anything was seen of the shards.
    var seen: [(shard: Shard, sequence: Int64)] { ends.map { ($0.shard, $0.seen) } }

    fileprivate mutating func take(_ head: Int64, of shard: Shard) {
        ends.append((shard, told: head, seen: head))
    }

    fileprivate mutating func take(_ position: Position) {
        guard let place = ends.firstIndex(where: { $0.shard == position.shard }) else { return }
        ends[place].seen = max(ends[place].seen, position.sequence)
    }
}
