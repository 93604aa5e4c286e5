package import Auditing
package import Core
import Crypto
package import Postgres
import SQL

/// The result of auditing one shard.
package struct ShardAudit: Sendable {
    package let shard: Shard
    /// The number of events that were read.
    package let events: Int64
    package let findings: AuditFindings
    /// The number of findings that are events beyond the head.
    package let beyond: Int
    /// Where the audited part ends.
    package let end: ShardMark
}

/// Verifies the log shard by shard. Uses a separate connection, because a walk takes a long time.
package final class Auditor {
    private static let page: Int64 = 2000

    var link: Link
    let catalogs = CatalogCache()

    /// Needs the rights of the service or of the schema's owner.
    package init(_ settings: ConnectionSettings) {
        var settings = settings
        settings.statementTimeoutMilliseconds = 0
        link = Link(settings)
    }

    /// Reads a shard from a mark, or from its first event. Checks that positions have no gaps, that
    /// the chain is intact, that the head matches the last event, and that no events lie beyond the
    /// head. If `checkpoint` is given, the shard must still contain it. An audit of a whole shard
    /// also checks that no customer's version is ahead of the log.
    package func audit(
        _ shard: Shard, since mark: ShardMark? = nil, against checkpoint: ShardMark? = nil
    ) throws(LedgerError) -> ShardAudit {
        var findings = AuditFindings()
        for known in [mark, checkpoint].compactMap(\.self) {
            if let finding = try compare(known) { findings.add(finding) }
        }
        let start = mark ?? .start(of: shard)
        guard let head = try head(of: shard) else {
            findings.add(
                AuditFinding(head: shard, column: "shard", expected: "a row", found: "none"))
            return ShardAudit(
                shard: shard, events: 0, findings: findings, beyond: 0, end: start)
        }
        var walk = ChainWalk(from: start, to: head.mark, recordedAt: head.recordedAt)
        var isWalking = start.head < head.mark.head
        while isWalking {
            let rows = try rows(of: shard, after: walk.sequence).filter {
                $0.sequence <= head.mark.head
            }
            for row in rows { walk.step(row) }
            try addCatalogs(of: rows, in: shard, to: &findings)
            isWalking = !rows.isEmpty && walk.sequence < head.mark.head
        }
        walk.finish()
        findings.add(walk.findings)
        let before = findings.count
        try addBeyond(shard, to: &findings)
        let beyond = findings.count - before
        if mark == nil { try addVersions(shard, to: &findings) }
        return ShardAudit(
            shard: shard, events: walk.sequence - start.head, findings: findings, beyond: beyond,
            end: head.mark)
    }

    /// Checks whether the shard still contains everything up to the mark, and returns a finding if it does not.
    package func compare(_ mark: ShardMark) throws(LedgerError) -> AuditFinding? {
        guard mark.head > 0,
            let row = try rows(of: mark.shard, after: mark.head - 1, limit: 1).first
        else {
            return mark.head == 0
                ? nil
                : AuditFinding(
                    head: mark.shard, column: "head",
                    expected: "at least \(mark.head), as when the checkpoint was made",
                    found: "no event there")
        }
        if row.sequence == mark.head, row.chain == mark.chain { return nil }
        return AuditFinding(
            at: Position(shard: mark.shard, sequence: mark.head), column: "chain",
            expected: "\(mark.chain.hex), as when the checkpoint was made",
            found: row.sequence == mark.head ? row.chain.hex : "no event there")
    }

    private func head(
        of shard: Shard
    ) throws(LedgerError) -> (mark: ShardMark, recordedAt: Int64)? {
        try link.list(Statement.listShards()) { rows, row in
            (mark: ShardMark(rows, row), recordedAt: rows.int8(row, 3))
        }.first { $0.mark.shard == shard }
    }

    /// Returns every shard's end, in order.
    package func marks() throws(LedgerError) -> [ShardMark] {
        try link.settled { connection throws(LedgerError) in try connection.shardMarks() }
    }

    private func rows(
        of shard: Shard, after sequence: Int64, limit: Int64 = Auditor.page
    ) throws(LedgerError) -> [LoggedRow] {
        let page = Statement.scanShard(.int2(shard.number), .int8(sequence), .int8(limit))
        return try link.list(page) { rows, row in LoggedRow(rows, row) }
    }

    private func addBeyond(
        _ shard: Shard, to findings: inout AuditFindings
    ) throws(LedgerError) {
        try add(Statement.listBeyond(.int2(shard.number)), total: 4, to: &findings) { rows, row in
            AuditFinding(
                at: Position(shard: shard, sequence: rows.int8(row, 0)), column: "seq",
                expected: "1 to the head \(rows.int8(row, 3))",
                found: "beyond it \(rows.text(row, 2)) of \(quoted(rows.text(row, 1)))")
        }
    }

    /// Returns findings about events whose shard number is invalid.
    package func strays() throws(LedgerError) -> AuditFindings {
        var findings = AuditFindings()
        try add(Statement.listStrays(), total: 4, to: &findings) { rows, row in
            let shard = rows.int8(row, 0)
            return AuditFinding(
                "deed.events", "\(shard):\(rows.int8(row, 1))", column: "shard",
                expected: "0 to 63",
                found: "\(shard) with \(rows.text(row, 3)) of \(quoted(rows.text(row, 2)))")
        }
        return findings
    }

    private func addVersions(
        _ shard: Shard, to findings: inout AuditFindings
    ) throws(LedgerError) {
        let call = Statement.auditVersions(.int2(shard.number))
        try add(call, total: 6, to: &findings) { rows, row in
            let name = "\(rows.text(row, 0)), \(rows.text(row, 1)), \(quoted(rows.text(row, 2)))"
            let last = rows.optionalInt8(row, 4)
            if let last, last != rows.int8(row, 5) {
                return AuditFinding(
                    "deed.events", name, shard: shard, column: "version",
                    expected: "1 to \(last), each once", found: "\(rows.int8(row, 5)) events")
            }
            return AuditFinding(
                "deed.customers", name, shard: shard, column: "version",
                expected: last.map { "\($0), the newest event" }
                    ?? "no row: the log has no events of this customer",
                found: rows.optionalInt8(row, 3).map { String($0) } ?? "no row")
        }
    }

    /// Adds the rows of a call that lists the first findings and returns the total in a column.
    func add(
        _ call: Call, total column: Int, to findings: inout AuditFindings,
        _ finding: (borrowing Rows, Int) -> AuditFinding
    ) throws(LedgerError) {
        var total = 0
        let listed = try link.list(call) { rows, row in
            total = Int(rows.int8(row, column))
            return finding(rows, row)
        }
        findings.add(listed, of: total)
    }

}

extension Ledger {
    /// Audits one shard from its first event.
    package func audit(_ shard: Shard) throws(Fault) -> ShardAudit {
        let auditor = Auditor(settings.connection)
        do throws(LedgerError) {
            return try auditor.audit(shard)
        } catch {
            throw error.fault
        }
    }
}
