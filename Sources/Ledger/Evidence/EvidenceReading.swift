package import Auditing
package import Core
import Crypto
import Postgres
import SQL

extension Ledger {
    /// Returns whether evidence with this digest has been accepted and is stored.
    package func hasBelieved(_ digest: [UInt8]) throws(Fault) -> Bool {
        try list(Statement.lookUpEvidence(.byteas([digest]))) { rows, row in
            rows.text(row, 2) == FiledEvidence.believed
        }.contains(true)
    }
}

extension Auditor {
    private static let restingPage: Int64 = 1000
    /// The number of pieces of evidence read at once. It is small, because one piece may take several megabytes.
    private static let filedPage = 50

    /// Returns the shard's events after a position that are based on evidence. Includes events that should name
    /// evidence but do not.
    package func restingEvents(
        of shard: Shard, after sequence: Int64
    ) throws(LedgerError) -> [RestingEvent] {
        let page = Statement.listResting(
            .int2(shard.number), .int8(sequence), .int8(Auditor.restingPage),
            .texts(EventType.allCases.filter(\.isFact).map(\.name)))
        return try link.list(page) { rows, row in
            let type = rows.text(row, 3)
            // The walk through the log reports unreadable events.
            let event = try? Event(
                type: type, format: rows.int2(row, 5), payload: rows.text(row, 6))
            return RestingEvent(
                position: Position(shard: shard, sequence: rows.int8(row, 0)),
                project: rows.text(row, 1), environment: rows.text(row, 2), type: type,
                digest: rows.isNull(row, 4) ? nil : rows.bytes(row, 4),
                facts: event?.facts ?? Facts())
        }
    }

    /// Returns evidence by digest. Evidence that is not stored has no entry.
    package func evidence(
        _ digests: [[UInt8]]
    ) throws(LedgerError) -> [FiledEvidence] {
        var filed: [FiledEvidence] = []
        for start in stride(from: 0, to: digests.count, by: Auditor.filedPage) {
            let page = Array(digests[start..<min(start + Auditor.filedPage, digests.count)])
            let found = try link.list(Statement.listEvidence(.byteas(page))) { rows, row in
                EvidenceRow(rows, row)
            }
            let wanted = Array(Set(found.flatMap(\.certificates)))
            let certificates = try link.list(Statement.listCertificates(.byteas(wanted))) {
                rows, row in
                (digest: rows.bytes(row, 0), der: rows.bytes(row, 1))
            }
            // A changed certificate counts as missing.
            let whole = certificates.filter { SHA256.digest($0.der).bytes == $0.digest }
            let der = Dictionary(whole.map { ($0.digest, $0.der) }) { first, _ in first }
            filed += found.map { $0.filed(with: der) }
        }
        return filed
    }

    /// Finds all evidence that no event names. `nextUnnamedEvidence` then returns it. A single
    /// statement does the search, however large the tables are.
    package func findUnnamedEvidence() throws(LedgerError) {
        _ = try link.list(Statement.declareUnnamedEvidence()) { _, _ in () }
    }

    /// Returns the next page of digests; empty at the end.
    package func nextUnnamedEvidence() throws(LedgerError) -> [[UInt8]] {
        try link.list(Statement.fetchUnnamedEvidence()) { rows, row in rows.bytes(row, 0) }
    }
}

/// A row of `list_evidence`.
struct EvidenceRow {
    let columns: EvidenceColumns
    let content: [UInt8]?
    let seal: [UInt8]

    init(_ rows: borrowing Rows, _ row: Int) {
        columns = EvidenceColumns(
            digest: rows.bytes(row, 0), project: rows.text(row, 1),
            environment: rows.text(row, 2), kind: rows.text(row, 3),
            app: rows.optionalText(row, 4), signedAt: rows.int8(row, 5),
            firstSeenAt: rows.int8(row, 6), verdict: rows.text(row, 7),
            certificates: rows.bytes(row, 9))
        content = rows.isNull(row, 8) ? nil : rows.bytes(row, 8)
        seal = rows.bytes(row, 10)
    }

    var certificates: [[UInt8]] {
        let joined = columns.certificates
        return stride(from: 0, to: joined.count, by: 32).map { start in
            Array(joined[start..<min(start + 32, joined.count)])
        }
    }

    func filed(with certificates: [[UInt8]: [UInt8]]) -> FiledEvidence {
        FiledEvidence(
            digest: columns.digest, project: columns.project, environment: columns.environment,
            kind: columns.kind, app: columns.app,
            signedAt: Instant(milliseconds: columns.signedAt),
            firstSeenAt: Instant(milliseconds: columns.firstSeenAt), verdict: columns.verdict,
            content: content, certificates: self.certificates.map { certificates[$0] ?? [] },
            isSealed: seal == columns.seal)
    }
}
