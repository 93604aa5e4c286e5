import API
import Commands
import Core
import Service

/// Longer names come first, because the first match wins.
let grantCommands = [listGrantsCommand, changeGrantCommand, grantCommand, revokeCommand]

/// The flags for an admin's reason and ticket.
let reasons: [Option] = [
    .value("reason", "TEXT", "the reason, stored with the event", isRequired: true),
    .value("ticket", "ID", "the support case"),
]

private let grantCommand = CommandSpec(
    path: ["grant"], summary: "Gives a customer an entitlement.",
    options: [
        .value("customer", "ID", "the customer who gets the entitlement", isRequired: true),
        .value("entitlement", "ID", "the entitlement to give", isRequired: true),
        .value("start", "INSTANT", "when the grant begins (default: now)"),
        .flag(
            "after-current", "begin when all other access to the entitlement has ended; needs --for"
        ),
        .value("end", "INSTANT", "when the grant ends (default: when it is revoked)"),
        .value("for", "DURATION", "how long the grant lasts, instead of --end: P30D, P1M, PT12H"),
        .allowUnknown,
    ] + reasons + [.environment, .idempotencyKey, .project] + Option.terms + Option.database,
    example: "deed grant --customer u1 --entitlement pro --for P30D --reason \"lost purchase\""
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let terms = try invocation.terms()
    let entitlement: EntitlementID = try invocation.requiredID("entitlement")
    let time = try invocation.grantTime()
    let reason = try invocation.adminReason()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let wish = useCases.grants.giving(
            entitlement, for: time, reason: reason, to: stream, by: sender,
            allowingUnknown: invocation.has("allow-unknown"), isRehearsal: terms.isRehearsal)
        try invocation.fulfil(wish, on: terms, useCases) { answer in
            let lines = [answer.line(of: stream), answer.warning, answer.sentenceOfNoChange]
            return (answer.json(of: stream), lines.compactMap(\.self).joined(separator: "\n"))
        }
    }
}

private let changeGrantCommand = CommandSpec(
    path: ["grant", "change"], summary: "Changes a grant's end; the new end must be in the future.",
    options: [
        .value("customer", "ID", "the customer who holds it", isRequired: true),
        .value("grant", "ID", "the grant's id", isRequired: true),
        .value("end", "INSTANT", "until when"),
        .value(
            "for", "DURATION",
            "how long the grant lasts from its start, instead of --end: P30D, P1M"),
        .flag("for-ever", "until it is revoked"),
    ] + reasons + [.environment, .idempotencyKey, .project] + Option.terms + Option.database,
    example:
        "deed grant change --customer u1 --grant g_4x1k9d --for P60D --reason \"a longer outage\""
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let terms = try invocation.terms()
    let grant: GrantID = try invocation.requiredID("grant")
    let end = try invocation.newGrantEnd()
    let reason = try invocation.adminReason()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let wish = useCases.grants.changing(
            grant, until: end, reason: reason, of: stream, by: sender)
        try invocation.fulfil(wish, on: terms, useCases) { answer in
            let lines = [answer.line(of: stream), answer.warning]
            return (answer.json(of: stream), lines.compactMap(\.self).joined(separator: "\n"))
        }
    }
}

private let revokeCommand = CommandSpec(
    path: ["revoke"], summary: "Revokes a grant immediately.",
    options: [
        .value("customer", "ID", "the customer who holds it", isRequired: true),
        .value("grant", "ID", "the grant's id", isRequired: true),
    ] + reasons + [.environment, .idempotencyKey, .project] + Option.terms + Option.database,
    example: "deed revoke --customer u1 --grant g_4x1k9d --reason \"given by mistake\""
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let terms = try invocation.terms()
    let grant: GrantID = try invocation.requiredID("grant")
    let reason = try invocation.adminReason()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let wish = useCases.grants.revoking(grant, reason: reason, of: stream, by: sender)
        try invocation.fulfil(wish, on: terms, useCases) { answer in
            (answer.json(of: stream), answer.line(of: stream))
        }
    }
}

extension Invocation {
    fileprivate func grantTime() throws(CommandEnd) -> GiveGrant.Time {
        if !has("after-current") { return .from(try instant("start"), until: try grantEnd()) }
        for flag in ["start", "end"] where self[flag] != nil {
            throw usage("give --after-current or --\(flag), not both")
        }
        guard let duration = try duration("for") else {
            throw usage("--after-current needs --for: its start is not known in advance")
        }
        return .afterCurrent(duration)
    }

    private func grantEnd() throws(CommandEnd) -> GiveGrant.End {
        switch (try instant("end"), try duration("for")) {
        case (.some, .some): throw usage("give --end or --for, not both")
        case (let end?, nil): .at(end)
        case (nil, let duration?): .after(duration)
        case (nil, nil): .never
        }
    }

    fileprivate func newGrantEnd() throws(CommandEnd) -> GiveGrant.End {
        let end = try grantEnd()
        let isGiven = end != .never
        if isGiven == has("for-ever") {
            throw usage("give exactly one of --end, --for and --for-ever")
        }
        return end
    }

    /// Returns the ticket, checked by the rules for new names.
    func ticket() throws(CommandEnd) -> Ticket? {
        guard let text = self["ticket"] else { return nil }
        do {
            return try Ticket(new: text)
        } catch {
            throw usage("--ticket \(error)")
        }
    }

    func adminReason() throws(CommandEnd) -> AdminReason {
        let reason: Reason = try requiredID("reason")
        if reason.isBlank { throw usage("--reason is blank; give a reason") }
        return AdminReason(reason: reason, ticket: try ticket())
    }
}

extension GrantAnswer {
    fileprivate func line(of stream: Stream) -> String {
        let end = bounds.end.map { "until \($0.text)" } ?? "until it is revoked"
        let fate = grant.revocation.map { "was revoked at \($0.at.text)" } ?? "lasts \(end)"
        let name = "The grant \(grant.id) of \"\(grant.given.entitlement)\" to \(stream.customer)"
        if !grant.waits { return "\(name) began at \(grant.given.start.text) and \(fate)." }
        guard let start = bounds.start else {
            return
                "\(name) begins when all other access has ended, but some of that access has no end."
        }
        return
            "\(name) begins when all other access has ended, currently expected at \(start.text), and "
            + "\(fate)."
    }

    /// A warning that the grant never ends.
    fileprivate var warning: String? {
        if grant.revocation != nil || grant.length != nil || bounds.end != nil { return nil }
        return "The grant has no end: it lasts until it is revoked."
    }
}
