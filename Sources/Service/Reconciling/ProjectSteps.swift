package import Core
import Wording

/// The steps of a run that check a project against the clock, the rows and the log.
package struct ProjectSteps: ReconcileSteps {
    package typealias SideBySide =
        ([Shard], @escaping @Sendable (Shard) -> Result<PartReport, Fault>) ->
        [Result<PartReport, Fault>]

    private let project: ProjectID
    private let plan: ReconcilePlan
    private let isRehearsal: Bool
    private let log: any RunNotes & LeftWork & UpkeepPort
    private let drift: any DriftFinder
    private let secrets: Secrets
    private let now: @Sendable () -> Instant
    private let sideBySide: SideBySide

    package init(
        _ wish: ReconcileWish, _ log: any RunNotes & LeftWork & UpkeepPort,
        _ drift: any DriftFinder, _ secrets: Secrets,
        now: @escaping @Sendable () -> Instant, sideBySide: @escaping SideBySide
    ) {
        (project, plan, isRehearsal) = (wish.project, wish.plan, wish.isRehearsal)
        (self.log, self.drift, self.secrets, self.now) = (log, drift, secrets, now)
        self.sideBySide = sideBySide
    }

    package func prepare() throws(Fault) {
        if plan.isFull, plan.steps.contains(.projections), !isRehearsal {
            try drift.prepare(project)
        }
    }

    package func reconcile(
        _ parts: [ReconcilePart], of id: ReconciliationID, under lease: Lease
    ) -> [Result<PartReport, Fault>] {
        if parts.first?.step == .boundaries {
            return publish(in: parts.compactMap(\.shard), under: lease)
        }
        return parts.map { part in
            Result { () throws(Fault) in try reconcile(part, of: id, at: .run(lease)) }
        }
    }

    func reconcile(
        _ part: ReconcilePart, of id: ReconciliationID, at pace: UpkeepPace
    ) throws(Fault) -> PartReport {
        switch (part.step, part.shard) {
        case (.orders, let shard?): try closeOrders(in: shard, at: pace)
        case (.projections, _): try compareRows(in: part, of: id, at: pace)
        case (.chain, let shard?):
            PartReport(try drift.walkChain(of: shard, isRehearsal: isRehearsal))
        case (.intake, _): PartReport(try log.intakeCounts(of: project))
        case (.unclaimed, _): try claimUnclaimed(at: pace)
        case (.orders, nil), (.chain, nil), (.boundaries, _), (.notifications, _),
            (.history, _), (.subscriptions, _):
            PartReport()
        }
    }

    private func publish(
        in shards: [Shard], under lease: Lease
    ) -> [Result<PartReport, Fault>] {
        let publishing = Publishing(log, now: now)
        return sideBySide(shards) { [project, isRehearsal] shard in
            Result { () throws(Fault) in
                let publication = try publishing.publish(
                    of: project, in: shard, under: lease, isRehearsal: isRehearsal)
                let notices = Int64(publication.notices)
                return PartReport(
                    StepCounts(
                        lookedAt: Int64(publication.customers), found: notices,
                        mended: isRehearsal ? 0 : notices), publication.fault)
            }
        }
    }

    private func closeOrders(
        in shard: Shard, at pace: UpkeepPace
    ) throws(Fault) -> PartReport {
        let now = self.now()
        let stale = try log.staleOrders(of: project, in: shard, at: now)
        let found = StepCounts(
            lookedAt: Int64(stale.count), found: stale.reduce(0) { $0 + $1.count })
        let cause = clockCause(now, "orders")
        return try mend(
            found, by: stale.map { .closingStaleOrders(of: $0.stream, because: cause) }, at: pace)
    }

    /// Finds waiting purchases whose token belongs to a customer, or that continue a customer's
    /// purchase, and gives them to that customer.
    private func claimUnclaimed(at pace: UpkeepPace) throws(Fault) -> PartReport {
        var found = try log.unclaimedCounts(of: project)
        let now = self.now()
        var commands: [Command] = []
        if found.found > 0 {
            commands = try log.claimableTokens(of: project).map { token, stream in
                .claimingWaiting(token, for: stream, because: clockCause(now, "claim/\(token)"))
            }
        }
        // Purchases whose tokens belong to a customer come first: their tokens find them without
        // reading each waiting purchase.
        var report = try mend(found, by: commands, at: pace)
        found = StepCounts()
        commands = []
        for (stream, facts) in try log.continuing(of: project) {
            found.found += 1
            let what = "place/\(stream.environment.rawValue)/\(stream.customer)"
            commands.append(.placing(facts, of: stream, because: clockCause(now, what)))
        }
        let placed = try mend(found, by: commands, at: pace)
        report.counts += placed.counts
        report.errors += placed.errors
        return report
    }

    /// Repairs findings through commands, unless the run is a rehearsal. Counts the events that
    /// result.
    private func mend(
        _ found: StepCounts, by commands: [Command], at pace: UpkeepPace
    ) throws(Fault) -> PartReport {
        var (report, faults) = (PartReport(found), [Fault]())
        if isRehearsal { return report }
        for commands in Dictionary(grouping: commands, by: \.stream.shard).values {
            do throws(Fault) {
                try log.settle(commands, at: pace, { $0 }) { _, result in
                    switch result {
                    case .success(let outcome):
                        report.counts.mended += Int64(outcome.events.count { $0.event.isMending })
                    case .failure(let fault): faults.append(fault)
                    }
                }
            } catch {
                if error.isOfWholeDatabase { throw error }
                faults.append(error)
            }
        }
        report.errors = faults.prefix(1).map(\.withRemedy)
        return report
    }

    private func clockCause(_ now: Instant, _ what: String) -> Cause {
        let text = "clock:\(now.text)/\(what)"
        return Cause(text: text, digest: secrets.digest(Array(text.utf8)))
    }

    private func compareRows(
        in part: ReconcilePart, of id: ReconciliationID, at pace: UpkeepPace
    ) throws(Fault) -> PartReport {
        let found = try drift.compareRows(of: project, in: part.shard, isFull: plan.isFull)
        var counts = found.counts
        guard plan.repairs, !isRehearsal else { return PartReport(counts) }
        // A finding is reported even if this run is killed and the next one finds it repaired.
        let earlier = try log.notedParts(of: project, in: id)[part]?.counts.found ?? 0
        let known = max(counts.found, earlier)
        if known > 0 {
            let noted = StepCounts(lookedAt: counts.lookedAt, found: known)
            try log.note(part, noted, isDone: false, of: project, in: id)
        }
        let (mended, fault) = try found.mend(pace)
        counts.mended += mended
        // If everything was compared again, earlier findings that no longer appear have been
        // repaired. A sample could not show this.
        if part.shard != nil || plan.isFull { counts.mended += known - counts.found }
        counts.found = known
        return PartReport(counts, fault)
    }
}

extension PartReport {
    fileprivate init(_ counts: StepCounts, _ fault: Fault?) {
        self.init(counts)
        errors = fault.map { [$0.withRemedy] } ?? []
    }
}

extension Event {
    fileprivate var isMending: Bool {
        switch self {
        // The move of a purchase is counted once, in the reserved stream that the purchase leaves.
        case .orderClosed, .purchaseAttached, .purchaseDetached: true
        default: false
        }
    }
}
