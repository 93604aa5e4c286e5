import Auditing
package import Core
import Postgres
import SQL

/// Compares rows with the log, and checks the log's own consistency, in one run.
package final class DriftCheck {
    private static let sample = 1000

    private let ledger: Ledger
    private let auditor: Auditor
    private let walk: UnlistedWalk
    /// Whether the project's own rows already differed before the run recorded its start.
    private var projectDiffered = false

    /// Consecutive runs for several projects may share the walk.
    package init(_ ledger: Ledger, walk: UnlistedWalk = UnlistedWalk()) {
        self.ledger = ledger
        self.walk = walk
        auditor = Auditor(ledger.settings.connection)
    }

    package func prepare(_ project: ProjectID) throws(Fault) {
        var audit = ProjectionAudit()
        try faulting { () throws(LedgerError) in try audit.compareProjects(auditor, project) }
        projectDiffered = !audit.differingProjects.isEmpty
    }

    package func compareRows(
        of project: ProjectID, in shard: Shard?, isFull: Bool
    ) throws(Fault) -> RowDrift {
        var audit = ProjectionAudit()
        try faulting { () throws(LedgerError) in
            if let shard {
                try audit.compare(project, in: shard, walk, auditor)
            } else if isFull {
                try audit.compareNames(in: project, auditor)
            } else {
                try audit.compareSample(of: DriftCheck.sample, in: project, auditor)
            }
        }
        var found = StepCounts(lookedAt: Int64(audit.customers), found: Int64(audit.found))
        if shard == nil, projectDiffered, audit.differingProjects.isEmpty {
            (found.found, found.mended) = (found.found + 1, found.mended + 1)
        }
        return (
            found,
            { [ledger, auditor, audit] pace throws(Fault) in
                var repair = RowRepair(audit, ledger: ledger, project, auditor, at: pace)
                let mended = try faulting { () throws(LedgerError) in try repair.mend(in: shard) }
                if let fault = repair.fault, fault.isOfWholeDatabase { throw fault }
                return (mended, repair.fault)
            }
        )
    }

    package func walkChain(of shard: Shard, isRehearsal: Bool) throws(Fault) -> StepCounts {
        let proven = try ledger.list(Statement.listProven()) { rows, row in
            ShardMark(
                shard: Shard(number: rows.int2(row, 0)), head: rows.int8(row, 1),
                chain: rows.bytes(row, 2))
        }
        let audit = try faulting { () throws(LedgerError) in
            try auditor.audit(shard, since: proven.first { $0.shard == shard })
        }
        if audit.findings.isEmpty, !isRehearsal {
            try ledger.write(
                Statement.markProven(
                    .int2(shard.number), .int8(audit.end.head), .bytea(audit.end.chain)))
        }
        return StepCounts(lookedAt: audit.events, found: Int64(audit.findings.count))
    }
}
