import Core
import Postgres
import SQL

extension Connection {
    /// Begins a transaction, locks the shards of the streams, and loads their states, those of their
    /// projects, and what the commands' causes led to before: one round trip.
    mutating func lockAndLoad(
        _ written: Set<Stream>, for commands: [Command] = [], cache: StateCache,
        _ clock: () -> Instant
    ) throws(LedgerError) -> Batch {
        // The catalog is read and not written: its shard need not be locked.
        let streams = Array(written.union(written.map { .ofProject($0.project) }))
        let shards = Set(written.map(\.shard)).sorted()
        let seenHeads = cache.seenHeads
        let known = streams.map { cache[$0] ?? StreamState(emptyFor: $0) }
        var heads: [Shard: ShardHead] = [:]
        var newer: [EventRow] = []
        var earlier: [EventRow] = []
        try read([
            Statement.begin(),
            Statement.lockShards(.int2s(shards.map(\.number))),
            Statement.loadStreams(of: streams, after: known.map(\.version)),
            Statement.loadCauses(of: commands),
        ]) { index, rows throws(LedgerError) in
            for row in 0..<rows.count {
                switch index {
                case 1:
                    let shard = Shard(number: rows.int2(row, 0))
                    heads[shard] = ShardHead(
                        sequence: rows.int8(row, 1), chain: rows.bytes(row, 2),
                        recordedAt: Instant(milliseconds: rows.int8(row, 3)))
                case 2: newer.append(try EventRow(rows, row))
                case 3: earlier.append(try EventRow(rows, row))
                default: break
                }
            }
        }
        for (shard, head) in heads {
            let isThere = cache.observe(
                head: head.sequence, of: shard, askedAfter: seenHeads)
            if !isThere { throw .logShrunk }
        }
        var batch = Batch(now: clock(), heads: heads)
        for (stream, state) in zip(streams, known) { batch.load(state, of: stream) }
        for row in newer { batch.apply(try row.recorded()) }
        for row in earlier { batch.remember(try row.recorded(), causeDigest: row.causeDigest) }
        return batch
    }
}

extension Statement {
    static func loadStreams(of streams: [Stream], after versions: [Int64]) -> Call {
        loadStreams(
            .int2s(streams.map(\.shard.number)), .texts(streams.map(\.project.text)),
            .texts(streams.map(\.environment.rawValue)), .texts(streams.map(\.customer.text)),
            .int8s(versions))
    }

    /// Each pair of stream and cause once, lest its events come twice.
    fileprivate static func loadCauses(of commands: [Command]) -> Call {
        var seen = Set<CauseKey>()
        let distinct = commands.filter {
            seen.insert(CauseKey($0.stream, $0.cause.text)).inserted
        }
        let streams = distinct.map(\.stream)
        return loadCauses(
            .int2s(streams.map(\.shard.number)), .texts(streams.map(\.project.text)),
            .texts(streams.map(\.environment.rawValue)), .texts(streams.map(\.customer.text)),
            .texts(distinct.map(\.cause.text)))
    }
}
