/// The result of judging evidence: what accepted evidence establishes, why evidence is permanently
/// refused, or why it waits.
package enum Judgement<Belief, Wait> {
    case believed(Belief)
    case refused(RefusedEvidence)
    case undecided(Wait)
}

extension Judgement: Sendable where Belief: Sendable, Wait: Sendable {}
extension Judgement: Equatable where Belief: Equatable, Wait: Equatable {}
extension Judgement: Hashable where Belief: Hashable, Wait: Hashable {}

extension Judgement {
    package var belief: Belief? { if case .believed(let belief) = self { belief } else { nil } }

    /// Returns the same judgement, with the belief transformed.
    package func map<Other>(_ change: (Belief) -> Other) -> Judgement<Other, Wait> {
        switch self {
        case .believed(let belief): .believed(change(belief))
        case .refused(let refused): .refused(refused)
        case .undecided(let wait): .undecided(wait)
        }
    }
}

/// Why evidence must be judged again, and the earliest possible time, if known.
package struct Postponement: Hashable, Sendable {
    package let reason: IntakeReason
    package let until: Instant?
    /// Whether the evidence only waits for the customer to act. Such a wait is normal, however long it takes.
    package var isUsual = false
}

extension Judgement<ProvenEvidence, Postponement> {
    /// Creates the judgement that results from proving the evidence.
    package init(proving prove: () throws(RefusedEvidence) -> ProvenEvidence) {
        do throws(RefusedEvidence) {
            self = .believed(try prove())
        } catch {
            self = error.cure == .time ? .tryAgain(IntakeReason(error)) : .refused(error)
        }
    }
}

extension Judgement where Wait == Postponement {
    package static func tryAgain(_ reason: IntakeReason, after: Instant? = nil) -> Judgement {
        .undecided(Postponement(reason: reason, until: after))
    }

    /// Returns a judgement that waits although nothing is wrong with the evidence.
    package static func waits(_ reason: IntakeReason) -> Judgement {
        .undecided(Postponement(reason: reason, until: nil, isUsual: true))
    }
}
