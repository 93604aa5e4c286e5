import Auditing
import Core
import Crypto
import Postgres
import SQL

extension Auditor {
    /// Adds a finding for each catalog that these events name but that is missing or damaged. The chain covers the
    /// catalog's name, which is its digest.
    func addCatalogs(
        of rows: [LoggedRow], in shard: Shard, to findings: inout AuditFindings
    ) throws(LedgerError) {
        for row in rows where row.header.type == EventType.catalogChanged.name {
            // The walk reports damaged events.
            guard let format = Int16(exactly: row.header.format),
                case .catalogChanged(let changed)? = try? Event(
                    type: row.header.type, format: format, payload: row.payload),
                let digest = changed.digest
            else { continue }
            let found = try link.list(Statement.findCatalog(.bytea(digest))) { rows, row in
                SHA256.digest(rows.bytes(row, 0)).bytes
            }.first
            if found == digest { continue }
            findings.add(
                AuditFinding(
                    at: Position(shard: shard, sequence: row.sequence), column: "catalog",
                    expected: "the catalog \(changed.version) of the project "
                        + "\(quoted(row.header.project)), SHA-256 \(digest.hex)",
                    found: found.map { "SHA-256 \($0.hex)" } ?? "none"))
        }
    }
}

extension AuditFinding {
    /// Creates a finding about a catalog that is needed to compare customers. Throws any other error.
    init(
        lost edition: CatalogEdition?, of project: ProjectID, _ error: LedgerError
    ) throws(LedgerError) {
        guard case .unreadable = error, let edition, let digest = edition.digest else {
            throw error
        }
        self.init(
            "deed.catalogs", digest.hex, column: "content",
            expected: "the catalog \(edition.version) of the project \(quoted(project.text))",
            found: "none, or other bytes")
    }
}
