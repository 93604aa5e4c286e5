package import Core

/// A request to compare a project with the clock, the stores and the log.
package struct ReconcileWish: Sendable {
    package let project: ProjectID
    package var plan = ReconcilePlan()
    /// Whether to examine the project without changing anything.
    package var isRehearsal = false
    /// How many shards are published at the same time. A larger number is faster but leaves less
    /// capacity for other work.
    package var parallel = 1
    /// The maximum number of calls to an app's store in one step. The next run continues where this
    /// one stopped.
    package var storeCalls = 20_000
    /// The maximum number of calls for histories in a slow round, which no request started.
    package var slowCalls = 5000
    /// The request that this run fulfils, if any.
    package var requested: ReconciliationID?

    package init(project: ProjectID) {
        self.project = project
    }
}

/// How many customers a step has to check, some of them in later runs, and how long the checks will take.
package struct WorkAhead: Hashable, Sendable {
    package var customers: Int64
    package var milliseconds: Int64
}

/// A reconciliation's progress in a step.
package struct ReconcileProgress: Sendable {
    package let step: ReconcileStep
    package let partsDone: Int
    package let parts: Int
    package let counts: StepCounts
    /// The initial estimate of the step's work, if known.
    package let ahead: WorkAhead?
    /// The number of parts completed by this run, without the parts completed before it was
    /// resumed.
    let partsDoneNow: Int
    let lookedAtNow: Int64
    /// The time since this run started the step.
    let milliseconds: Int64

    /// How many customers, notifications or events the step checks per second.
    package var rate: Int64 { milliseconds == 0 ? 0 : lookedAtNow * 1000 / milliseconds }

    /// How long the step will take from now on; `nil` if unknown.
    package var millisecondsLeft: Int64? {
        if let ahead {
            if lookedAtNow == 0 { return ahead.milliseconds }
            return milliseconds * max(0, ahead.customers - lookedAtNow) / lookedAtNow
        }
        if partsDone == parts { return partsDoneNow > 0 && parts > 1 ? 0 : nil }
        if partsDoneNow == 0 { return nil }
        return milliseconds * Int64(parts - partsDone) / Int64(partsDoneNow)
    }
}

extension Intake {
    /// Reconciles a project, and records the run unless it is a rehearsal. Resumes an interrupted
    /// run. If a step fails, the others continue.
    package func reconcile(
        _ wish: ReconcileWish, _ port: ReconcilePort, by sender: Sender,
        while isWanted: @escaping () -> Bool = { true },
        progress: @escaping (ReconcileProgress) -> Void = { _ in }
    ) throws(CommandError) -> ReconciliationFinished {
        _ = try ledger.existing(wish.project)
        let runs = Reconciliations(ledger, directory, secrets, now: now)
        guard let right = try obtain(port.rights.reconcileRight()) else {
            throw .refused(.reconciliationRunning)
        }
        defer { right.giveBack() }
        try obtain(port.steps.prepare())
        let started = port.monotonicClock()
        let id =
            wish.isRehearsal
            ? secrets.newID(prefix: "rc_") : try runs.start(wish, by: sender)
        var course = ReconcileCourse(ReconcilePart.all(of: wish.plan), parallel: wish.parallel)
        if !wish.isRehearsal {
            if let requested = wish.requested, try runs.isOld(requested, of: wish.project) {
                try obtain(port.notes.forgetParts(of: wish.project))
            }
            course.done = try obtain(port.notes.notedParts(of: wish.project, in: id))
                .filter(\.value.isDone).mapValues(\.counts)
        }
        let round = StoreRound(
            Submissions(self), port, wish, under: right.lease,
            while: { right.isHeld && isWanted() })
        while let (step, parts) = course.next {
            if !isWanted() { throw .fault(.unavailable) }
            try right.requireHold()
            course.begin(step, at: port.monotonicClock())
            let tell: (StepCounts, WorkAhead?) -> Void = { [course] counts, ahead in
                progress(
                    course.progress(
                        of: step, counts, expecting: ahead, at: port.monotonicClock()))
            }
            let results =
                step.asksStores
                ? [Result { () throws(Fault) in try round.reconcile(step, told: tell) }]
                : port.steps.reconcile(parts, of: id, under: right.lease)
            for (part, result) in zip(parts, results) {
                do throws(Fault) {
                    let report = try result.get()
                    // A completed part is noted, because a resumed run repeats only the incomplete
                    // ones.
                    if !wish.isRehearsal, report.errors.isEmpty {
                        try port.notes.note(
                            part, report.counts, isDone: true, of: wish.project, in: id)
                    }
                    course.end(part, report)
                } catch {
                    if !isWanted() || error == .leaseLost { throw .fault(error) }
                    course.giveUp(part, because: error)
                }
            }
            tell(course.counts(of: step), nil)
        }
        let finished = ReconciliationFinished(
            reconciliation: id, steps: course.counts(of: wish.plan.steps),
            errors: course.errors, notes: course.notes,
            milliseconds: port.monotonicClock() - started)
        if wish.isRehearsal { return finished }
        try right.requireHold()
        try runs.finish(finished, of: wish.project, port.notes, by: sender)
        return finished
    }
}

extension ReconcileRight {
    /// Throws if the run has lost its right. Another run may then have started.
    fileprivate func requireHold() throws(CommandError) {
        if !isHeld { throw .fault(.leaseLost) }
    }
}

extension Reconciliations {
    /// The age in milliseconds from which results are checked again.
    private static let longestPause: Int64 = 6 * 3_600_000

    /// Returns all remembered reconciliations of the project, newest first.
    package func all(
        of project: ProjectID
    ) throws(CommandError) -> [Reconciliation] {
        try ledger.existing(project).reconciliations.reversed()
    }

    package func one(
        _ id: ReconciliationID, of project: ProjectID
    ) throws(CommandError) -> Reconciliation {
        guard let found = try all(of: project).first(where: { $0.id == id }) else {
            throw .refused(.reconciliationUnknown(id))
        }
        return found
    }

    /// Returns whether data may have changed since the run's checks. A requested run is resumed regardless of its age.
    fileprivate func isOld(
        _ id: ReconciliationID, of project: ProjectID
    ) throws(CommandError) -> Bool {
        try !isRecent(one(id, of: project))
    }

    /// A beginning far ahead was recorded while a clock was wrong, so it does not tell the run's age.
    private func isRecent(_ run: Reconciliation) -> Bool {
        let now = now()
        return run.begunAt > now.advanced(byMilliseconds: -Reconciliations.longestPause)
            && run.begunAt < now.advanced(byMilliseconds: Reconciliations.longestPause)
    }

    /// Returns the requested run, or else an interrupted run with the same plan, or else a new run.
    fileprivate func start(
        _ wish: ReconcileWish, by sender: Sender
    ) throws(CommandError) -> ReconciliationID {
        let state = try ledger.existing(wish.project)
        if let requested = wish.requested {
            guard state.requestedReconciliation?.id == requested else {
                throw .refused(.reconciliationUnknown(requested))
            }
            return requested
        }
        if let last = state.reconciliations.last, last.finished == nil,
            last.started.plan == wish.plan, isRecent(last)
        {
            return last.id
        }
        let started = ReconciliationStarted(
            reconciliation: secrets.newID(prefix: "rc_"), plan: wish.plan)
        try record(.reconciliationStarted(started), of: wish.project, by: sender) { _ in true }
        return started.reconciliation
    }

    fileprivate func finish(
        _ finished: ReconciliationFinished, of project: ProjectID, _ notes: any RunNotes,
        by sender: Sender
    ) throws(CommandError) {
        let outcome = try record(.reconciliationFinished(finished), of: project, by: sender) {
            state in
            // A run ends only once, even if another instance has resumed it.
            !state.reconciliations.contains {
                $0.id == finished.reconciliation && $0.finished != nil
            }
        }
        // Notes that remain after the run has ended would not belong to a run that could be
        // resumed.
        if !outcome.events.isEmpty { try? notes.forgetParts(of: project) }
    }

    @discardableResult
    private func record(
        _ event: Event, of project: ProjectID, by sender: Sender,
        where isNews: @escaping @Sendable (ProjectState) -> Bool
    ) throws(CommandError) -> Outcome {
        let cause = secrets.cause(
            of: Sender(actor: sender.actor, idempotencyKey: nil), "reconcile", [event.type.name])
        return try ledger.append(
            .project(project, actor: sender.actor, cause: cause) { state, _ in
                isNews(state) ? [event] : []
            })
    }
}
