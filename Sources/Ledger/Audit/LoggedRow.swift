import Core
import Crypto
import Postgres

/// An event as stored in the table. It may be damaged, because an audit cannot trust the rows that it reads.
struct LoggedRow {
    let header: HeaderColumns
    let payload: String
    let digest: [UInt8]
    let chain: [UInt8]

    /// Reads a row of `scan_shard`.
    init(_ rows: borrowing Rows, _ row: Int) {
        header = HeaderColumns(
            shard: rows.int8(row, 0), sequence: rows.int8(row, 1), project: rows.text(row, 2),
            environment: rows.text(row, 3), customer: rows.text(row, 4),
            version: rows.int8(row, 5), type: rows.text(row, 6), format: rows.int8(row, 14),
            occurredAt: rows.int8(row, 8), recordedAt: rows.int8(row, 9), actor: rows.text(row, 10),
            cause: rows.text(row, 11), causeIndex: rows.int8(row, 15),
            causeDigest: rows.bytes(row, 12),
            catalogVersion: rows.int8(row, 13),
            evidence: rows.isNull(row, 18) ? nil : rows.bytes(row, 18))
        payload = rows.text(row, 7)
        digest = rows.bytes(row, 16)
        chain = rows.bytes(row, 17)
    }

    var sequence: Int64 { header.sequence }

    /// The shard to which the customer's events belong; `nil` if the names are invalid.
    var shardOfNames: Shard? {
        (try? Stream(
            project: header.project, environment: header.environment, customer: header.customer))?
            .shard
    }
}
