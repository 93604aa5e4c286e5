import Core
import Crypto
import Postgres
import SQL

/// Puts right what a comparison of rows with the log found: writes the rows of customers and of projects anew, and
/// takes away those that no events tell of.
struct RowRepair {
    private static let page = 100

    private let audit: ProjectionAudit
    private let ledger: Ledger
    private let project: ProjectID
    private let auditor: Auditor
    /// What kept some of it from being mended.
    private(set) var fault: Fault?

    init(
        _ audit: ProjectionAudit, ledger: Ledger, _ project: ProjectID, _ auditor: Auditor
    ) {
        self.audit = audit
        self.ledger = ledger
        self.project = project
        self.auditor = auditor
    }

    /// Mends all that can be and tells how much that was: only what is right afterwards counts.
    mutating func mend(in shard: Shard?) throws(LedgerError) -> Int64 {
        var mended = 0
        for project in audit.differingProjects {
            attempt { ledger throws(LedgerError) in try ledger.writeRows(of: project) }
        }
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

    /// Customers whose rows differ, and rows in the place of others: where events may tell of them, with the
    /// shard locked. Gives how many rows were taken away.
    private mutating func writeCustomers() -> Int {
        let strays = audit.strays.rows.filter { $0.stream != nil }
        let ghosts = audit.strays.names.compactMap(\.stream)
        let streams = Set(audit.differing + ghosts + strays.compactMap(\.stream))
        var (cleared, kept) = (0, Set<Stream>())
        for ofShard in Dictionary(grouping: streams, by: \.shard).values {
            for page in ofShard.pages(of: RowRepair.page) {
                do throws(LedgerError) {
                    let blamed = try ledger.sparingOthers(page) { streams throws(LedgerError) in
                        let page = Set(streams)
                        let gone = strays.filter { $0.stream.map(page.contains) ?? false }
                        try ledger.writeRows(of: streams, clearing: gone.map(\.removal))
                    }
                    fault = fault ?? blamed.values.first?.fault
                    kept.formUnion(blamed.keys)
                } catch {
                    fault = fault ?? error.fault
                    kept.formUnion(page)
                }
            }
        }
        cleared += strays.count { $0.stream.map { !kept.contains($0) } ?? false }
        cleared += ghosts.count { !kept.contains($0) }
        return cleared
    }

    /// Rows under names that no customer can have.
    private mutating func clearNames() -> Int {
        let names = audit.strays.names.filter { $0.stream == nil && $0.shard != nil }
        let rows = audit.strays.rows.filter { $0.stream == nil }
        if names.isEmpty, rows.isEmpty { return 0 }
        let isDone = attempt { ledger throws(LedgerError) in
            try ledger.write(names.clearing + rows.map(\.removal))
        }
        return isDone ? names.count + rows.count : 0
    }

    private mutating func clearOrphans(in shard: Shard) -> Int {
        let calls = Table.ofCustomers.filter { $0 != .customers }.map {
            $0.statements.clearOrphans(.int2(shard.number), .text(project.text))
        }
        let isDone = attempt { ledger throws(LedgerError) in try ledger.write(calls) }
        return isDone ? audit.strays.orphans : 0
    }

    private mutating func writeCredits() -> Int {
        let credits = audit.strays.missingCredits
        if credits.isEmpty { return 0 }
        let isDone = attempt { ledger throws(LedgerError) in
            try ledger.write([Table.waitingCredits.write(credits.map(Table.waitingCredits.row))])
        }
        return isDone ? credits.count : 0
    }

    @discardableResult
    private mutating func attempt(_ work: (Ledger) throws(LedgerError) -> Void) -> Bool {
        do throws(LedgerError) {
            try work(ledger)
            return true
        } catch {
            fault = fault ?? error.fault
            return false
        }
    }
}

extension Ledger {
    fileprivate func write(_ calls: [Call]) throws(LedgerError) {
        try writing { connection throws(LedgerError) in
            try connection.execute([Statement.begin()] + calls + [Statement.commit()])
        }
    }

    /// Rewrites every row of customers from the log.
    fileprivate func writeRows(
        of streams: [Stream], clearing strays: [Call]
    ) throws(LedgerError) {
        try writing { connection throws(LedgerError) in
            var batch = try connection.lockAndLoad(Set(streams), cache: cache, clocks)
            for stream in streams { batch.publishDue(of: stream) }
            try connection.execute(strays + batch.rewriting(streams))
            cache.observe(batch.heads)
        }
    }

    /// Rewrites the row of a project and those of its keys and apps.
    fileprivate func writeRows(of project: ProjectID) throws(LedgerError) {
        let stream = Stream.ofProject(project)
        try writing { connection throws(LedgerError) in
            let batch = try connection.lockAndLoad([stream], cache: cache, clocks)
            let state = batch.project(of: stream)
            try connection.execute(
                Table.rewriting(project, state) + [Statement.commit()])
        }
    }
}
