import Core
import Crypto
import JSON

/// A shard's end when its row was locked, and its end after this batch.
struct ShardHead {
    var sequence: Int64
    var chain: [UInt8]
    var recordedAt: Instant
}

/// An event that has been decided but not written yet.
struct NewEntry {
    let header: EventHeader
    let event: Event
    let payload: String
    let link: ChainLink

    var recorded: RecordedEvent {
        RecordedEvent(
            stream: header.stream, version: header.version, position: header.position,
            event: event, record: header.record)
    }
}

/// Decides commands one after another in memory, on streams that are locked in the database.
/// Batches are pure: the input is the loaded data, and the output is the data to write.
struct Batch {
    let now: Instant
    /// The log's format at the time its shards were locked.
    let format: LogFormat
    private(set) var heads: [Shard: ShardHead]
    private(set) var folds: [Stream: Fold] = [:]
    /// Faults in streams with unreadable events. Commands about these streams are not decided.
    private(set) var unreadable: [Stream: Fault] = [:]
    /// Streams whose latest events were not loaded.
    private var behind: Set<Stream> = []
    private(set) var holders: Holders
    private(set) var entries: [NewEntry] = []
    private(set) var evidence: [KeptEvidence] = []
    private(set) var waitingCredits = WaitingCreditRows()
    /// Purchases that wait under a token according to a row, but not according to their keeper's events.
    private(set) var strays: [StrayToken] = []
    private(set) var tokens = KnownTokens()
    /// Further changes to the tables, in the order of the decisions.
    private(set) var upkeep: [(stream: Stream, what: Upkeep)] = []
    /// The waiting credits of streams whose commands settle them.
    private(set) var credits: [Stream: [WaitingCredit]] = [:]
    /// Customers that this batch has erased, in their previous states. Later commands about these
    /// customers go into another batch.
    private(set) var erased: [Stream: CustomerState] = [:]
    /// Purchases that may never have a holder again, and the customers whose erasures are the reason.
    private var forgotten: [MarkKey: CustomerID] = [:]
    private var replayed: [Replay: [RecordedEvent]] = [:]
    var catalogs = BatchCatalogs()
    /// What the log records about causes that are not in memory.
    var earlierCauses = EarlierCauses()

    init(
        now: Instant, heads: [Shard: ShardHead], holders: Holders, format: LogFormat = .own
    ) {
        self.now = now
        self.format = format
        self.heads = heads
        self.holders = holders
    }

    /// The ends of the shards to which the batch writes.
    var marks: [ShardMark] {
        heads.map { ShardMark(shard: $0.key, head: $0.value.sequence, chain: $0.value.chain) }
    }

    /// Whether there is anything to write.
    var isEmpty: Bool {
        entries.isEmpty && evidence.isEmpty && upkeep.isEmpty && !tokens.hasForgotten
    }

    mutating func load(_ fold: Fold, of stream: Stream) {
        folds[stream] = fold
    }

    /// Applies an event that was recorded after those in the loaded fold.
    mutating func apply(_ recorded: RecordedEvent, causeDigest: [UInt8]) {
        // The fold is removed from the dictionary so that it can be changed in place.
        var fold = folds.removeValue(forKey: recorded.stream) ?? Fold(emptyFor: recorded.stream)
        fold.apply(recorded, causeDigest: causeDigest)
        folds[recorded.stream] = fold
    }

    /// Applies an event after those already loaded. An unreadable event blocks only commands about its own stream.
    mutating func load(_ row: EventRow) {
        if unreadable[row.stream] != nil || behind.contains(row.stream) { return }
        do throws(LedgerError) {
            let version = folds[row.stream]?.version ?? 0
            apply(try row.recorded(after: version), causeDigest: row.causeDigest)
        } catch {
            exclude(row.stream, because: error)
        }
    }

    mutating func supply(_ catalog: Catalog, to stream: Stream) { folds[stream]?.supply(catalog) }

    /// Blocks commands about a stream that cannot be read.
    mutating func exclude(_ stream: Stream, because error: LedgerError) {
        unreadable[stream] = error.fault
        folds[stream] = nil
    }

    /// Blocks commands about loaded streams that are incomplete.
    mutating func examine(_ streams: [Stream]) {
        for stream in streams {
            if let lack = folds[stream]?.lack { exclude(stream, because: lack) }
        }
    }

    /// Excludes a stream from decisions because it has more new events than were loaded.
    mutating func leaveBehind(_ stream: Stream) {
        behind.insert(stream)
        folds[stream] = nil
    }

    mutating func load(_ customer: CustomerID, holding key: HolderKey) {
        holders.load(customer, of: key)
    }

    mutating func load(_ customer: CustomerID, owning token: TokenKey) {
        tokens.owners[token] = customer
    }

    mutating func load(_ purchase: HeldPurchase, waitingUnder token: TokenKey) {
        tokens.add(purchase, under: token)
    }

    mutating func load(_ purchase: HeldPurchase, carrying token: TokenKey) {
        tokens.add(purchase, carrying: token)
    }

    mutating func load(_ customer: CustomerID, erasing mark: MarkKey) {
        forgotten[mark] = customer
    }

    /// If a row says that the purchase may never have a holder again, returns the customer whose erasure is the reason.
    func erasure(of purchase: PurchaseID, in stream: Stream) -> (MarkKey, CustomerID)? {
        if forgotten.isEmpty { return nil }
        let key = MarkKey(purchase, in: stream)
        return forgotten[key].map { (key, $0) }
    }

    mutating func load(_ credit: WaitingCredit, of stream: Stream) {
        credits[stream, default: []].append(credit)
    }

    /// Records the tokens whose owners were looked up.
    mutating func noteLook(at keys: Set<TokenKey>) { tokens.lookedAt = keys }

    mutating func load(_ events: [RecordedEvent], of replay: Replay) {
        replayed[replay] = events
    }

    /// Decides a command against the states that result from the previous commands.
    mutating func decide(_ candidate: Candidate) throws(Undecided) -> Outcome {
        let command = candidate.command
        let late =
            behind.isEmpty && erased.isEmpty
            ? [] : candidate.streams.filter { behind.contains($0) || erased[$0] != nil }
        if !late.isEmpty { throw .behind(Set(late)) }
        for stream in unreadable.isEmpty ? [] : candidate.streams {
            if let fault = unreadable[stream] { throw .fault(fault) }
        }
        if let events = try earlierEvents(of: command) { return outcome(of: command, events) }
        forgetErasedOwners(of: candidate)
        catalogs.read = candidate.past
        let situation = try situation(of: candidate)
        let decision = try rethrowing(as: Undecided.refused, command.decide(situation))
        let events = try append(decision, of: command)
        noteCause(of: command)
        noteStrays(of: candidate)
        tokens.noteClaim(of: candidate)
        return outcome(of: command, events, items: decision.items)
    }

    /// Removes the tokens of customers who were erased in this batch or since the rows were read.
    private mutating func forgetErasedOwners(of candidate: Candidate) {
        for key in candidate.tokenKeys {
            guard let owner = tokens.owners[key] else { continue }
            let stream = Stream(
                project: key.project, environment: key.environment, customer: owner)
            let state = folds[stream]?.state.customer
            if state?.isErased == true { tokens.owners[key] = nil }
        }
    }

    /// Records rows that make a purchase wait under a claimed token although no event does. Such a row would block the
    /// token permanently.
    private mutating func noteStrays(of candidate: Candidate) {
        for (token, waiting) in tokens.waiting(for: candidate) {
            for held in waiting {
                let stray = StrayToken(
                    token: TokenKey(token, in: candidate.command.stream), purchase: held.purchase,
                    isKept: kept(held.purchase, in: candidate.command.stream) != nil)
                guard folds[stray.keeper] != nil else { continue }
                strays.append(stray)
                tokens.remove(stray)
            }
        }
    }

    /// Returns the events of an earlier copy of the command, if one was carried out.
    private func earlierEvents(of command: Command) throws(Undecided) -> [RecordedEvent]? {
        guard let obeyed = try obeyed(command.cause, in: command.stream) else {
            try requireUnusedKey(of: command)
            return nil
        }
        if obeyed.wish != WishMark(command.cause.digest) { throw .refused(.idempotencyMismatch) }
        let replay = Replay(stream: command.stream, first: obeyed.first, last: obeyed.last)
        let events = try events(of: replay)
        if let erasedAt = folds[command.stream]?.state.customer?.erasedAt, replay.last < erasedAt,
            !events.contains(where: \.event.isErasure)
        {
            throw .refused(.erasure(.doneBeforeErasure))
        }
        return events
    }

    private func events(of replay: Replay) throws(Undecided) -> [RecordedEvent] {
        if let events = replayed[replay] { return events }
        let new = entries.lazy.filter {
            $0.header.stream == replay.stream
                && (replay.first...replay.last).contains($0.header.version)
        }
        if new.isEmpty { throw .lacking(Lack(replay: replay)) }
        return new.map(\.recorded)
    }

    /// Returns a stream's project, including this batch's changes.
    func project(of stream: Stream) -> ProjectState {
        folds[.ofProject(stream.project)]?.state.project ?? ProjectState()
    }

    private func outcome(
        of command: Command, _ events: [RecordedEvent], items: [ItemOutcome]? = nil
    ) -> Outcome {
        let shard = command.stream.shard
        return Outcome(
            events: events.filter { $0.stream == command.stream },
            state: folds[command.stream]?.state ?? StreamState(emptyFor: command.stream),
            project: project(of: command.stream),
            position: Position(shard: shard, sequence: heads[shard]?.sequence ?? 0),
            items: items ?? [], isRepetition: items == nil)
    }
}

extension Batch {
    /// Appends all events of the decision, or none.
    private mutating func append(
        _ decision: Decision, of command: Command
    ) throws(Undecided) -> [RecordedEvent] {
        let streams = decision.parts.map { part in
            (part.isElsewhere ? command.stream.inOtherEnvironment : command.stream)
                .neighbour(part.customer)
        }
        try requireFormat(of: decision.parts.lazy.flatMap(\.events))
        let changed = changed(decision, streams)
        let isOnlyPublished =
            decision.upkeep?.publishes == true && !changed.contains(command.stream)
        try requirePast(of: changed + (isOnlyPublished ? [command.stream] : []))
        let due = try changed.map { stream throws(Undecided) in try dueNotices(of: stream) }
        let dueAlone = isOnlyPublished ? try dueNotices(of: command.stream) : []
        try beginErasure(by: decision, streams)
        var holders = holders
        for (stream, part) in zip(streams, decision.parts) {
            for event in part.events { try holders.apply(event, of: stream) }
        }
        self.holders = holders
        for (stream, due) in zip(changed, due) { _ = publish(due, of: stream) }
        var counts: [Stream: Int16] = [:]
        var events: [RecordedEvent] = []
        for (stream, part) in zip(streams, decision.parts) {
            let evidence = part.restsOn.map { command.evidence[$0].digest }
            for event in part.events {
                events.append(
                    append(event, to: stream, of: command, restingOn: evidence, &counts))
                tokens.apply(event, of: stream)
                waitingCredits.add(event, of: stream, by: project(of: stream).catalog)
            }
        }
        for stream in changed {
            for event in regained(by: stream) {
                events.append(append(event, to: stream, of: command, &counts))
            }
        }
        if let what = decision.upkeep {
            upkeep.append((command.stream, what))
            events += publish(dueAlone, of: command.stream)
        }
        let restsOn = decision.restsOn
        for (index, record) in command.evidence.enumerated()
        where restsOn.contains(index)
            || record.isKeptAlways && !decision.unkept.contains(index)
        {
            let found = decision.purchases(restingOn: index)
            let told = (decision.told[index] ?? []).filter { !found.contains($0) }
            evidence.append(
                KeptEvidence(record: record, stream: command.stream, at: now, told: told))
        }
        return events
    }

    /// Refuses an erasure if this batch has already changed the customer, because the erasure would
    /// miss the rows of that change.
    private mutating func beginErasure(
        by decision: Decision, _ streams: [Stream]
    ) throws(Undecided) {
        let erasing = zip(streams, decision.parts).filter {
            $0.1.events.contains(where: \.isErasure)
        }
        if erasing.isEmpty { return }
        let written = Set(entries.map(\.header.stream)).intersection(erasing.map(\.0))
        if !written.isEmpty { throw .behind(written) }
        for (stream, _) in erasing { erased[stream] = folds[stream]?.state.customer }
    }

    /// Returns the streams that get events from the decision, without duplicates.
    private func changed(_ decision: Decision, _ streams: [Stream]) -> [Stream] {
        if streams.count == 1 { return decision.parts[0].events.isEmpty ? [] : streams }
        var seen = Set<Stream>()
        return zip(streams, decision.parts).compactMap { stream, part in
            part.events.isEmpty || !seen.insert(stream).inserted ? nil : stream
        }
    }

    private mutating func append(
        _ event: Event, to stream: Stream, of command: Command,
        restingOn evidence: [UInt8]? = nil, _ counts: inout [Stream: Int16]
    ) -> RecordedEvent {
        let cause = EventCause(
            actor: command.actor,
            text: stream == command.stream ? command.cause.text : command.linkedCause,
            digest: command.cause.digest, index: counts[stream, default: 0], evidence: evidence)
        counts[stream, default: 0] += 1
        return append(event, to: stream, because: cause)
    }

    @discardableResult
    mutating func append(
        _ event: Event, to stream: Stream, because cause: EventCause
    ) -> RecordedEvent {
        guard var head = heads[stream.shard], folds[stream] != nil else {
            preconditionFailure("shard \(stream.shard.number) was not locked for this batch")
        }
        let (event, catalog) = catalogs.file(event, format)
        head.sequence += 1
        head.recordedAt = max(head.recordedAt, now)
        let header = EventHeader(
            position: Position(shard: stream.shard, sequence: head.sequence), stream: stream,
            version: (folds[stream]?.version ?? 0) + 1, type: event.type.name,
            format: Int16(event.format.number),
            record: EventRecord(
                occurredAt: event.statedAt ?? now, recordedAt: head.recordedAt,
                actor: cause.actor, cause: cause.text,
                catalogVersion: project(of: stream).catalogVersion),
            causeIndex: cause.index, causeDigest: cause.digest, evidence: cause.evidence)
        let payload = event.payload.text
        let link = ChainLink(after: head.chain, header: header, payload: payload)
        head.chain = link.chain.bytes
        heads[stream.shard] = head
        let entry = NewEntry(header: header, event: event, payload: payload, link: link)
        entries.append(entry)
        let recorded = entry.recorded
        apply(recorded, causeDigest: cause.digest)
        if let catalog { supply(catalog, to: stream) }
        return recorded
    }
}

/// An event's cause and actor.
struct EventCause {
    let actor: Actor
    let text: String
    let digest: [UInt8]
    /// The event's index among the cause's events in one stream.
    let index: Int16
    /// The digest of the evidence on which the event is based.
    let evidence: [UInt8]?
}

extension Command {
    /// The cause recorded for events in other customers' streams. It differs from all of their own
    /// causes and does not reveal whose command it was.
    fileprivate var linkedCause: String {
        let parts = [
            stream.project.text, stream.environment.rawValue, stream.customer.text, cause.text,
        ]
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return "linked:\(SHA256.digest(Array(text.utf8)).hex)"
    }
}
