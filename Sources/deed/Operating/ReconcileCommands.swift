import API
import Assembly
import Commands
import Core
import Evidence
import JSON
import Ledger
import Service
import Threading

/// Longer names come first, because the first match wins.
let reconcileCommands = [
    listReconciliationsCommand, showReconciliationCommand, reconcileCommand,
]

private let reconcileCommand = CommandSpec(
    path: ["reconcile"],
    summary: "Compares a project with the clock, the stores and the log, and adds what is missing.",
    options: [
        .value("only", "STEPS", "only these steps, separated by commas: \(ReconcileStep.list)"),
        .flag("dry-run", "only report; change and record nothing"),
        .value("now", "INSTANT", "as of this instant, no later than the database's current time"),
        .flag(
            "full",
            "compare the rows of every customer, not only of a sample, and ask the stores for the "
                + "history of each"),
        .flag("repair", "rewrite rows that differ from the log"),
        .value(
            "parallel", "COUNT",
            "publish boundaries of this many shards at once, 1 to 16 (1): faster, but slower "
                + "for others on the same machine"),
        .flag("every-project", "every project, one after the other, instead of one"),
        .value(
            "wait", "SECONDS",
            "how many seconds to wait for another reconciliation to end, up to 86400 (0)"
        ),
        .extraRoots, .secretKeyFile, .project,
    ] + Option.database,
    example: "deed reconcile --full --repair --json"
) { invocation throws(CommandEnd) in
    let wish = try invocation.reconcileWish(of: invocation.project())
    let patience = try invocation.integer("wait", in: 0...86_400) ?? 0
    if invocation.has("every-project"), invocation.isWritten("project") {
        throw invocation.usage("give --every-project or --project, not both")
    }
    let sender = try invocation.sender()
    let roots = try invocation.extraRoots()
    try invocation.withDatabase { database throws(CommandEnd) in
        let clock = try invocation.clock(over: database, for: wish)
        var settings = database.modestSettings(clock: clock)
        (settings.lookups, settings.committers) = (wish.parallel, wish.parallel)
        // Batches can be large, because clients do not wait for these committers.
        settings.backgroundBatch = 500
        let live = Live(
            settings,
            Outside(
                verifier: Verifier(extraRoots: roots), keys: invocation.secretKeyFile.ring))
        defer {
            live.store.close()
            live.ledger.close()
        }
        guard invocation.has("every-project") else {
            return try invocation.reconcile(wish, live, by: sender, patience: patience)
        }
        var ends: [(project: ProjectID, end: CommandEnd)] = []
        for listed in try ask(live.intake.directory.projects()) {
            do throws(CommandEnd) {
                try invocation.reconcile(
                    invocation.reconcileWish(of: listed.project), live, by: sender,
                    patience: patience)
            } catch {
                ends.append((listed.project, error))
            }
        }
        if let end = CommandEnd(ends) { throw end }
    }
}

private let listReconciliationsCommand = CommandSpec(
    path: ["reconcile", "list"], summary: "Lists reconciliations, newest first.",
    options: [.project] + Option.database, onlyReads: true,
    example: "deed reconcile list --json"
) { invocation throws(CommandEnd) in
    let project = try invocation.project()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let all = try obey(useCases.reconciliations.all(of: project))
        invocation.show(
            ["reconciliations": .array(all.map(\.json))],
            text: all.isEmpty
                ? "\(project) was never reconciled." : all.map(\.line).joined(separator: "\n"))
    }
}

private let showReconciliationCommand = CommandSpec(
    path: ["reconcile", "show"], summary: "Shows what a reconciliation found and repaired.",
    positionals: [Positional(name: "ID", help: "from deed reconcile list")],
    options: [.project] + Option.database, onlyReads: true,
    example: "deed reconcile show rc_4x1k9d"
) { invocation throws(CommandEnd) in
    let project = try invocation.project()
    let id: ReconciliationID = try invocation.id(
        invocation.positional(0) ?? "", named: "the id")
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let found = try obey(useCases.reconciliations.one(id, of: project))
        invocation.show(found.json, text: found.text)
    }
}

extension CommandEnd {
    /// Combines the errors of several projects; `nil` if none failed.
    fileprivate init?(_ ends: [(project: ProjectID, end: CommandEnd)]) {
        guard let worst = ends.max(by: { $0.end.exitCode < $1.end.exitCode })?.end else {
            return nil
        }
        let names = ends.map { "\($0.project)" }.joined(separator: ", ")
        let sentence = "Not sound: \(names). \(worst.sentence)"
        self =
            worst.exitCode == 1
            ? .refused(code: worst.code, sentence: sentence) : .fault(sentence)
    }
}

extension Invocation {
    fileprivate func reconcileWish(of project: ProjectID) throws(CommandEnd) -> ReconcileWish {
        var wish = ReconcileWish(project: project)
        if let steps = self["only"] { wish.plan.steps = try self.steps(steps) }
        wish.isRehearsal = has("dry-run")
        wish.plan.isFull = has("full")
        wish.plan.repairs = has("repair")
        if let flag = wish.plan.idle {
            throw usage(
                "--\(flag) has no effect with --only \(self["only"] ?? ""): add projections, or leave "
                    + "--\(flag) out")
        }
        wish.parallel = try integer("parallel", in: 1...16) ?? wish.parallel
        wish.plan.asOf = try reconciledInstant()
        return wish
    }

    /// Reconciles a project and prints the report. Throws unless everything is in order.
    fileprivate func reconcile(
        _ wish: ReconcileWish, _ live: Live, by sender: Sender, patience: Int
    ) throws(CommandEnd) {
        let progress = Progress()
        let port = ReconcilePort(wish, live.ledger)
        let deadline = monotonicMilliseconds() + Int64(patience) * 1000
        while true {
            let result = Result { () throws(CommandError) in
                try live.intake.reconcile(
                    wish, port, by: sender,
                    progress: { progress.show("\(wish.project): \($0.line)") })
            }
            if case .failure(.refused(.reconciliationRunning)) = result,
                monotonicMilliseconds() < deadline
            {
                progress.show("\(wish.project): waiting for another reconciliation to end")
                pause(milliseconds: 500)
                continue
            }
            progress.end()
            return try tell(obey(result.get()), of: wish)
        }
    }

    private func tell(
        _ report: ReconciliationFinished, of wish: ReconcileWish
    ) throws(CommandEnd) {
        show(report.json(of: wish), text: report.text(of: wish))
        if report.isSound { return }
        throw .refused(
            code: report.errors.isEmpty ? "drift_found" : "step_not_done",
            sentence: report.advice(of: wish))
    }

    fileprivate func steps(_ text: String) throws(CommandEnd) -> [ReconcileStep] {
        var wanted: Set<ReconcileStep> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let step = ReconcileStep(rawValue: String(word)) else {
                throw usage("--only takes \(ReconcileStep.list), not \"\(word)\"")
            }
            wanted.insert(step)
        }
        return ReconcileStep.allCases.filter(wanted.contains)
    }

    fileprivate func reconciledInstant() throws(CommandEnd) -> Instant? {
        guard let text = self["now"] else { return nil }
        guard let instant = Instant(text: text) else {
            throw usage("--now takes an instant as in 2026-11-20T03:00:00Z")
        }
        return instant
    }

    /// Returns the database's clock, or a clock that is fixed at an instant in the past. With a test clock, the instant
    /// may be in the future.
    fileprivate func clock(
        over database: Database, for wish: ReconcileWish
    ) throws(CommandEnd) -> Clock {
        let clock = try clock(over: database, onlyReads: wish.isRehearsal)
        guard let instant = wish.plan.asOf else { return clock }
        let isForTests = try starting { () throws(StartError) in
            try database.testClockInstant() != nil
        }
        if !isForTests, instant > clock() {
            throw .refused(
                code: "instant_ahead",
                sentence: "\(instant.text) is ahead of the clock, which shows \(clock().text); "
                    + "give an earlier instant.")
        }
        return { instant }
    }
}

extension ReconcileStep {
    fileprivate static var list: String {
        allCases.map(\.rawValue).joined(separator: ", ")
    }
}

extension ReconcileProgress {
    fileprivate var line: String {
        let place = parts > 1 ? "\(partsDone) of \(parts) shards, " : ""
        let left = millisecondsLeft.map { ", about \(($0 + 999) / 1000) s left" } ?? ""
        let all = ahead.map { " of \($0.customers)" } ?? ""
        let done = "\(counts.lookedAt)\(all) looked at (\(rate) a second)"
        return "\(step.rawValue): \(place)\(done)\(left)"
    }
}
