package import Core

/// The wish to compare a project with the clock and the log.
package struct ReconcileWish: Sendable {
    package let project: ProjectID
    package var steps: [ReconcileStep] = ReconcileStep.allCases
    /// Looks only: changes nothing, and records nothing.
    package var isRehearsal = false
    /// Compares the rows of every customer, and not of some.
    package var isFull = false
    /// Writes rows that differ anew from the log.
    package var repairs = false

    package init(project: ProjectID) {
        self.project = project
    }
}

/// What a reconciliation needs to do its work.
package struct ReconcilePort {
    /// Takes the right to reconcile, which lasts as long as the port; false while another run has it.
    package var begin: () throws(Fault) -> Bool
    /// What an earlier run of that id came to the end of.
    package var done: (ReconciliationID) throws(Fault) -> [ReconcilePart: StepCounts]
    package var note: (ReconcilePart, StepCounts, ReconciliationID) throws(Fault) -> Void
    package var forget: () throws(Fault) -> Void
    package var reconcile: (ReconcilePart) throws(Fault) -> StepCounts
    /// For durations, in milliseconds.
    package var monotonicClock: () -> Int64

    package init(
        begin: @escaping () throws(Fault) -> Bool,
        done: @escaping (ReconciliationID) throws(Fault) -> [ReconcilePart: StepCounts],
        note: @escaping (ReconcilePart, StepCounts, ReconciliationID) throws(Fault) -> Void,
        forget: @escaping () throws(Fault) -> Void,
        reconcile: @escaping (ReconcilePart) throws(Fault) -> StepCounts,
        monotonicClock: @escaping () -> Int64
    ) {
        self.begin = begin
        self.done = done
        self.note = note
        self.forget = forget
        self.reconcile = reconcile
        self.monotonicClock = monotonicClock
    }
}

/// How far a reconciliation has come.
package struct ReconcileProgress: Sendable {
    package let part: ReconcilePart
    package let partsDone: Int
    package let parts: Int
    package let counts: StepCounts
    /// Since this run began.
    package let milliseconds: Int64
}

extension Ports {
    /// What was looked at longer ago is looked at again.
    private static let longestPause: Int64 = 6 * 3_600_000

    /// Reconciles a project, and records the run unless it is a rehearsal. A run that was cut short is
    /// taken up where it stood; one step that cannot be done does not keep the others from being done.
    package func reconcile(
        _ wish: ReconcileWish, _ port: ReconcilePort, by sender: Sender,
        while isWanted: () -> Bool = { true }, progress: (ReconcileProgress) -> Void = { _ in }
    ) throws(CommandError) -> ReconciliationFinished {
        try requireProject(wish.project)
        guard try obtain(port.begin) else { throw .refused(.reconciliationRunning) }
        let started = port.monotonicClock()
        let id =
            wish.isRehearsal ? secrets.newID(prefix: "rc_") : try start(wish, by: sender)
        var done =
            wish.isRehearsal ? [:] : try obtain { () throws(Fault) in try port.done(id) }
        let parts = ReconcilePart.all(of: wish.steps, isFull: wish.isFull)
        var undone: [ReconcileStep: String] = [:]
        for (index, part) in parts.enumerated() where done[part] == nil {
            if undone[part.step] != nil { continue }
            if !isWanted() { throw .fault(.unavailable) }
            do throws(Fault) {
                let counts = try port.reconcile(part)
                if !wish.isRehearsal { try port.note(part, counts, id) }
                done[part] = counts
            } catch {
                undone[part.step] = "\(part.step.rawValue): \(error.sentence)"
            }
            progress(
                ReconcileProgress(
                    part: part, partsDone: index + 1, parts: parts.count,
                    counts: done.sum(of: part.step),
                    milliseconds: port.monotonicClock() - started))
        }
        let finished = ReconciliationFinished(
            reconciliation: id,
            steps: Dictionary(uniqueKeysWithValues: wish.steps.map { ($0, done.sum(of: $0)) }),
            errors: wish.steps.compactMap { undone[$0] },
            milliseconds: port.monotonicClock() - started)
        if !wish.isRehearsal { try finish(finished, of: wish.project, port, by: sender) }
        return finished
    }

    /// Every reconciliation of the project that is remembered, newest first.
    package func reconciliations(
        of project: ProjectID
    ) throws(CommandError) -> [Reconciliation] {
        try existing(project).reconciliations.reversed()
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

    /// The run that was cut short and had the same steps, or a new one.
    private func start(
        _ wish: ReconcileWish, by sender: Sender
    ) throws(CommandError) -> ReconciliationID {
        let since = now().advanced(byMilliseconds: -Ports.longestPause)
        if let last = try existing(wish.project).reconciliations.last, last.finished == nil,
            last.started.steps == wish.steps, last.startedAt > since
        {
            return last.id
        }
        let started = ReconciliationStarted(
            reconciliation: secrets.newID(prefix: "rc_"), steps: wish.steps)
        try record(.reconciliationStarted(started), of: wish.project, by: sender)
        return started.reconciliation
    }

    private func finish(
        _ finished: ReconciliationFinished, of project: ProjectID, _ port: ReconcilePort,
        by sender: Sender
    ) throws(CommandError) {
        try record(.reconciliationFinished(finished), of: project, by: sender)
        // What stays there is of no run that will be taken up.
        try? port.forget()
    }

    private func record(
        _ event: Event, of project: ProjectID, by sender: Sender
    ) throws(CommandError) {
        let cause = secrets.cause(
            of: Sender(actor: sender.actor, idempotencyKey: nil), "reconcile", [event.typeName])
        _ = try ledger.append(
            .project(project, actor: sender.actor, cause: cause) { _, _ in [event] })
    }
}

extension [ReconcilePart: StepCounts] {
    fileprivate func sum(of step: ReconcileStep) -> StepCounts {
        reduce(into: StepCounts()) { if $1.key.step == step { $0 += $1.value } }
    }
}

extension Fault {
    /// Why a step could not be done.
    fileprivate var sentence: String {
        switch self {
        case .busy: "The service is overloaded."
        case .unavailable: "The database cannot be reached."
        case .logBlocked: Fault.blockedSentence
        case .broken(let reason): reason
        }
    }
}
