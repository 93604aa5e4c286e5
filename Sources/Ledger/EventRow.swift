import Core
import Postgres

/// The columns of an event, in the order in which every query lists them.
struct EventRow {
    private enum Column: Int {
        case shard, seq, project, environment, customer, version, type, payload
        case occurredAt, recordedAt, actor, cause, causeDigest, catalogVersion
        case causeIndex, digest, chain
    }

    let entry: LogEntry
    let causeDigest: [UInt8]

    /// Reads row `row`, whose event begins at column `first`.
    init(_ rows: borrowing Rows, _ row: Int, first: Int = 0) throws(LedgerError) {
        func text(_ column: Column) -> String { rows.text(row, first + column.rawValue) }
        func number(_ column: Column) -> Int64 { rows.int8(row, first + column.rawValue) }
        func instant(_ column: Column) -> Instant { Instant(milliseconds: number(column)) }
        let type = text(.type)
        let payload = text(.payload)
        let stream = try Stream(
            project: text(.project), environment: text(.environment), customer: text(.customer))
        let recorded = RecordedEvent(
            stream: stream, version: number(.version),
            position: Position(
                shard: Shard(number: rows.int2(row, first + Column.shard.rawValue)),
                sequence: number(.seq)),
            event: try Event(type: type, payload: payload),
            record: EventRecord(
                occurredAt: instant(.occurredAt), recordedAt: instant(.recordedAt),
                actor: try identifier(text(.actor)), cause: text(.cause),
                catalogVersion: number(.catalogVersion)))
        entry = LogEntry(recorded: recorded, type: type, payload: payload)
        causeDigest = rows.bytes(row, first + Column.causeDigest.rawValue)
    }

    /// The index under the cause, the digest and the chain that a scan of a shard lists too.
    static func seal(_ rows: borrowing Rows, _ row: Int) -> (Int16, [UInt8], [UInt8]) {
        (
            rows.int2(row, Column.causeIndex.rawValue), rows.bytes(row, Column.digest.rawValue),
            rows.bytes(row, Column.chain.rawValue)
        )
    }
}

extension Stream {
    fileprivate init(project: String, environment: String, customer: String) throws(LedgerError) {
        guard let environment = Environment(rawValue: environment) else {
            throw .unreadable("the environment \(environment)")
        }
        self.init(
            project: try identifier(project), environment: environment,
            customer: try identifier(customer))
    }
}

private func identifier<Kind>(_ text: String) throws(LedgerError) -> Identifier<Kind> {
    do {
        return try Identifier(text)
    } catch {
        throw .unreadable("an identifier that \(error)")
    }
}
