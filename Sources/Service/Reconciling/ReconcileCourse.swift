import Core

/// How far a run has come, part by part.
struct ReconcileCourse {
    private let parts: [ReconcilePart]
    /// The parts that came to their end, in this run or before it was taken up.
    var done: [ReconcilePart: StepCounts] = [:]
    private var given = 0
    private var undone: Set<ReconcileStep> = []
    private(set) var errors: [String] = []
    private(set) var notes: [String] = []

    init(_ parts: [ReconcilePart]) {
        self.parts = parts
    }

    /// The next part to do. A step that cannot be done is given up as a whole.
    var next: ReconcilePart? {
        mutating get {
            while given < parts.count {
                let part = parts[given]
                given += 1
                if done[part] == nil, !undone.contains(part.step) { return part }
            }
            return nil
        }
    }

    mutating func end(_ part: ReconcilePart, _ report: PartReport) {
        done[part] = report.counts
        errors += report.errors.map { "\(part.step.rawValue): \($0)" }
        notes += report.notes.map { "\(part.step.rawValue): \($0)" }
    }

    mutating func giveUp(_ part: ReconcilePart, because fault: Fault) {
        undone.insert(part.step)
        errors.append("\(part.step.rawValue): \(fault.reason)")
    }

    func counts(of step: ReconcileStep) -> StepCounts {
        done.reduce(into: StepCounts()) { if $1.key.step == step { $0 += $1.value } }
    }

    func counts(of steps: [ReconcileStep]) -> [ReconcileStep: StepCounts] {
        Dictionary(uniqueKeysWithValues: steps.map { ($0, counts(of: $0)) })
    }

    func progress(
        of part: ReconcilePart, _ counts: StepCounts, milliseconds: Int64
    ) -> ReconcileProgress {
        ReconcileProgress(
            part: part, partsDone: given, parts: parts.count, counts: counts,
            milliseconds: milliseconds)
    }
}

extension ReconcileStep {
    var asksStores: Bool { self == .notifications || self == .subscriptions }
}

extension Fault {
    /// Why a step could not be done.
    fileprivate var reason: String {
        switch self {
        case .busy: "The service is overloaded."
        case .unavailable: "The database cannot be reached."
        case .impeded(let impediment): impediment.sentence
        case .logBlocked: Fault.blockedSentence
        case .broken(let reason): reason
        }
    }
}
