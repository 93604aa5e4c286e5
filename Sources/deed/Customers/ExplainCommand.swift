import API
import Commands
import Core
import Service

let explainCustomerCommand = CommandSpec(
    path: ["customer", "explain"],
    summary: "Explains why a customer has access to an entitlement, or why not.",
    positionals: [customerPositional],
    options: [
        .value("entitlement", "ID", "the entitlement to explain", isRequired: true),
        .value("at", "INSTANT", "the instant to ask about (default: now)"),
        .value("known", "INSTANT", "only what was recorded by this instant (default: now)"),
    ] + whom + Option.database,
    onlyReads: true, example: "deed customer explain u1 --entitlement pro"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let entitlement: EntitlementID = try invocation.requiredID("entitlement")
    let at = try invocation.instant("at")
    let known = try invocation.instant("known")
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try ask(
            useCases.customers.explanation(of: entitlement, for: stream, at: at, known: known))
        invocation.show(answer.json, text: answer.story)
    }
}

extension ExplanationAnswer {
    fileprivate var story: String {
        var lines = sentences
        if !explanation.reasons.isEmpty {
            lines.append("Everything that ever gave this entitlement:")
        }
        for reason in explanation.reasons { lines += reason.lines.map { "  \($0)" } }
        if !explanation.ignored.isEmpty { lines.append("Held, but without effect:") }
        lines += explanation.ignored.map { "  \($0.sentence)" }
        if !events.isEmpty { lines.append("Recorded:") }
        lines += events.map { "  \($0.line)" }
        return lines.joined(separator: "\n")
    }
}

extension ExplainedRight {
    fileprivate var lines: [String] {
        let verdict = holds ? "yes" : "no "
        return ["\(verdict)  \(interval.words)   \(words)"]
            + transactions.map { "       \($0.line)" } + renewals.map { "       \($0.line)" }
            + readings.compactMap { fact in
                fact.reading.map { "       \($0.line(at: fact.signedAt))" }
            }
    }
}

extension Reading {
    fileprivate func line(at instant: Instant) -> String {
        let items = items.map { item in
            "\(item.product) \(item.isOwned ? item.expires.map { "to \($0.text)" } ?? "for good" : "not owned yet")"
        }
        return "read \(instant.text): \(state.name), \(items.joined(separator: ", "))"
    }
}

extension RecordedEvent {
    fileprivate var line: String {
        let world = stream.environment == .sandbox ? " of the sandbox" : ""
        return "\(recordedAt.text)   \(event.type.name) of \(subject), version \(version)\(world), "
            + "by \(actor), \(cause)"
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
        if isPaused { parts.append("paused") }
        if isInBillingRetry { parts.append("the payment is being retried") }
        if let graceUntil { parts.append("grace until \(graceUntil.text)") }
        return (parts + ["signed \(signedAt.text) (\(rank.word))"]).joined(separator: ", ")
    }
}
