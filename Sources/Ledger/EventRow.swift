import Core
import Postgres

/// An event's columns, in the order in which every query lists them.
struct EventRow {
    private enum Column: Int {
        case shard, seq, project, environment, customer, version, type, payload
        case occurredAt, recordedAt, actor, cause, causeDigest, catalogVersion, format
    }
    /// The number of columns that every query lists.
    static let columnCount = Column.format.rawValue + 1

    let position: Position
    let stream: Stream
    let version: Int64
    let type: String
    let format: Int16
    let payload: String
    let causeDigest: [UInt8]
    private let occurredAt: Instant
    private let recordedAt: Instant
    /// The text as stored. If the text is damaged, only reads of the event's own stream fail.
    private let actor: String
    private let cause: String
    private let catalogVersion: Int64

    init(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        func text(_ column: Column) -> String { rows.text(row, column.rawValue) }
        func number(_ column: Column) -> Int64 { rows.int8(row, column.rawValue) }
        func instant(_ column: Column) -> Instant { Instant(milliseconds: number(column)) }
        stream = try Stream(
            project: text(.project), environment: text(.environment), customer: text(.customer))
        // Queries find a stream by its names alone. Rows with these names in another shard do not belong to it.
        guard rows.int2(row, Column.shard.rawValue) == stream.shard.number else {
            throw .unreadable("an event in a shard that is not its stream's")
        }
        position = Position(shard: stream.shard, sequence: number(.seq))
        version = number(.version)
        type = text(.type)
        format = rows.int2(row, Column.format.rawValue)
        payload = text(.payload)
        occurredAt = instant(.occurredAt)
        recordedAt = instant(.recordedAt)
        actor = text(.actor)
        cause = text(.cause)
        catalogVersion = number(.catalogVersion)
        causeDigest = rows.bytes(row, Column.causeDigest.rawValue)
    }

    /// Returns whether the row contains an event. Some queries also return rows with other data only.
    static func isThere(in rows: borrowing Rows, _ row: Int) -> Bool {
        !rows.isNull(row, Column.seq.rawValue)
    }

    /// Returns the stream named in the row, exactly as stored.
    static func subject(_ rows: borrowing Rows, _ row: Int) -> UnreadSubject {
        UnreadSubject(
            rows.text(row, Column.project.rawValue), rows.text(row, Column.environment.rawValue),
            rows.text(row, Column.customer.rawValue))
    }

    /// Returns the row's position among its project's rows, which are in order of recording.
    static func place(_ rows: borrowing Rows, _ row: Int) -> [Bind] {
        [
            .int8(rows.int8(row, Column.recordedAt.rawValue)),
            .int2(rows.int2(row, Column.shard.rawValue)),
            .int8(rows.int8(row, Column.seq.rawValue)),
        ]
    }

    /// Returns the event with its decoded payload.
    func recorded() throws(LedgerError) -> RecordedEvent {
        let record = EventRecord(
            occurredAt: occurredAt, recordedAt: recordedAt, actor: try identifier(actor),
            cause: cause, catalogVersion: catalogVersion)
        return RecordedEvent(
            stream: stream, version: version, position: position,
            event: try Event(type: type, format: format, payload: payload), record: record)
    }

    /// Returns the event. Throws unless the event directly follows that version.
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
