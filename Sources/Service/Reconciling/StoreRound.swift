import Core
import Wording

/// The steps of one reconciliation that ask stores, for each of the project's apps that allows this.
final class StoreRound {
    /// The pauses before a failing store is asked again, in milliseconds, in addition to the pauses within a call.
    private static let pauses: [Int64] = [1000, 2000, 4000, 8000, 16_000]
    /// The longest pause that a store may ask for, in milliseconds. A longer one ends the step for the app.
    private static let longestPause: Int64 = 120_000
    /// After this many consecutive questions without an answer, the run asks an app's store no more questions.
    static let patience = 3
    /// How often a pause checks whether the run is still wanted, in milliseconds.
    private static let slice: Int64 = 1000

    let submissions: Submissions
    let port: ReconcilePort
    let project: ProjectID
    let plan: ReconcilePlan
    let isRehearsal: Bool
    private let storeCalls: Int
    let slowCalls: Int
    /// The estimate of a step's work, if known.
    var ahead: WorkAhead?
    /// Facts that a rehearsal has read and that a run would have recorded. Later steps take these
    /// facts into account, as they would in a run.
    var learned: [StorePurchase: [Facts]] = [:]
    /// How many subscriptions have been skipped because the store did not know them.
    var resting: [AppKey: Int] = [:]
    private(set) var report = PartReport()
    private(set) var callsLeft: [AppKey: Int] = [:]
    /// The environments that have answered in this run. If a key or certificate has just worked, one failure does not
    /// mean that it is bad.
    private var answering: [AppKey: Set<Environment?>] = [:]
    /// How many questions about an app have failed since the store last answered.
    private var unanswered: [AppKey: Int] = [:]
    let lease: Lease
    private let isWanted: () -> Bool
    private var told: (StepCounts, WorkAhead?) -> Void = { _, _ in }
    private var failures: [Failure: (count: Int, sentence: String)] = [:]

    private struct Failure: Hashable {
        let subject: String
        let code: String
    }

    var intake: Intake { submissions.intake }

    func profile(of app: App) -> (any StoreProfile)? { intake.stores[app.key.store]?.profile }

    init(
        _ submissions: Submissions, _ port: ReconcilePort, _ wish: ReconcileWish,
        under lease: Lease, while isWanted: @escaping () -> Bool
    ) {
        self.submissions = submissions
        (self.port, self.lease) = (port, lease)
        project = wish.project
        plan = wish.plan
        (storeCalls, slowCalls) = (wish.storeCalls, wish.slowCalls)
        isRehearsal = wish.isRehearsal
        self.isWanted = isWanted
    }

    func reconcile(
        _ step: ReconcileStep, told: @escaping (StepCounts, WorkAhead?) -> Void
    ) throws(Fault) -> PartReport {
        (report, failures, unanswered, self.told) = (PartReport(), [:], [:], told)
        (ahead, resting) = (nil, [:])
        do throws(CommandError) {
            let apps = try askableApps(in: step)
            callsLeft = Dictionary(
                uniqueKeysWithValues: apps.map { ($0.key, storeCalls) })
            switch step {
            case .notifications:
                for app in apps {
                    try attempt(app) { () throws(StoreQuestionError) in
                        try readNotifications(of: app)
                    }
                }
            case .history: try askForHistories(of: apps)
            case .subscriptions: try askAboutSubscriptions(of: apps)
            default: break
            }
            try tellMissing(of: apps)
        } catch {
            throw error.asFault
        }
        for (failure, told) in failures.sorted(by: {
            ($0.key.subject, $0.key.code) < ($1.key.subject, $1.key.code)
        }) {
            let times = told.count == 1 ? "" : " (\(told.count) times)"
            report.errors.append("\(failure.subject)\(times): \(told.sentence)")
        }
        return report
    }

    /// Does the work for one app. Trouble with its store is reported and does not affect the other
    /// apps. Returns false if the store can answer no further questions about the app.
    @discardableResult
    func attempt(
        _ app: App, _ body: () throws(StoreQuestionError) -> Void
    ) throws(CommandError) -> Bool {
        do throws(StoreQuestionError) {
            try body()
            return true
        } catch {
            switch error {
            case .trouble(.fault(let fault)): try passOver(.fault(fault), of: app.key.id.text)
            case .command(let error): try passOver(error, of: app.key.id.text)
            case .trouble(let trouble):
                note(trouble, of: app)
                return mayGoOn(after: trouble, of: app)
            }
            return true
        }
    }

    /// Records that data could not be read or recorded, and lets the run continue. Rethrows faults
    /// that affect everything.
    func passOver(_ error: CommandError, of subject: String) throws(CommandError) {
        switch error {
        case .fault(let fault) where fault.isOfWholeDatabase: throw error
        case .fault(let fault): note("fault", fault.withRemedy, of: subject)
        case .refused(let refusal): note(refusal.code, refusal.withRemedy, of: subject)
        }
    }

    func note(_ trouble: StoreTrouble, of app: App) {
        note(trouble.code, trouble.withRemedy, of: app.key.id.text)
    }

    func limitCalls(of app: App, to limit: Int) {
        callsLeft[app.key] = min(limit, callsLeft[app.key] ?? limit)
    }

    func note(_ code: String, _ sentence: String, of subject: String) {
        failures[Failure(subject: subject, code: code), default: (0, sentence)].count += 1
    }

    /// Records that questions remain. The step then counts as incomplete, even if everything else
    /// is sound.
    func noteOutOfCalls(_ rest: String, of app: App) {
        note(
            "calls_used_up",
            "The run used up its budget of calls. More \(rest) are left for the next run.",
            of: app.key.id.text)
    }

    func remark(_ sentence: String, of app: App) {
        report.notes.append("\(app.key.id): \(sentence)")
    }

    func count(_ change: (inout StepCounts) -> Void) {
        change(&report.counts)
        told(report.counts, ahead)
    }

    /// Returns the apps whose store can be asked with an API key. All others are reported as skipped.
    private func askableApps(in step: ReconcileStep) throws(CommandError) -> [App] {
        let statuses = try obtain(intake.credentials.statuses(of: project))
        return try intake.ledger.existing(project).apps.filter { app in
            guard let profile = profile(of: app), profile.steps.contains(step) else { return false }
            if statuses[app.key]?.hasKey == true { return true }
            remark(
                Remedy.setStoreKey.after(
                    "The app was left out, because it has no key for the store's API."),
                of: app)
            return false
        }
    }
}

extension StoreRound {
    var questions: StoreQuestions {
        StoreQuestions(submissions) { call, app, environment throws(StoreTrouble) in
            try self.ask(call, app, environment)
        }
    }

    /// Asks the store. Waits if the store asks for a pause, if it fails temporarily, or if another server answers in
    /// its place.
    func ask(
        _ call: StoreCall, _ app: StoreApp, _ environment: Environment?
    ) throws(StoreTrouble) -> StoreAnswer {
        // No pauses are left if the previous question got no answer despite all of them.
        var pauses = unanswered[app.key] == nil ? StoreRound.pauses[...] : []
        var limits = StoreRound.pauses.count
        while true {
            callsLeft[app.key, default: 0] -= 1
            do throws(StoreTrouble) {
                let answer = try intake.ask(call, app, environment)
                unanswered[app.key] = nil
                answering[app.key, default: []].insert(environment)
                return answer
            } catch {
                switch error {
                case .limited(let until):
                    let wait = until.milliseconds - intake.machineClock().milliseconds
                    limits -= 1
                    if wait > StoreRound.longestPause || limits < 0 { throw error }
                    try rest(wait)
                case .unauthorized, .denied, .untrusted:
                    let hasAnswered = answering[app.key]?.contains(environment) ?? false
                    guard hasAnswered, let usual = pauses.popFirst() else { throw error }
                    try rest(usual)
                case .unavailable, .unreadable:
                    guard let usual = pauses.popFirst() else {
                        unanswered[app.key, default: 0] += 1
                        throw error
                    }
                    try rest(usual)
                default:
                    unanswered[app.key] = nil
                    throw error
                }
            }
        }
    }

    /// Returns whether the store may still answer other questions about this app.
    func mayGoOn(after trouble: StoreTrouble, of app: App) -> Bool {
        switch trouble {
        // A store that cannot answer a question about one purchase may still answer others.
        case .refused, .foreign, .endlessPages, .unsupported: true
        case .unavailable, .unreadable: unanswered[app.key, default: 0] < StoreRound.patience
        case .unconfigured, .locked, .unauthorized, .denied, .limited, .untrusted, .fault: false
        }
    }

    /// Asks again if an answer cannot be verified, because it may have been garbled on the way. Accepts that a store
    /// does not know a purchase only after the store has said so three times.
    func believing<Answer>(
        _ ask: () throws(StoreQuestionError) -> Answer
    ) throws(StoreQuestionError) -> Answer {
        for _ in 1..<StoreRound.patience {
            do throws(StoreQuestionError) {
                return try ask()
            } catch {
                switch error {
                case .trouble(.foreign): break
                case .trouble(let trouble) where trouble.meaning == .purchaseUnknown: break
                default: throw error
                }
            }
        }
        return try ask()
    }

    /// Throws if the run is no longer wanted, which stops it between two calls.
    func requireWanted() throws(StoreTrouble) {
        if !isWanted() { throw .fault(.unavailable) }
    }

    private func rest(_ milliseconds: Int64) throws(StoreTrouble) {
        var left = milliseconds
        while left > 0 {
            try requireWanted()
            port.pause(min(left, StoreRound.slice))
            left -= StoreRound.slice
        }
    }
}
