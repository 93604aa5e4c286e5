import Core
import Postgres
import SQL

extension Connection {
    /// Begins a transaction, locks the shards of the candidates' streams, and loads everything that their decisions are
    /// known to need, in one round trip. `pace` limits the wait. A stream is excluded if the cache lacks `limit` or
    /// more of its events.
    mutating func lockAndLoad(
        _ candidates: [Candidate], cache: StateCache, _ clocks: Clocks, _ pace: [Call],
        limit: Int?
    ) throws(LedgerError) -> Batch {
        var written = Set(candidates.map(\.command.stream))
        for candidate in candidates { written.formUnion(candidate.others) }
        let wanted = Wanted(candidates, cache)
        var loaded = try lockAndLoad(
            written, wanted, cache: cache, clocks, pace, limit: limit)
        for candidate in candidates {
            guard let replay = candidate.replay else { continue }
            loaded.batch.load(loaded.replayed[replay] ?? [], of: replay)
        }
        return loaded.batch
    }

    private mutating func lockAndLoad(
        _ written: Set<Stream>, _ wanted: Wanted, cache: StateCache, _ clocks: Clocks,
        _ pace: [Call], limit: Int?
    ) throws(LedgerError) -> Loaded {
        let askedAt = clocks.database.begin()
        // The catalog is only read, so its shard is not locked.
        let streams = Array(written.union(written.map { .ofProject($0.project) }))
        let shards = Set(written.map(\.shard)).sorted()
        let seenHeads = cache.seenHeads
        let known = streams.map { cache[$0] ?? Fold(emptyFor: $0) }
        var rows = LoadedRows()
        let steps = wanted.steps(seenHeads: seenHeads)
        let beginning = [Statement.begin()] + pace
        let calls = [
            Statement.lockShards(
                .int2s(shards.map(\.number)), .int8s(shards.map { seenHeads[Int($0.number)] })),
            // This statement sees everything that was committed before the last shard was locked.
            Statement.readFormat(),
            Statement.loadStreams(
                of: streams, after: known.map(\.version), seenHeads: seenHeads, limit: limit),
        ]
        try read(beginning + calls + steps.map(\.call)) { index, found throws(LedgerError) in
            for row in 0..<found.count {
                switch index - beginning.count {
                case ..<0: break
                case 0: rows.takeHead(found, row)
                case 1: rows.demand = LogDemand(found, row)
                case 2: rows.newer.append(try EventRow(found, row))
                case let place:
                    let kind = steps[place - calls.count].kind
                    if kind == .causes {
                        rows.takeCause(found, row, of: wanted.causes)
                    } else {
                        try rows.take(found, row, of: kind)
                    }
                }
            }
        }
        let format = try rows.knownFormat()
        if let shown = rows.shownAt { clocks.database.compare(shown, since: askedAt) }
        try clocks.database.requireNearness()
        // A shard that ends before a known position is not among the results.
        let heads = shards.map { ($0, rows.heads[$0]?.sequence ?? -1) }
        try cache.observe(heads, askedAfter: seenHeads)
        var batch = Batch(
            now: clocks.now(), heads: rows.heads, holders: Holders(asking: wanted.holders),
            format: format)
        for (stream, fold) in zip(streams, known) { batch.load(fold, of: stream) }
        let versions = Dictionary(uniqueKeysWithValues: zip(streams, known.map(\.version)))
        for stream in rows.late(versions, limit) { batch.leaveBehind(stream) }
        batch.earlierCauses.load(wanted.causes, rows.causes)
        for row in rows.newer { batch.load(row) }
        batch.examine(streams)
        try supply(&batch, cache.catalogs)
        for (key, customer) in rows.holders { batch.load(customer, holding: key) }
        for (token, customer) in rows.tokenOwners { batch.load(customer, owning: token) }
        for (token, purchase) in rows.waiting { batch.load(purchase, waitingUnder: token) }
        for (token, purchase) in rows.carried { batch.load(purchase, carrying: token) }
        for (mark, customer) in rows.erased { batch.load(customer, erasing: mark) }
        for (stream, credit) in rows.credits { batch.load(credit, of: stream) }
        batch.noteLook(at: wanted.tokens)
        return Loaded(batch: batch, replayed: try rows.replayed(for: wanted.replays))
    }

    /// Adds the current catalogs, and the earlier ones that are in memory and may be needed.
    private mutating func supply(
        _ batch: inout Batch, _ cache: CatalogCache
    ) throws(LedgerError) {
        let lacked = try lackedCatalogs(
            of: batch.folds.lazy.map { ($0.key, $0.value.state) }, cache)
        for (stream, catalog) in lacked {
            switch catalog {
            case .success(let catalog): batch.supply(catalog, to: stream)
            case .failure(let error): batch.exclude(stream, because: error)
            }
        }
        batch.recallPast(from: cache)
    }
}

/// The clock that supplies the instants to record, with a check of whether they are safe to record.
struct Clocks: Sendable {
    let now: @Sendable () -> Instant
    let database: DatabaseClock
}

private struct Loaded {
    var batch: Batch
    let replayed: [Replay: [RecordedEvent]]
}

/// The data besides streams that commands need. Most commands need none and cause no query.
private struct Wanted {
    enum Kind { case causes, holders, erased, tokenOwners, waiting, carried, credits, replays }
    /// Causes that may be in the log but not in memory.
    private(set) var causes: [AskedCause] = []
    /// The versions at which the causes' streams were last erased.
    private var erasures: [Int64] = []
    var holders: Set<HolderKey> = []
    var tokens: Set<TokenKey> = []
    var claims: Set<TokenClaim> = []
    var settling: [Stream] = []
    var replays: Set<Replay> = []

    init(_ candidates: [Candidate], _ cache: StateCache) {
        for candidate in candidates {
            ask(about: candidate, cache[candidate.command.stream])
            holders.formUnion(candidate.holderKeys)
            let stream = candidate.command.stream
            tokens.formUnion(candidate.tokenKeys)
            claims.formUnion(
                candidate.claimedKeys.map { TokenClaim(token: $0, claimant: stream.customer) })
            if candidate.command.settlesCredits { settling.append(stream) }
            if let replay = candidate.replay { replays.insert(replay) }
        }
    }

    private mutating func ask(about candidate: Candidate, _ fold: Fold?) {
        let command = candidate.command
        if command.cause.isUpkeep { return }
        if fold?.causes.base ?? 0 == 0, !candidate.asksCause { return }
        // Newer events may displace a cause from memory. The decision then requests a search of the log.
        if !candidate.asksCause, fold?.obeyed(command.cause) != nil { return }
        for cause in [command.cause] + command.akin {
            causes.append(AskedCause(cause, in: command.stream))
            erasures.append(fold?.state.customer?.erasedAt ?? 0)
        }
    }

    func steps(seenHeads: [Int64]) -> [(kind: Kind, call: Call)] {
        var steps: [(kind: Kind, call: Call)] = []
        if !causes.isEmpty {
            let call = AskedCause.lookUp(causes, erasedAt: erasures, seenHeads: seenHeads)
            steps.append((.causes, call))
        }
        if !holders.isEmpty {
            steps.append((.holders, Holders.lookUp(holders)))
            // Erased purchases are looked up after the holders, so that an erasure that removed a holder is noticed.
            steps.append((.erased, MarkKey.lookUp(holders)))
        }
        if !tokens.isEmpty { steps.append((.tokenOwners, TokenKey.lookUp(tokens))) }
        if !claims.isEmpty {
            steps.append((.waiting, TokenKey.lookUpWaiting(Set(claims.map(\.token)))))
            steps.append((.carried, TokenClaim.lookUpCarried(claims)))
        }
        if !settling.isEmpty {
            steps.append(
                (.credits, Call(statement: .loadWaitingCredits, binds: streamColumns(settling))))
        }
        if !replays.isEmpty { steps.append((.replays, Replay.load(replays))) }
        return steps
    }
}

/// The rows that the database returned, decoded.
private struct LoadedRows {
    var heads: [Shard: ShardHead] = [:]
    var demand: LogDemand?
    var newer: [EventRow] = []
    var holders: [HolderKey: CustomerID] = [:]
    var tokenOwners: [TokenKey: CustomerID] = [:]
    var erased: [(MarkKey, CustomerID)] = []
    var waiting: [(TokenKey, HeldPurchase)] = []
    var carried: [(TokenKey, HeldPurchase)] = []
    var credits: [(Stream, WaitingCredit)] = []
    /// The database's time after the last shard was locked.
    private(set) var shownAt: Instant?
    private(set) var causes: [(place: Int, obeyed: ObeyedCause)] = []
    private var earlier: [EventRow] = []

    /// Returns the log's format. Throws if the format is unknown to this program.
    func knownFormat() throws(LedgerError) -> LogFormat {
        guard let demand else { throw .unreadable("the log's format") }
        if let impediment = demand.impediment { throw .impeded(impediment) }
        return demand.format
    }

    /// Returns streams of which only the last new event was loaded, because the limit was reached.
    func late(_ known: [Stream: Int64], _ limit: Int?) -> [Stream] {
        guard let limit else { return [] }
        return newer.filter { $0.version - (known[$0.stream] ?? 0) >= limit }.map(\.stream)
    }

    mutating func takeCause(_ rows: borrowing Rows, _ row: Int, of causes: [AskedCause]) {
        let place = Int(rows.int8(row, 0)) - 1
        self.causes.append((place, ObeyedCause(rows, row, of: causes[place])))
    }

    mutating func takeHead(_ rows: borrowing Rows, _ row: Int) {
        shownAt = Instant(milliseconds: rows.int8(row, 4))
        heads[Shard(number: rows.int2(row, 0))] = ShardHead(
            sequence: rows.int8(row, 1), chain: rows.bytes(row, 2),
            recordedAt: Instant(milliseconds: rows.int8(row, 3)))
    }

    mutating func take(
        _ rows: borrowing Rows, _ row: Int, of kind: Wanted.Kind
    ) throws(LedgerError) {
        switch kind {
        case .causes: break
        case .holders: holders[try Holders.key(rows, row)] = try rows.identifier(row, 5)
        case .erased: erased.append((try MarkKey(rows, row), try rows.identifier(row, 3)))
        case .tokenOwners: tokenOwners[try TokenKey(rows, row)] = try rows.identifier(row, 3)
        case .waiting:
            waiting.append((try TokenKey(rows, row), try HeldPurchase(waiting: rows, row)))
        case .carried:
            carried.append((try TokenKey(rows, row), try HeldPurchase(waiting: rows, row)))
        case .credits:
            let stream = try Stream(
                project: rows.text(row, 0), environment: rows.text(row, 1),
                customer: rows.text(row, 2))
            credits.append((stream, try WaitingCredit(rows, row)))
        case .replays: earlier.append(try EventRow(rows, row))
        }
    }

    func replayed(
        for replays: Set<Replay>
    ) throws(LedgerError) -> [Replay: [RecordedEvent]] {
        var replayed: [Replay: [RecordedEvent]] = [:]
        for row in earlier {
            let recorded = try row.recorded()
            for replay in replays
            where replay.stream == row.stream && (replay.first...replay.last).contains(row.version)
            {
                replayed[replay, default: []].append(recorded)
            }
        }
        return replayed
    }
}

extension Statement {
    static func loadStreams(
        of streams: [Stream], after versions: [Int64], seenHeads: [Int64], limit: Int?
    ) -> Call {
        let seen = streams.map { seenHeads[Int($0.shard.number)] }
        return Call(
            statement: loadStreams,
            binds: streamColumns(streams)
                + [.int8s(versions), .int8s(seen), .int8(limit.map(Int64.init))])
    }
}

extension Replay {
    fileprivate static func load(_ replays: Set<Replay>) -> Call {
        let replays = Array(replays)
        let versions: [Bind] = [.int8s(replays.map(\.first)), .int8s(replays.map(\.last))]
        return Call(
            statement: .loadVersions, binds: streamColumns(replays.map(\.stream)) + versions)
    }
}

extension TokenKey {
    static func lookUp(_ tokens: Set<TokenKey>) -> Call {
        let tokens = Array(tokens)
        return Statement.loadTokens(
            .texts(tokens.map(\.project.text)), .texts(tokens.map(\.environment.rawValue)),
            .texts(tokens.map(\.token)))
    }

    fileprivate static func lookUpWaiting(_ tokens: Set<TokenKey>) -> Call {
        let tokens = Array(tokens)
        return Statement.loadUnclaimed(
            .texts(tokens.map(\.project.text)), .texts(tokens.map(\.environment.rawValue)),
            .texts(tokens.map(\.token)), .int8(Int64(Situation.claimLimit + 1)))
    }

    /// Reads a row of `load_tokens`, `load_unclaimed` or `load_carried`.
    init(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        guard let environment = Environment(rawValue: rows.text(row, 1)) else {
            throw .unreadable("the environment of a token")
        }
        project = try rows.identifier(row, 0)
        self.environment = environment
        token = rows.text(row, 2)
    }
}

extension TokenClaim {
    fileprivate static func lookUpCarried(_ claims: Set<TokenClaim>) -> Call {
        let claims = Array(claims)
        return Statement.loadCarried(
            .texts(claims.map(\.token.project.text)),
            .texts(claims.map(\.token.environment.rawValue)), .texts(claims.map(\.token.token)),
            .texts(claims.map(\.claimant.text)), .int8(Int64(Situation.claimLimit + 1)))
    }
}

extension WaitingCredit {
    /// Reads a row of `load_waiting_credits`.
    fileprivate init(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        guard let store = Store(rawValue: rows.text(row, 3)) else {
            throw .unreadable("the store of a credit that waits")
        }
        self.init(
            purchase: PurchaseID(store: store, original: try rows.identifier(row, 4)),
            transaction: try rows.identifier(row, 5), product: try rows.identifier(row, 6))
    }
}

extension HeldPurchase {
    /// Reads a row of `load_unclaimed` or `load_carried`.
    fileprivate init(waiting rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        guard let store = Store(rawValue: rows.text(row, 3)) else {
            throw .unreadable("the store of a purchase that no customer claimed")
        }
        self.init(
            app: try rows.identifier(row, 5),
            purchase: PurchaseID(store: store, original: try rows.identifier(row, 4)))
    }
}
