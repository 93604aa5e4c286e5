package import Core
import Postgres
import SQL

/// The records of past and requested reconciliations.
extension Ledger {
    package func notedParts(
        of project: ProjectID, in id: ReconciliationID
    ) throws(Fault) -> [ReconcilePart: NotedPart] {
        let call = Statement.listReconciled(.text(project.text), .text(id.text))
        var parts: [ReconcilePart: NotedPart] = [:]
        _ = try list(call) { rows, row in
            guard let step = ReconcileStep(rawValue: rows.text(row, 0)) else { return }
            let shard = rows.int2(row, 1) < 0 ? nil : Shard(number: rows.int2(row, 1))
            let counts = StepCounts(
                lookedAt: rows.int8(row, 2), found: rows.int8(row, 3), mended: rows.int8(row, 4))
            parts[ReconcilePart(step: step, shard: shard)] = (counts, rows.bool(row, 5))
        }
        return parts
    }

    package func note(
        _ part: ReconcilePart, _ counts: StepCounts, isDone: Bool, of project: ProjectID,
        in id: ReconciliationID
    ) throws(Fault) {
        try write(
            Statement.markReconciled(
                .text(project.text), .text(id.text), .text(part.step.rawValue),
                .int2(part.shard?.number ?? -1), .int8(counts.lookedAt), .int8(counts.found),
                .int8(counts.mended), .bool(isDone)))
    }

    package func forgetParts(of project: ProjectID) throws(Fault) {
        try write(Statement.forgetReconciled(.text(project.text)))
    }

    /// Writes a note. A later commit makes it durable. If the note is lost, only part of the run repeats.
    func write(_ note: Call) throws(Fault) {
        try send([
            Statement.begin(), ConnectionSettings.losableTransaction(), note, Statement.commit(),
        ])
    }

    /// Returns when the project that has waited longest was last reconciled (or created, if it never was), and the
    /// number of projects with faults in the last run of some step. Where a clock that was ahead left a time far in
    /// the future, the last complete run of the nightly job counts instead.
    package func reconciled(
        at now: Instant, nightly job: String
    ) throws(Fault) -> (longestAgo: Instant?, drifted: Int64) {
        try list(Statement.countReconciled(.int8(now.milliseconds), .text(job))) { rows, row in
            (rows.optionalInt8(row, 0).map(Instant.init(milliseconds:)), rows.int8(row, 1))
        }.first ?? (nil, 0)
    }

    /// Returns the projects whose requested reconciliation has not ended.
    package func requestedReconciliations() throws(Fault) -> [ProjectID] {
        try readable(
            Statement.listRequested(),
            of: { rows, row in UnreadSubject(rows.text(row, 0), "", "", row: "projects") }
        ) { rows, row throws(LedgerError) -> ProjectID in try rows.identifier(row, 0) }
    }
}

/// The right to reconcile, which only one run per database can have at a time.
extension Ledger {
    private static let reconciliation = "reconciliation"

    private var machineClock: @Sendable () -> Instant { settings.machineClock ?? settings.clock }

    /// Takes the right to reconcile; `nil` if another run has it.
    package func reconcileRight() throws(Fault) -> KeptLease? {
        try KeptLease(Ledger.reconciliation, of: self, clock: machineClock)
    }

    package func isReconciling() throws(Fault) -> Bool {
        try isHeld(Ledger.reconciliation, at: machineClock())
    }
}

/// Work that a run finds by reading only rows.
extension Ledger {
    package func staleOrders(
        of project: ProjectID, in shard: Shard, at now: Instant
    ) throws(Fault) -> [(stream: Stream, count: Int64)] {
        let call = Statement.listStaleOrders(
            .int2(shard.number), .text(project.text), .int8(now.milliseconds))
        return try readable(
            call,
            of: { rows, row in
                UnreadSubject(project.text, rows.text(row, 0), rows.text(row, 1), row: "orders")
            }
        ) { rows, row throws(LedgerError) -> (stream: Stream, count: Int64) in
            (
                try Stream(
                    project: project.text, environment: rows.text(row, 0),
                    customer: rows.text(row, 1)), rows.int8(row, 2)
            )
        }
    }

    package func intakeCounts(of project: ProjectID) throws(Fault) -> StepCounts {
        try counts(
            Statement.countProjectIntake(.text(project.text), .int8(IntakeItem.alarmTries)))
    }

    package func unclaimedCounts(of project: ProjectID) throws(Fault) -> StepCounts {
        try counts(Statement.countProjectUnclaimed(.text(project.text)))
    }

    private func counts(_ call: Call) throws(Fault) -> StepCounts {
        try list(call) { rows, row in
            StepCounts(lookedAt: rows.int8(row, 0), found: rows.int8(row, 1))
        }.first ?? StepCounts()
    }

    package func claimableTokens(
        of project: ProjectID
    ) throws(Fault) -> [(token: AccountToken, stream: Stream)] {
        try readable(
            Statement.listClaimable(.text(project.text)),
            of: { rows, row in
                UnreadSubject(project.text, rows.text(row, 0), rows.text(row, 2), row: "tokens")
            }
        ) { rows, row throws(LedgerError) -> (token: AccountToken, stream: Stream)? in
            let stream = try Stream(
                project: project.text, environment: rows.text(row, 0), customer: rows.text(row, 2))
            return AccountToken(rows.text(row, 1)).map { ($0, stream) }
        }.compactMap(\.self)
    }
}
