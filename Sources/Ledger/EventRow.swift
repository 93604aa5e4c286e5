import Core
import Postgres

/// The columns of an event, in the order in which every query lists them.
struct EventRow {
    private enum Column: Int {
        case shard, seq, project, environment, customer, version, type, payload
        case occurredAt, recordedAt, actor, cause, causeDigest, catalogVersion, format
    }
    /// How many columns every query lists.
    static let columnCount = Column.format.rawValue + 1

    let position: Position
    let stream: Stream
    let version: Int64
    let type: String
    let format: Int16
    let payload: String
    let record: EventRecord
    let causeDigest: [UInt8]

    init(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        func text(_ column: Column) -> String { rows.text(row, column.rawValue) }
        func number(_ column: Column) -> Int64 { rows.int8(row, column.rawValue) }
        func instant(_ column: Column) -> Instant { Instant(milliseconds: number(column)) }
        stream = try Stream(
            project: text(.project), environment: text(.environment), customer: text(.customer))
        // Streams are read by their names alone: rows in other shards do not belong to them.
        guard rows.int2(row, Column.shard.rawValue) == stream.shard.number else {
            throw .unreadable("an event in a shard that is not its stream's")
        }
        position = Position(shard: stream.shard, sequence: number(.seq))
        version = number(.version)
        type = text(.type)
        format = rows.int2(row, Column.format.rawValue)
        payload = text(.payload)
        record = EventRecord(
            occurredAt: instant(.occurredAt), recordedAt: instant(.recordedAt),
            actor: try identifier(text(.actor)), cause: text(.cause),
            catalogVersion: number(.catalogVersion))
        causeDigest = rows.bytes(row, Column.causeDigest.rawValue)
    }

    /// Whether the row has an event, in a query that also returns other things.
    static func isThere(in rows: borrowing Rows, _ row: Int) -> Bool {
        !rows.isNull(row, Column.seq.rawValue)
    }

    /// The event with its decoded payload.
    func recorded() throws(LedgerError) -> RecordedEvent {
        RecordedEvent(
            stream: stream, version: version, position: position,
            event: try Event(type: type, format: format, payload: payload), record: record)
    }

    /// The event, which must be the first one after that version.
    func recorded(after version: Int64) throws(LedgerError) -> RecordedEvent {
        if self.version != version + 1 {
            throw .unreadable("version \(self.version) of a stream right after \(version)")
        }
        return try recorded()
    }
}

extension Stream {
    init(project: String, environment: String, customer: String) throws(LedgerError) {
        guard let environment = Environment(rawValue: environment) else {
            throw .unreadable("the environment \(environment)")
        }
        self.init(
            project: try identifier(project), environment: environment,
            customer: try identifier(customer))
    }
}

func identifier<Kind>(_ text: String) throws(LedgerError) -> Identifier<Kind> {
    do {
        return try Identifier(text)
    } catch {
        throw .unreadable("an identifier that \(error)")
    }
}
