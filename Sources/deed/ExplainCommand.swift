import API
import Core
import Service

let explainCustomerCommand = CommandSpec(
    path: ["customer", "explain"],
    summary: "Tells why a customer may use something, or why not.",
    positionals: [customerPositional],
    options: [
        .value("entitlement", "ID", "what to explain", isRequired: true),
        .value("at", "INSTANT", "when the right would hold (without it: now)"),
        .value("known", "INSTANT", "from what was recorded by then (without it: by now)"),
    ] + whom + Option.database,
    example: "deed customer explain u1 --entitlement pro"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let entitlement: EntitlementID = try invocation.requiredID("entitlement")
    let at = try invocation.instant("at")
    let known = try invocation.instant("known")
    try invocation.withPorts { ports, _ throws(CommandEnd) in
        let answer = try ask { () throws(Fault) in
            try ports.explanation(of: entitlement, for: stream, at: at, known: known)
        }
        invocation.show(answer.json, text: answer.story)
    }
}

extension ExplanationAnswer {
    fileprivate var story: String {
        var lines = [headline]
        if let next = explanation.nextChange { lines.append("This may change at \(next.text).") }
        if !explanation.reasons.isEmpty { lines.append("Because of:") }
        for reason in explanation.reasons { lines += reason.lines.map { "  \($0)" } }
        if !explanation.ignored.isEmpty { lines.append("Held, and unlocking nothing:") }
        lines += explanation.ignored.map { "  \($0.line)" }
        return lines.joined(separator: "\n")
    }

    private var headline: String {
        let whose = "\(stream.customer) in \(stream.environment.rawValue) at \(at.text)"
        guard let answer = explanation.answer else {
            return "\(entitlement)   never held by \(whose)"
        }
        return "\(entitlement)   \(answer.state.rawValue) (\(answer.code)) for \(whose), "
            + answer.run.text
    }
}

extension ExplainedRight {
    fileprivate var lines: [String] {
        let verdict = holds ? "yes" : "no "
        let end = cut.map { ", \($0.sentence)" } ?? ""
        return ["\(verdict)  \(interval.text)   \(rule.sentence), \(origin)\(end)"]
            + transactions.map { "       \($0.line)" } + renewals.map { "       \($0.line)" }
    }

    private var origin: String {
        let bought = product.map { " of \($0)" } ?? ""
        return switch source {
        case .purchase(let id): "purchase \(id)\(bought)"
        case .grant(let id): "grant \(id)"
        case .originalAppVersion(let app): "first installation of \(app)"
        }
    }
}

extension Interval {
    fileprivate var text: String {
        "from \(start.text) " + (end.map { "until \($0.text)" } ?? "with no end")
    }
}

extension Rule {
    fileprivate var sentence: String {
        switch self {
        case .period: "a period of a subscription"
        case .grace: "the store's patience with a payment"
        case .lifetime: "a non-consumable, which is for ever"
        case .fixedTerm: "a term as long as the catalog says"
        case .originalVersion: "an early version of the app"
        case .grant: "an admin's decision"
        }
    }
}

extension Cut {
    fileprivate var sentence: String {
        switch self {
        case .revocation: "cut short because it was taken back"
        case .upgrade: "cut short because another product took its place"
        case .recovery: "cut short because the next period began"
        case .restart: "cut short because it was bought anew"
        }
    }
}

extension TransactionFact {
    fileprivate var line: String {
        var parts = ["transaction \(transaction)", "bought \(purchased.text)"]
        if let expires { parts.append("expires \(expires.text)") }
        if let revocation { parts.append("taken back \(revocation.at.text)") }
        if isUpgraded { parts.append("upgraded") }
        if ownership == .familyShared { parts.append("shared by the family") }
        return (parts + ["signed \(signedAt.text) (\(rank.word))"]).joined(separator: ", ")
    }
}

extension RenewalFact {
    fileprivate var line: String {
        var parts = [willRenew ? "will renew" : "will not renew"]
        if isInBillingRetry { parts.append("a payment is tried again") }
        if let graceUntil { parts.append("grace until \(graceUntil.text)") }
        return (parts + ["signed \(signedAt.text) (\(rank.word))"]).joined(separator: ", ")
    }
}

extension IgnoredPurchase {
    fileprivate var line: String {
        let reason =
            switch cause {
            case .productNotInCatalog: "the catalog does not have the product"
            case .familySharingNotAllowed: "the product is not shared with the family"
            case .consumable: "a consumable adds to balances only"
            case .kindDiffersFromCatalog: "the catalog has the product as another kind"
            }
        return "purchase \(purchase), transaction \(transaction) of \(product): \(reason)"
    }
}
