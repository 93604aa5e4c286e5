/// What comes of judging evidence: what follows where it is believed, why it never will be, or what it waits
/// for where it cannot be told yet.
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
}

/// Why evidence is to be judged again, and not before an instant, where one is named.
package struct Postponement: Hashable, Sendable {
    package let reason: IntakeReason
    package let until: Instant?
}

extension Judgement<ProvenEvidence, Postponement> {
    /// What comes of proving it.
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
}
