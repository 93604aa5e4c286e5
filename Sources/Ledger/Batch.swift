import Core
import Crypto
import JSON

/// Where a shard stood when its row was locked, and where this batch takes it.
struct ShardHead {
    var sequence: Int64
    var chain: [UInt8]
    var recordedAt: Instant
}

/// An event that is decided and not yet written.
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

/// A cause in the stream that obeys it.
struct CauseKey: Hashable {
    let stream: Stream
    /// Its bytes: Swift compares texts more loosely than the database does.
    let cause: [UInt8]

    init(_ stream: Stream, _ cause: String) {
        self.stream = stream
        self.cause = Array(cause.utf8)
    }
}

/// Commands decided one after the other in memory, on states that are locked in the database.
/// Pure: what was loaded goes in, what is to be written comes out.
struct Batch {
    private struct Obeyed {
        let digest: [UInt8]
        var events: [RecordedEvent]
    }

    let now: Instant
    private(set) var heads: [Shard: ShardHead]
    private(set) var states: [Stream: StreamState] = [:]
    private var obeyed: [CauseKey: Obeyed] = [:]
    private(set) var entries: [NewEntry] = []

    init(now: Instant, heads: [Shard: ShardHead]) {
        self.now = now
        self.heads = heads
    }

    /// The streams that have new events, each once, in the order of their first one.
    var changedStreams: [Stream] {
        var seen = Set<Stream>()
        return entries.map(\.header.stream).filter { seen.insert($0).inserted }
    }

    mutating func load(_ state: StreamState, of stream: Stream) {
        states[stream] = state
    }

    /// Takes in an event that was recorded after the state that is loaded.
    mutating func apply(_ recorded: RecordedEvent) {
        // Taken out of the dictionary meanwhile, so that it is changed in place.
        var state =
            states.removeValue(forKey: recorded.stream) ?? StreamState(emptyFor: recorded.stream)
        state.apply(recorded.event, recordedAt: recorded.recordedAt)
        states[recorded.stream] = state
    }

    /// Takes in an event that a cause of this batch has led to before.
    mutating func remember(_ recorded: RecordedEvent, causeDigest: [UInt8]) {
        let key = CauseKey(recorded.stream, recorded.cause)
        obeyed[key, default: Obeyed(digest: causeDigest, events: [])].events.append(recorded)
    }

    /// Decides a command on the state that the ones before it left.
    mutating func decide(_ command: Command) throws(Refusal) -> Outcome {
        let key = CauseKey(command.stream, command.cause.text)
        if let earlier = obeyed[key] {
            if earlier.digest != command.cause.digest { throw .idempotencyMismatch }
            return outcome(of: command, earlier.events)
        }
        let state = states[command.stream]?.customer ?? CustomerState()
        let situation = Situation(
            now: now, project: project(of: command.stream), states: [command.stream.customer: state]
        )
        let decision = try command.decide(situation)
        for (index, event) in decision.parts.flatMap(\.events).enumerated() {
            let entry = append(event, of: command, index: Int16(index))
            remember(entry.recorded, causeDigest: command.cause.digest)
        }
        return outcome(of: command, obeyed[key]?.events ?? [])
    }

    /// The project of a stream, as it is or as this batch has changed it.
    func project(of stream: Stream) -> ProjectState {
        states[.ofProject(stream.project)]?.project ?? ProjectState()
    }

    private func outcome(of command: Command, _ events: [RecordedEvent]) -> Outcome {
        let shard = command.stream.shard
        return Outcome(
            events: events,
            state: states[command.stream] ?? StreamState(emptyFor: command.stream),
            project: project(of: command.stream),
            position: Position(shard: shard, sequence: heads[shard]?.sequence ?? 0))
    }

    private mutating func append(_ event: Event, of command: Command, index: Int16) -> NewEntry {
        let shard = command.stream.shard
        guard var head = heads[shard] else {
            preconditionFailure("shard \(shard.number) was not locked for this batch")
        }
        head.sequence += 1
        head.recordedAt = max(head.recordedAt, now)
        let header = EventHeader(
            position: Position(shard: shard, sequence: head.sequence), stream: command.stream,
            version: (states[command.stream]?.version ?? 0) + 1, type: event.typeName,
            record: EventRecord(
                occurredAt: event.statedAt ?? now, recordedAt: head.recordedAt,
                actor: command.actor, cause: command.cause.text,
                catalogVersion: project(of: command.stream).catalogVersion),
            causeIndex: index, causeDigest: command.cause.digest)
        let payload = event.payload.text
        let link = ChainLink(after: head.chain, header: header, payload: payload)
        head.chain = link.chain.bytes
        heads[shard] = head
        let entry = NewEntry(header: header, event: event, payload: payload, link: link)
        entries.append(entry)
        apply(entry.recorded)
        return entry
    }
}
