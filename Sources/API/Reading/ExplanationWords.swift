package import Core
package import Service

extension ExplanationAnswer {
    /// The answer in sentences: whether the customer has access, why, what ends it, and when that may change.
    package var sentences: [String] {
        var sentences = [headline]
        if explanation.answer?.isActive == true {
            sentences += explanation.reasons.filter(\.holds).map { reason in
                "It is active by \(reason.words), \(reason.interval.words)."
            }
        } else if let last {
            sentences.append("The last access was by \(last.words), \(last.interval.words).")
        }
        sentences += events.compactMap(\.words)
        if let ending { sentences.append(ending) }
        if let next = explanation.nextChange {
            sentences.append("This may change at \(next.text).")
        }
        return sentences + explanation.ignored.map { "It does not count: \($0.sentence)." }
    }

    private var headline: String {
        let whose = "\(stream.customer) in \(stream.environment.rawValue) at \(at.text)"
        guard let answer = explanation.answer else { return "\(whose) never held \(entitlement)." }
        return "\(entitlement) is \(answer.state.rawValue) (\(answer.code)) for \(whose), "
            + "\(answer.run.words)."
    }

    /// The last right to end before the instant.
    private var last: ExplainedRight? {
        explanation.reasons.filter { !$0.interval.isEmpty && $0.interval.start <= at }
            .max { ($0.interval.end ?? .distantFuture) < ($1.interval.end ?? .distantFuture) }
    }

    /// What will end the access, or what ended it.
    private var ending: String? {
        guard let answer = explanation.answer else { return nil }
        switch answer.state {
        case .upcoming: return "It begins at \(answer.run.start.text)."
        case .revoked:
            return answer.expirationReason == .blocked
                ? "Support blocked the purchase." : "The store revoked it."
        case .upgraded: return "Another product has replaced it and does not unlock it."
        case .paused: return "The customer paused the subscription in the store."
        case .retry: return "The store is trying to collect the payment again."
        case .expired:
            return answer.expirationReason.map { "It ended; the store's reason is \($0.name)." }
                ?? "Its time has run out."
        case .trial, .intro, .active, .grace: break
        }
        guard let end = answer.run.end else { return "It has no known end." }
        if answer.state == .grace {
            return "A payment failed; the grace period ends at \(end.text)."
        }
        guard answer.kind == .autoRenewable else { return "It ends at \(end.text)." }
        let next = answer.nextProduct.map { ", as \($0)" } ?? ""
        return answer.willRenew
            ? "It continues after \(end.text) if the renewal is paid\(next)."
            : "It ends at \(end.text): it will not be renewed."
    }
}

extension ExplainedRight {
    /// The rule that gives the right, and the right's source.
    package var words: String {
        "\(rule.words), \(origin)" + (cut.map { ", \($0.words)" } ?? "")
    }

    private var origin: String {
        let bought = product.map { " of \($0)" } ?? ""
        let isSandbox = transactions.contains { $0.environment == .sandbox }
        return switch source {
        case .purchase(let id):
            "purchase \(id)\(bought)" + (isSandbox ? " in the sandbox" : "")
        case .grant(let id): "grant \(id)"
        case .originalAppVersion(let app): "first installation of \(app)"
        }
    }
}

extension Interval {
    package var words: String {
        "from \(start.text) " + (end.map { "until \($0.text)" } ?? "with no end")
    }
}

extension Rule {
    fileprivate var words: String {
        switch self {
        case .period: "a period of a subscription"
        case .grace: "the grace period of a failed payment"
        case .lifetime: "a non-consumable, which never ends"
        case .fixedTerm: "a term of the length that the catalog states"
        case .originalVersion: "an early version of the app"
        case .grant: "an admin's decision"
        }
    }
}

extension Cut {
    fileprivate var words: String {
        switch self {
        case .revocation: "cut short because it was taken back"
        case .upgrade: "cut short because another product took its place"
        case .recovery: "cut short because the next period began"
        case .block: "cut short because support blocked the purchase"
        case .restart: "cut short because it was bought again"
        }
    }
}

extension IgnoredPurchase {
    package var sentence: String {
        let reason =
            switch cause {
            case .productNotInCatalog: "the catalog does not have the product"
            case .familySharingNotAllowed: "the product is not shared with the family"
            case .consumable: "a consumable only adds to balances"
            case .kindDiffersFromCatalog: "the catalog lists the product as another kind"
            }
        return "purchase \(purchase), transaction \(transaction) of \(product): \(reason)"
    }
}
