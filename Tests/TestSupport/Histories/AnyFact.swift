package import Core

/// One fact of a history. Tests shuffle and shrink histories fact by fact.
package enum AnyFact: Hashable, CustomStringConvertible {
    case transaction(TransactionFact)
    case renewal(RenewalFact)
    case app(AppFact)
    case refund(RefundFact)
    case consent(ConsentFact)

    package static func facts(_ all: some Sequence<AnyFact>) -> Facts {
        var facts = Facts()
        for fact in all {
            switch fact {
            case .transaction(let fact): facts.transactions.append(fact)
            case .renewal(let fact): facts.renewals.append(fact)
            case .app(let fact): facts.apps.append(fact)
            case .refund(let fact): facts.refunds.append(fact)
            case .consent(let fact): facts.consents.append(fact)
            }
        }
        return facts
    }

    package var description: String {
        switch self {
        case .transaction(let fact):
            "\(fact.transaction) of \(fact.original) \(fact.product) \(AnyFact.days(fact.purchased))"
                + ".." + (fact.expires.map(AnyFact.days) ?? "") + " x\(fact.quantity)"
                + (fact.revocation.map {
                    " revoked \(AnyFact.days($0.at)) \($0.milliPercent ?? -1)"
                }
                    ?? "") + (fact.isUpgraded ? " upgraded" : "")
                + (fact.ownership == .familyShared ? " family" : "")
                + fact.items.map {
                    " with \($0.product)"
                        + ($0.revokedAt.map { " revoked \(AnyFact.days($0))" } ?? "")
                }.joined()
                + (fact.previousOriginal.map { " goes on from \($0)" } ?? "")
                + (fact.commitment.map { " month \($0.period) of \($0.periods)" } ?? "")
                + " | signed \(AnyFact.days(fact.signedAt)) \(fact.rank)"
        case .renewal(let fact):
            "renewal of \(fact.original) \(fact.willRenew ? "on" : "off")"
                + (fact.willCommitAgain.map { $0 ? " commits" : " commits no more" } ?? "")
                + (fact.nextProduct.map { " as \($0) after \(fact.product?.text ?? "?")" } ?? "")
                + (fact.isInBillingRetry ? " retry" : "")
                + (fact.graceUntil.map { " grace until \(AnyFact.days($0))" } ?? "")
                + " | signed \(AnyFact.days(fact.signedAt)) \(fact.rank)"
        case .app(let fact):
            "app \(fact.originalVersion) \(fact.environment)"
                + (fact.appTransaction.map { " of \($0)" } ?? "")
                + " | signed \(AnyFact.days(fact.signedAt))"
        case .refund(let fact):
            "\(fact.id): refund of \(fact.transaction) \(fact.stage)"
                + " | signed \(AnyFact.days(fact.signedAt))"
        case .consent(let fact):
            "\(fact.id): consent of \(fact.appTransaction)"
                + " | signed \(AnyFact.days(fact.signedAt))"
        }
    }

    /// The same fact with days of ten seconds, as in the sandbox.
    package var hurried: AnyFact {
        func hurried(_ instant: Instant) -> Instant {
            Instant(
                milliseconds: at(0).milliseconds + (instant.milliseconds - at(0).milliseconds)
                    / 8640)
        }
        switch self {
        case .transaction(var fact):
            fact.purchased = hurried(fact.purchased)
            fact.originallyPurchased = fact.originallyPurchased.map(hurried)
            fact.expires = fact.expires.map(hurried)
            let revokedAt = fact.revocation.map { hurried($0.at) }
            if let revokedAt { fact.revocation?.at = revokedAt }
            fact.items = fact.items.map {
                SoldItem($0.product, revokedAt: $0.revokedAt.map(hurried))
            }
            fact.signedAt = hurried(fact.signedAt)
            return .transaction(fact)
        case .renewal(var fact):
            fact.graceUntil = fact.graceUntil.map(hurried)
            fact.signedAt = hurried(fact.signedAt)
            return .renewal(fact)
        case .app, .refund, .consent: return self
        }
    }

    private static func days(_ instant: Instant) -> String {
        let milliseconds = instant.milliseconds - at(0).milliseconds
        return "day \(Double(milliseconds) / Double(day))"
    }
}
