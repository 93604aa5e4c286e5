import Core
import Wording

/// The progress of a reconciliation, part by part.
struct ReconcileCourse {
    private let parts: [ReconcilePart]
    /// How many parts of the publishing step run in parallel.
    private let parallel: Int
    /// The completed parts of this run, including parts completed before it was resumed.
    var done: [ReconcilePart: StepCounts] = [:]
    private var given = 0
    private var begun: Begun?
    private var failures: [Failure] = []
    private(set) var notes: [String] = []

    /// The failure of a step, or of the parts of a step that concern some shards.
    fileprivate struct Failure {
        let step: ReconcileStep
        let sentence: String
        var shards: [Shard] = []
    }

    /// A step's state when this run started it, so that earlier work does not count towards the run's speed.
    private struct Begun {
        let step: ReconcileStep
        let at: Int64
        let parts: Int
        let lookedAt: Int64
    }

    init(_ parts: [ReconcilePart], parallel: Int) {
        self.parts = parts
        self.parallel = parallel
    }

    /// The next parts of a step, to be done in parallel. If one part fails, the others continue.
    var next: (step: ReconcileStep, parts: [ReconcilePart])? {
        mutating get {
            while given < parts.count, done[parts[given]] != nil { given += 1 }
            guard given < parts.count else { return nil }
            let step = parts[given].step
            let next = parts[given...].prefix { $0.step == step && done[$0] == nil }
                .prefix(step == .boundaries ? parallel : 1)
            given = next.endIndex
            return (step, Array(next))
        }
    }

    mutating func end(_ part: ReconcilePart, _ report: PartReport) {
        done[part] = report.counts
        for error in report.errors { note(error, of: part) }
        notes += report.notes.map { "\(part.step.rawValue): \($0)" }
    }

    mutating func giveUp(_ part: ReconcilePart, because fault: Fault) {
        note(fault.withRemedy, of: part)
    }

    private mutating func note(_ sentence: String, of part: ReconcilePart) {
        let known = failures.firstIndex { $0.step == part.step && $0.sentence == sentence }
        if known == nil { failures.append(Failure(step: part.step, sentence: sentence)) }
        if let shard = part.shard { failures[known ?? failures.count - 1].shards.append(shard) }
    }

    /// One sentence for each failure.
    var errors: [String] {
        failures.map { "\($0.step.rawValue)\($0.place): \($0.sentence)" }
    }

    func counts(of step: ReconcileStep) -> StepCounts {
        done.reduce(into: StepCounts()) { if $1.key.step == step { $0 += $1.value } }
    }

    func counts(of steps: [ReconcileStep]) -> [ReconcileStep: StepCounts] {
        Dictionary(uniqueKeysWithValues: steps.map { ($0, counts(of: $0)) })
    }

    mutating func begin(_ step: ReconcileStep, at time: Int64) {
        if begun?.step == step { return }
        begun = Begun(
            step: step, at: time, parts: parts(of: step).count { done[$0] != nil },
            lookedAt: counts(of: step).lookedAt)
    }

    func progress(
        of step: ReconcileStep, _ counts: StepCounts, expecting ahead: WorkAhead?, at time: Int64
    ) -> ReconcileProgress {
        let parts = parts(of: step)
        let left = self.parts[given...].count { $0.step == step && done[$0] == nil }
        return ReconcileProgress(
            step: step, partsDone: parts.count - left, parts: parts.count, counts: counts,
            ahead: ahead,
            partsDoneNow: parts.count - left - (begun?.parts ?? 0),
            lookedAtNow: counts.lookedAt - (begun?.lookedAt ?? 0),
            milliseconds: time - (begun?.at ?? time))
    }

    private func parts(of step: ReconcileStep) -> [ReconcilePart] {
        parts.filter { $0.step == step }
    }
}

extension ReconcileStep {
    var asksStores: Bool { self == .notifications || self == .history || self == .subscriptions }
}

extension ReconcileCourse.Failure {
    /// A description of the place where the failure occurred.
    fileprivate var place: String {
        switch shards.count {
        case 0: ""
        case 1: " (shard \(shards[0].number))"
        case ...8: " (shards \(shards.map { "\($0.number)" }.joined(separator: ", ")))"
        default: " (\(shards.count) shards)"
        }
    }
}
