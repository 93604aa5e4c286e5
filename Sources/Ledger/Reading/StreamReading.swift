import Core
import Postgres
import SQL

extension Connection {
    /// Returns the current folds of the streams, and the ends of their shards. Cached folds are brought up to date in
    /// one round trip and kept. Without a cached fold, folding starts from the state kept beside the log. An unreadable
    /// stream has an error in its place.
    mutating func folds(
        of streams: [Stream], cache: StateCache, known: LogGuard
    ) throws(LedgerError) -> ([Result<Fold, LedgerError>], LoadedHeads) {
        let read = try folds(of: streams, cache: cache, known: known, KeptState.number)
        if read.damaged.isEmpty { return (read.folds, read.heads) }
        for place in read.damaged { cache.keeper.noteDamage(of: streams[place]) }
        let again = try folds(of: streams, cache: cache, known: known, nil)
        return (again.folds, again.heads)
    }

    private typealias ReadFolds = (
        folds: [Result<Fold, LedgerError>], heads: LoadedHeads, damaged: [Int]
    )

    /// Starts from kept states in the format with this number. With `nil`, reads only events.
    private mutating func folds(
        of streams: [Stream], cache: StateCache, known: LogGuard, _ number: Int16?
    ) throws(LedgerError) -> ReadFolds {
        var (folds, seenHeads) = cache.folds(of: streams)
        let epoch = known.epoch
        var changed: [Int] = []
        var damaged: [Int] = []
        // A stream's events are consecutive, mostly in the order of the requested streams.
        var place = 0
        var failures: [Int: LedgerError] = [:]
        let versions = folds.map(\.version)
        let heads = try load(
            streams, after: versions, seenHeads: seenHeads, number,
            keeping: { place, state in
                guard let state else { return damaged.append(place) }
                folds[place] = Fold(kept: state)
                changed.append(place)
            }
        ) { row throws(LedgerError) in
            guard
                let found = streams[place...].firstIndex(of: row.stream)
                    ?? streams.firstIndex(of: row.stream)
            else { throw .unreadable("an event of a stream that was not requested") }
            place = found
            if failures[place] != nil || damaged.contains(place) { return }
            do throws(LedgerError) {
                let recorded = try row.recorded(after: folds[place].version)
                folds[place].apply(recorded, causeDigest: row.causeDigest)
                if changed.last != place { changed.append(place) }
            } catch {
                failures[place] = error
            }
        }
        let states = zip(streams, folds.map(\.state))
        for (stream, catalog) in try lackedCatalogs(of: states, cache.catalogs) {
            guard let place = streams.firstIndex(of: stream), failures[place] == nil else {
                continue
            }
            switch catalog {
            case .success(let catalog): folds[place].supply(catalog)
            case .failure(let error): failures[place] = error
            }
        }
        try cache.observe(heads.ends, askedAfter: seenHeads)
        known.note(heads.marks, askedIn: epoch)
        if !damaged.isEmpty { return ([], heads, damaged) }
        for place in changed where folds[place].state.lackedEdition == nil {
            let isWhole = failures[place] == nil
            cache.keep(folds[place], of: streams[place], askedIn: epoch, isWhole: isWhole)
        }
        let results = folds.enumerated().map { place, fold in
            (failures[place] ?? fold.lack).map { .failure($0) }
                ?? Result<Fold, LedgerError>.success(fold)
        }
        return (results, heads, [])
    }

    /// Passes on each stream's events after the known version, and returns where the streams'
    /// shards ended at that moment. `keeping` receives the state from which the stream with that
    /// index starts, or `nil` if that state is damaged.
    mutating func load(
        _ streams: [Stream], after versions: [Int64], seenHeads: [Int64], _ number: Int16? = nil,
        keeping: (Int, CustomerState?) -> Void = { _, _ in },
        _ take: (EventRow) throws(LedgerError) -> Void
    ) throws(LedgerError) -> LoadedHeads {
        var heads = LoadedHeads()
        let seen = streams.map { seenHeads[Int($0.shard.number)] }
        let call = Statement.readStreams(
            streams, .int8s(versions), .int8s(seen), .int2(number))
        try read([call]) { _, rows throws(LedgerError) in
            for row in 0..<rows.count {
                heads.take(rows, row)
                if let place = KeptState.place(rows, row) {
                    keeping(place, KeptState.state(rows, row, of: streams[place]))
                }
                if EventRow.isThere(in: rows, row) { try take(EventRow(rows, row)) }
            }
        }
        return heads
    }
}

/// The ends of a few shards, without duplicates.
struct LoadedHeads {
    private(set) var marks: [ShardMark] = []

    subscript(shard: Shard) -> Int64 { marks.first { $0.shard == shard }?.head ?? 0 }

    var ends: [(shard: Shard, sequence: Int64)] { marks.map { ($0.shard, $0.head) } }

    fileprivate mutating func take(_ rows: borrowing Rows, _ row: Int) {
        let head = EventRow.columnCount + 1
        // Only the first row of a stream contains the chain.
        if EventRow.isThere(in: rows, row), rows.isNull(row, head + 1) { return }
        let shard = Shard(number: rows.int2(row, EventRow.columnCount))
        if marks.contains(where: { $0.shard == shard }) { return }
        marks.append(
            ShardMark(
                shard: shard, head: rows.int8(row, head), chain: rows.bytes(row, head + 1)))
    }
}
