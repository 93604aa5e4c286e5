package import Core
import Postgres
import SQL

extension Ledger {
    /// Whether evidence of that digest was believed before and is kept.
    package func hasBelieved(_ digest: [UInt8]) throws(Fault) -> Bool {
        try list(Statement.lookUpEvidence(.byteas([digest]))) { rows, row in
            rows.text(row, 2) == "believed"
        }.contains(true)
    }

    /// Some of the evidence that is kept, in the order of its digests, behind one of them.
    package func evidence(after digest: [UInt8], limit: Int) throws(Fault) -> [FiledEvidence] {
        let page = Statement.listEvidence(.bytea(digest), .int8(Int64(limit)))
        let rows = try list(page) { rows, row in EvidenceRow(rows, row) }
        let wanted = Set(rows.flatMap(\.certificates))
        let found = try list(Statement.listCertificates(.byteas(Array(wanted)))) { rows, row in
            (digest: rows.bytes(row, 0), der: rows.bytes(row, 1))
        }
        let certificates = Dictionary(found.map { ($0.digest, $0.der) }) { first, _ in first }
        return rows.map { row in
            FiledEvidence(
                digest: row.digest, kind: row.kind, firstSeenAt: row.firstSeenAt,
                isBelieved: row.verdict == "believed", content: row.content,
                certificates: row.certificates.map { certificates[$0] ?? [] })
        }
    }
}

private struct EvidenceRow {
    let digest: [UInt8]
    let kind: String
    let firstSeenAt: Instant
    let verdict: String
    let content: [UInt8]?
    /// Their digests.
    let certificates: [[UInt8]]

    init(_ rows: borrowing Rows, _ row: Int) {
        digest = rows.bytes(row, 0)
        kind = rows.text(row, 1)
        firstSeenAt = Instant(milliseconds: rows.int8(row, 2))
        verdict = rows.text(row, 3)
        content = rows.isNull(row, 4) ? nil : rows.bytes(row, 4)
        let joined = rows.bytes(row, 5)
        certificates = stride(from: 0, to: joined.count, by: 32).map { start in
            Array(joined[start..<min(start + 32, joined.count)])
        }
    }
}
