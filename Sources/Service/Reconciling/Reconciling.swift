package import Core

/// The wish to compare a project with the clock, the stores and the log.
package struct ReconcileWish: Sendable {
    package let project: ProjectID
    package var plan = ReconcilePlan()
    /// Looks only: changes nothing, and records nothing.
    package var isRehearsal = false
    /// How many shards are published at the same time. More is faster, and leaves less of a machine to others.
    package var parallel = 1
    /// How often an app's store is asked in one step; the rest waits for the next run.
    package var storeCalls = 20_000
    /// The same for histories in a round that began by itself: it takes its time.
    package var slowCalls = 5000
    /// The run that was requested, where this is to do it.
    package var requested: ReconciliationID?

    package init(project: ProjectID) {
        self.project = project
    }
}

/// What a reconciliation needs to do its work.
package struct ReconcilePort {
    /// Takes the right to reconcile, which lasts as long as the port; false while another run has it.
    package var begin: () throws(Fault) -> Bool
    /// Whether that right is held still.
    package var holds: () throws(Fault) -> Bool
    /// What an earlier run of that id came to the end of.
    package var done: (ReconciliationID) throws(Fault) -> [ReconcilePart: StepCounts]
    package var note: (ReconcilePart, StepCounts, ReconciliationID) throws(Fault) -> Void
    package var forget: () throws(Fault) -> Void
    /// Does parts of one step side by side.
    package var reconcile: ([ReconcilePart], ReconciliationID) -> [Result<PartReport, Fault>]
    package var inquiries: InquiryPort
    /// For durations, in milliseconds.
    package var monotonicClock: () -> Int64

    package init(
        begin: @escaping () throws(Fault) -> Bool,
        holds: @escaping () throws(Fault) -> Bool,
        done: @escaping (ReconciliationID) throws(Fault) -> [ReconcilePart: StepCounts],
        note: @escaping (ReconcilePart, StepCounts, ReconciliationID) throws(Fault) -> Void,
        forget: @escaping () throws(Fault) -> Void,
        reconcile: @escaping ([ReconcilePart], ReconciliationID) -> [Result<PartReport, Fault>],
        inquiries: InquiryPort, monotonicClock: @escaping () -> Int64
    ) {
        self.begin = begin
        self.holds = holds
        self.done = done
        self.note = note
        self.forget = forget
        self.reconcile = reconcile
        self.inquiries = inquiries
        self.monotonicClock = monotonicClock
    }
}

/// How many customers a step will look at, some of them only in later runs, and how long that takes.
package struct WorkAhead: Hashable, Sendable {
    package var customers: Int64
    package var milliseconds: Int64
}

/// How far a reconciliation has come with a step.
package struct ReconcileProgress: Sendable {
    package let step: ReconcileStep
    package let partsDone: Int
    package let parts: Int
    package let counts: StepCounts
    /// What it has ahead of it at its beginning, where that is known.
    package let ahead: WorkAhead?
    /// The same without what an earlier run had done.
    let partsDoneNow: Int
    let lookedAtNow: Int64
    /// Since this run began with the step.
    let milliseconds: Int64

    /// How many customers, notifications or events a second are looked at.
    package var rate: Int64 { milliseconds == 0 ? 0 : lookedAtNow * 1000 / milliseconds }

    /// How long the rest of the step will take; `nil` while nothing tells.
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
    /// Reconciles a project, and records the run unless it is a rehearsal. A run that was cut short is
    /// taken up where it stood; one step that cannot be done does not keep the others from being done.
    package func reconcile(
        _ wish: ReconcileWish, _ port: ReconcilePort, by sender: Sender,
        while isWanted: @escaping () -> Bool = { true },
        progress: @escaping (ReconcileProgress) -> Void = { _ in }
    ) throws(CommandError) -> ReconciliationFinished {
        _ = try ports.ledger.existing(wish.project)
        guard try obtain(port.begin()) else { throw .refused(.reconciliationRunning) }
        let started = port.monotonicClock()
        let id =
            wish.isRehearsal
            ? ports.secrets.newID(prefix: "rc_") : try ports.start(wish, by: sender)
        var course = ReconcileCourse(ReconcilePart.all(of: wish.plan), parallel: wish.parallel)
        if !wish.isRehearsal {
            if let requested = wish.requested, try ports.isOld(requested, of: wish.project) {
                try obtain(port.forget())
            }
            course.done = try obtain(port.done(id))
        }
        let round = StoreRound(
            Submissions(self, apps: AppRing(ports)), port.inquiries, wish,
            while: port.goesOn(while: isWanted))
        while let (step, parts) = course.next {
            if !isWanted() { throw .fault(.unavailable) }
            try port.requireHold()
            course.begin(step, at: port.monotonicClock())
            let tell: (StepCounts, WorkAhead?) -> Void = { [course] counts, ahead in
                progress(
                    course.progress(
                        of: step, counts, expecting: ahead, at: port.monotonicClock()))
            }
            let results =
                step.asksStores
                ? [Result { () throws(Fault) in try round.reconcile(step, told: tell) }]
                : port.reconcile(parts, id)
            for (part, result) in zip(parts, results) {
                do throws(Fault) {
                    let report = try result.get()
                    // What could not be done whole is done again when the run is taken up.
                    if !wish.isRehearsal, report.errors.isEmpty {
                        try port.note(part, report.counts, id)
                    }
                    course.end(part, report)
                } catch {
                    if !isWanted() { throw .fault(error) }
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
        try port.requireHold()
        try ports.finish(finished, of: wish.project, port, by: sender)
        return finished
    }
}

extension ReconcilePort {
    /// How long it is taken for granted that the right to reconcile is held, in milliseconds.
    private static let trust: Int64 = 5000

    /// Ends a run whose connection was lost: another one may have begun since.
    fileprivate func requireHold() throws(CommandError) {
        if try obtain(holds()) { return }
        throw .fault(
            .broken(
                "The connection was lost on which the right to reconcile was held; run it again: it "
                    + "is taken up where it stood."))
    }

    /// Whether a long step may go on: it is wanted, and no other run may have begun. Asking keeps the connection
    /// from falling asleep, too.
    fileprivate func goesOn(while isWanted: @escaping () -> Bool) -> () -> Bool {
        var knownAt = monotonicClock()
        return {
            if monotonicClock() - knownAt >= ReconcilePort.trust {
                guard (try? holds()) == true else { return false }
                knownAt = monotonicClock()
            }
            return isWanted()
        }
    }
}

extension Ports {
    /// What was looked at longer ago is looked at again.
    private static let longestPause: Int64 = 6 * 3_600_000

    /// Every reconciliation of the project that is remembered, newest first.
    package func reconciliations(
        of project: ProjectID
    ) throws(CommandError) -> [Reconciliation] {
        try ledger.existing(project).reconciliations.reversed()
    }

    /// One reconciliation of the project.
    package func reconciliation(
        _ id: ReconciliationID, of project: ProjectID
    ) throws(CommandError) -> Reconciliation {
        guard let found = try reconciliations(of: project).first(where: { $0.id == id }) else {
            throw .refused(.reconciliationUnknown(id))
        }
        return found
    }

    /// Whether what the run looked at may have changed since: one that was requested is taken up at any age.
    fileprivate func isOld(
        _ id: ReconciliationID, of project: ProjectID
    ) throws(CommandError) -> Bool {
        let since = now().advanced(byMilliseconds: -Ports.longestPause)
        return try reconciliation(id, of: project).startedAt <= since
    }

    /// The run that was requested, or was cut short and had the same plan; or a new one.
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
        let since = now().advanced(byMilliseconds: -Ports.longestPause)
        if let last = state.reconciliations.last, last.finished == nil,
            last.started.plan == wish.plan, last.startedAt > since
        {
            return last.id
        }
        let started = ReconciliationStarted(
            reconciliation: secrets.newID(prefix: "rc_"), plan: wish.plan)
        try record(.reconciliationStarted(started), of: wish.project, by: sender) { _ in true }
        return started.reconciliation
    }

    fileprivate func finish(
        _ finished: ReconciliationFinished, of project: ProjectID, _ port: ReconcilePort,
        by sender: Sender
    ) throws(CommandError) {
        let outcome = try record(.reconciliationFinished(finished), of: project, by: sender) {
            state in
            // A run ends once, also where another one took it up.
            !state.reconciliations.contains {
                $0.id == finished.reconciliation && $0.finished != nil
            }
        }
        // What stays there is of no run that will be taken up.
        if !outcome.events.isEmpty { try? port.forget() }
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
