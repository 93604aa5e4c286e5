import Core
import Crypto
import Postgres
import SQL
import Wording

/// Repairs the differences that a comparison with the log has found. It rewrites rows of customers
/// and projects, and removes rows without events.
struct RowRepair {
    private let audit: ProjectionAudit
    private let ledger: Ledger
    private let project: ProjectID
    private let auditor: Auditor
    private let pace: UpkeepPace
    /// The fault that prevented some of the repairs, if any.
    private(set) var fault: Fault?

    init(
        _ audit: ProjectionAudit, ledger: Ledger, _ project: ProjectID, _ auditor: Auditor,
        at pace: UpkeepPace
    ) {
        self.audit = audit
        self.ledger = ledger
        self.project = project
        self.auditor = auditor
        self.pace = pace
    }

    /// Repairs as much as possible. Returns the number of rows that are correct afterwards.
    mutating func mend(in shard: Shard?) throws(LedgerError) -> Int64 {
        var mended = 0
        if !audit.differingProjects.isEmpty { mend() }
        mended += clearNames()
        mended += writeCustomers()
        if let shard, audit.strays.orphans > 0 { mended += clearOrphans(in: shard) }
        mended += writeCredits()
        var again = ProjectionAudit()
        try again.compare(audit.differing, auditor)
        for project in audit.differingProjects { try again.compareProjects(auditor, project) }
        mended += audit.differing.count - again.differing.count
        mended += audit.differingProjects.count - again.differingProjects.count
        return Int64(mended)
    }

    /// Repairs customers whose rows differ, and removes rows that take the place of others. If
    /// events may support a row, its shard is locked. Returns the number of rows removed.
    private mutating func writeCustomers() -> Int {
        let strays = Dictionary(grouping: audit.strays.rows, by: \.stream)
        let ghosts = Set(audit.strays.names.compactMap(\.stream))
        let streams = ghosts.union(audit.differing).union(strays.keys.compactMap(\.self))
        var cleared = 0
        for ofShard in Dictionary(grouping: streams, by: \.shard).values {
            for page in ofShard.pages(of: pace.page) {
                let faults = ledger.mend(
                    page.map { ($0, (strays[$0] ?? []).map(\.removal)) }, at: pace)
                for (stream, fault) in zip(page, faults) {
                    self.fault = self.fault ?? fault
                    if fault != nil { continue }
                    cleared += (strays[stream]?.count ?? 0) + (ghosts.contains(stream) ? 1 : 0)
                }
            }
        }
        return cleared
    }

    /// Removes rows under names that no customer can have.
    private mutating func clearNames() -> Int {
        let names = audit.strays.names.filter { $0.stream == nil && $0.shard != nil }
        let rows = audit.strays.rows.filter { $0.stream == nil }
        if names.isEmpty, rows.isEmpty { return 0 }
        return mend(names.clearing + rows.map(\.removal)) ? names.count + rows.count : 0
    }

    private mutating func clearOrphans(in shard: Shard) -> Int {
        let calls = Table.ofCustomers.filter { $0 != .customers }.map {
            $0.statements.clearOrphans(.int2(shard.number), .text(project.text))
        }
        return mend(calls) ? audit.strays.orphans : 0
    }

    private mutating func writeCredits() -> Int {
        let credits = audit.strays.missingCredits
        if credits.isEmpty { return 0 }
        let call = Table.waitingCredits.write(credits.map(Table.waitingCredits.row))
        return mend([call]) ? credits.count : 0
    }

    /// Removes rows that concern no customer, and rewrites the project's own rows in the same
    /// transaction. Returns false if the transaction failed.
    @discardableResult
    private mutating func mend(_ calls: [Call] = []) -> Bool {
        let fault = ledger.mend([(.ofProject(project), calls)], at: pace)[0]
        self.fault = self.fault ?? fault
        return fault == nil
    }
}

extension Ledger {
    /// Rewrites the rows of customers and projects, along with the given calls for each one. Returns a fault for each
    /// one that failed.
    fileprivate func mend(
        _ repairs: [(stream: Stream, calls: [Call])], at pace: UpkeepPace
    ) -> [Fault?] {
        let commands = repairs.map { (command: Command.mending($0.stream), calls: $0.calls) }
        return appendAll(commands, at: pace).map { answer in
            if case .failure(let error) = answer { error.asFault } else { nil }
        }
    }
}
