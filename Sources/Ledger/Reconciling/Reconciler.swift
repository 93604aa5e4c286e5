import Auditing
package import Core
import Crypto
import Postgres
import SQL
import Threading

/// Does the steps of a reconciliation, with a connection of its own: while that is open, no other
/// reconciliation of the database begins.
package final class Reconciler {
    private static let sample = 1000
    private static let attempts = 4

    private let ledger: Ledger
    private let auditor: Auditor
    private let walk: UnlistedWalk
    private let project: ProjectID
    private let plan: ReconcilePlan
    private let isRehearsal: Bool
    /// Whether the project's row differed from the log before the run recorded that it began, which writes it anew.
    private var projectDiffered = false

    /// A rehearsal looks only, and changes nothing. The walk may be shared with those of other projects that
    /// are at work right before and after.
    package init(
        _ ledger: Ledger, _ project: ProjectID, _ plan: ReconcilePlan, isRehearsal: Bool,
        walk: UnlistedWalk = UnlistedWalk()
    ) {
        self.walk = walk
        self.ledger = ledger
        self.project = project
        self.plan = plan
        self.isRehearsal = isRehearsal
        auditor = Auditor(ledger.settings.connection)
    }

    /// Takes the right to reconcile; false while another run has it.
    package func begin() throws(Fault) -> Bool {
        // The connection of a run that has ended just now is gone a moment later.
        for _ in 0..<Reconciler.attempts {
            let isTaken = try faulting { () throws(LedgerError) in
                try auditor.all(Statement.lockReconciliation()) { rows, row in rows.bool(row, 0) }
                    .first ?? false
            }
            if isTaken {
                projectDiffered = try projectDiffers()
                return true
            }
            pause(milliseconds: 100)
        }
        return false
    }

    private func projectDiffers() throws(Fault) -> Bool {
        guard plan.isFull, plan.steps.contains(.projections), !isRehearsal else { return false }
        var audit = ProjectionAudit()
        try faulting { () throws(LedgerError) in try audit.compareProjects(auditor, project) }
        return !audit.differingProjects.isEmpty
    }

    /// Whether the right to reconcile is held still: it ends with the connection on which it was taken.
    package func holds() throws(Fault) -> Bool {
        try faulting { () throws(LedgerError) in
            try auditor.all(Statement.holdReconciliation()) { rows, row in rows.bool(row, 0) }
                .first ?? false
        }
    }

    /// The parts of an earlier run that came to their end.
    package func done(of id: ReconciliationID) throws(Fault) -> [ReconcilePart: StepCounts] {
        try noted(of: id).filter(\.value.isDone).mapValues(\.counts)
    }

    private func noted(
        of id: ReconciliationID
    ) throws(Fault) -> [ReconcilePart: (counts: StepCounts, isDone: Bool)] {
        let call = Statement.listReconciled(.text(project.text), .text(id.text))
        let found = try ledger.list(call) { rows, row in
            let counts = StepCounts(
                lookedAt: rows.int8(row, 2), found: rows.int8(row, 3), mended: rows.int8(row, 4))
            return (
                ReconcileStep(rawValue: rows.text(row, 0)), rows.int2(row, 1),
                (counts: counts, isDone: rows.bool(row, 5))
            )
        }
        return found.reduce(into: [:]) { noted, row in
            guard let step = row.0 else { return }
            let shard = row.1 < 0 ? nil : Shard(number: row.1)
            noted[ReconcilePart(step: step, shard: shard)] = row.2
        }
    }

    package func note(
        _ part: ReconcilePart, _ counts: StepCounts, of id: ReconciliationID, isDone: Bool = true
    ) throws(Fault) {
        try write(
            Statement.markReconciled(
                .text(project.text), .text(id.text), .text(part.step.rawValue),
                .int2(part.shard?.number ?? -1), .int8(counts.lookedAt), .int8(counts.found),
                .int8(counts.mended), .bool(isDone)))
    }

    /// Forgets what was noted of runs that came to their end.
    package func forget() throws(Fault) {
        try write(Statement.forgetReconciled(.text(project.text)))
    }

    /// Does parts of one step; those that publish side by side, the others one after the other.
    package func reconcile(
        _ parts: [ReconcilePart], of id: ReconciliationID
    ) -> [Result<PartReport, Fault>] {
        if parts.first?.step == .boundaries { return publish(in: parts.map(\.shard)) }
        return parts.map { part in
            Result { () throws(Fault) in try reconcile(part, of: id) }
        }
    }

    func reconcile(
        _ part: ReconcilePart, of id: ReconciliationID
    ) throws(Fault) -> PartReport {
        switch (part.step, part.shard) {
        case (.orders, let shard?): try closeOrders(in: shard)
        case (.projections, _): try compareRows(in: part, of: id)
        case (.chain, let shard?): PartReport(try walkChain(of: shard))
        case (.intake, _): PartReport(try sweepIntake())
        case (.unclaimed, _): try claimUnclaimed()
        case (.orders, nil), (.chain, nil), (.boundaries, _), (.notifications, _),
            (.history, _), (.subscriptions, _):
            PartReport()
        }
    }

    private func publish(in shards: [Shard?]) -> [Result<PartReport, Fault>] {
        sideBySide(shards) { [ledger, project, isRehearsal] shard in
            Result { () throws(Fault) in
                let publication = try ledger.publishBoundaries(
                    of: project, in: shard, isRehearsal: isRehearsal)
                return PartReport(
                    StepCounts(
                        lookedAt: Int64(publication.customers), found: Int64(publication.notices),
                        mended: isRehearsal ? 0 : Int64(publication.notices)), publication.fault)
            }
        }
    }

    private func closeOrders(in shard: Shard) throws(Fault) -> PartReport {
        let now = ledger.settings.clock()
        let call = Statement.listStaleOrders(
            .int2(shard.number), .text(project.text), .int8(now.milliseconds))
        let stale = try ledger.list(call) { [project] rows, row throws(LedgerError) in
            (
                stream: try Stream(
                    project: project.text, environment: rows.text(row, 0),
                    customer: rows.text(row, 1)), orders: rows.int8(row, 2)
            )
        }
        var counts = StepCounts(lookedAt: Int64(stale.count))
        counts.found = stale.reduce(0) { $0 + $1.orders }
        if isRehearsal { return PartReport(counts) }
        var fault: Fault?
        for page in stale.map(\.stream).pages(of: 500) {
            for answer in ledger.appendAll(page.map { .closingStaleOrders(of: $0, now) }) {
                do throws(LedgerError) {
                    counts.mended += Int64(
                        try answer.settled.events.count { $0.event.isOrderClosed })
                } catch {
                    fault = fault ?? error.fault
                }
            }
        }
        return PartReport(counts, fault)
    }

    private func compareRows(
        in part: ReconcilePart, of id: ReconciliationID
    ) throws(Fault) -> PartReport {
        var audit = ProjectionAudit()
        try faulting { () throws(LedgerError) in
            if let shard = part.shard {
                try audit.compare(project, in: shard, walk, auditor)
            } else if plan.isFull {
                try audit.compareNames(in: project, auditor)
            } else {
                try audit.compareSample(of: Reconciler.sample, in: project, auditor)
            }
        }
        var counts = StepCounts(lookedAt: Int64(audit.customers), found: Int64(audit.found))
        if part.shard == nil, projectDiffered, audit.differingProjects.isEmpty {
            (counts.found, counts.mended) = (counts.found + 1, counts.mended + 1)
        }
        guard plan.repairs, !isRehearsal else { return PartReport(counts) }
        // What is found is told, also when this run is killed and the next finds it mended.
        let earlier = Int64(try noted(of: id)[part]?.counts.found ?? 0)
        let known = max(counts.found, earlier)
        if known > 0 {
            try note(
                part, StepCounts(lookedAt: counts.lookedAt, found: known), of: id, isDone: false)
        }
        var repair = RowRepair(audit, ledger: ledger, project, auditor)
        counts.mended += try faulting { () throws(LedgerError) in try repair.mend(in: part.shard) }
        // Where all were looked at again, what was found earlier and is not now was mended; a sample cannot tell.
        if part.shard != nil || plan.isFull { counts.mended += known - counts.found }
        counts.found = known
        return PartReport(counts, repair.fault)
    }

    private func walkChain(of shard: Shard) throws(Fault) -> StepCounts {
        let proven = try ledger.list(Statement.listProven()) { rows, row in
            ShardMark(
                shard: Shard(number: rows.int2(row, 0)), head: rows.int8(row, 1),
                chain: rows.bytes(row, 2))
        }
        let audit = try faulting { () throws(LedgerError) in
            try auditor.audit(shard, since: proven.first { $0.shard == shard })
        }
        if audit.findings.isEmpty, !isRehearsal {
            try write(
                Statement.markProven(
                    .int2(shard.number), .int8(audit.end.head), .bytea(audit.end.chain)))
        }
        return StepCounts(lookedAt: audit.events, found: Int64(audit.findings.count))
    }

    /// What was tried often is found: a person should look at it.
    private func sweepIntake() throws(Fault) -> StepCounts {
        let call = Statement.countProjectIntake(
            .text(project.text), .int8(IntakeItem.alarmTries))
        return try ledger.list(call) { rows, row in
            StepCounts(lookedAt: rows.int8(row, 0), found: rows.int8(row, 1))
        }.first ?? StepCounts()
    }

    /// Those are found whose token a customer has by now. They are brought to that customer.
    private func claimUnclaimed() throws(Fault) -> PartReport {
        let counted = try ledger.list(Statement.countProjectUnclaimed(.text(project.text))) {
            rows, row in StepCounts(lookedAt: rows.int8(row, 0), found: rows.int8(row, 1))
        }
        var counts = counted.first ?? StepCounts()
        if isRehearsal || counts.found == 0 { return PartReport(counts) }
        let now = ledger.settings.clock()
        let commands = try ledger.list(Statement.listClaimable(.text(project.text))) {
            [project] rows, row throws(LedgerError) -> Command? in
            let stream = try Stream(
                project: project.text, environment: rows.text(row, 0),
                customer: rows.text(row, 2))
            return AccountToken(rows.text(row, 1)).map { .claimingWaiting($0, for: stream, now) }
        }
        var fault: Fault?
        for page in commands.compactMap(\.self).pages(of: 100) {
            for answer in ledger.appendAll(page) {
                do throws(LedgerError) {
                    let events = try answer.settled.events
                    counts.mended += Int64(events.count { $0.event.isPurchaseAttached })
                } catch {
                    fault = fault ?? error.fault
                }
            }
        }
        return PartReport(counts, fault)
    }

    /// Writes a note. One that is lost has a part done again; what is committed behind it keeps it.
    private func write(_ call: Call) throws(Fault) {
        try faulting { () throws(LedgerError) in
            try ledger.pool.settled { connection throws(LedgerError) in
                try connection.execute([
                    Statement.begin(), ConnectionSettings.losableTransaction(), call,
                    Statement.commit(),
                ])
            }
        }
    }
}

extension Ledger {
    /// When the project was reconciled, or made, that waits longest for the next time; and in how many a step
    /// was not sound when it was done last.
    package func reconciled() throws(Fault) -> (longestAgo: Instant?, drifted: Int64) {
        try list(Statement.countReconciled()) { rows, row in
            (rows.optionalInt8(row, 0).map(Instant.init(milliseconds:)), rows.int8(row, 1))
        }.first ?? (nil, 0)
    }

    /// Whether some project is being reconciled, by this process or another.
    package func isReconciling() throws(Fault) -> Bool {
        try list(Statement.findReconciliation()) { rows, row in rows.bool(row, 0) }.first ?? false
    }

    /// The projects whose reconciliation was requested and has not ended.
    package func requestedReconciliations() throws(Fault) -> [ProjectID] {
        try list(Statement.listRequested()) { rows, row throws(LedgerError) in
            try rows.identifier(row, 0)
        }
    }
}

extension Command {
    fileprivate static func closingStaleOrders(of stream: Stream, _ now: Instant) -> Command {
        let text = "clock:\(now.text)/orders"
        return .customer(
            stream, actor: .clock,
            cause: Cause(text: text, digest: SHA256.digest(Array(text.utf8)).bytes)
        ) { state, _, now in state.closingStaleOrders(now: now) }
    }
}

extension Command {
    /// Brings the customer what waits under a token that is the customer's already.
    fileprivate static func claimingWaiting(
        _ token: AccountToken, for stream: Stream, _ now: Instant
    ) -> Command {
        let text = "clock:\(now.text)/claim/\(token)"
        return .claiming(
            token, for: stream, actor: .clock,
            cause: Cause(text: text, digest: SHA256.digest(Array(text.utf8)).bytes)
        ) { situation in
            // A row alone gives nothing: whose the token is was proven before this is asked.
            _ = situation.tokenOwners[token.text]
            return []
        }
    }
}

extension Event {
    fileprivate var isPurchaseAttached: Bool {
        if case .purchaseAttached = self { true } else { false }
    }

    fileprivate var isOrderClosed: Bool {
        if case .orderClosed = self { true } else { false }
    }
}
