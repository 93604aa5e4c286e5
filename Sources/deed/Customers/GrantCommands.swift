import API
import Commands
import Core
import Service

let grantCommands = [grantCommand, revokeCommand]

/// Why an admin acts.
let reasons: [Option] = [
    .value("reason", "TEXT", "why; it is kept with the event", isRequired: true),
    .value("ticket", "ID", "the support case it belongs to"),
]

private let grantCommand = CommandSpec(
    path: ["grant"], summary: "Gives a customer an entitlement.",
    options: [
        .value("customer", "ID", "who gets it", isRequired: true),
        .value("entitlement", "ID", "what they get", isRequired: true),
        .value("start", "INSTANT", "from when (default: now)"),
        .value("end", "INSTANT", "until when (default: until it is revoked)"),
        .value("for", "DURATION", "how long, instead of an end: P30D, P1M, PT12H"),
        .allowUnknown,
    ] + reasons + [.environment, .idempotencyKey, .project] + Option.database,
    example: "deed grant --customer u1 --entitlement pro --for P30D --reason \"lost purchase\""
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let entitlement: EntitlementID = try invocation.requiredID("entitlement")
    let start = try invocation.instant("start")
    let end = try invocation.grantEnd()
    let reason = try invocation.adminReason()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try useCases.fulfil(
            useCases.grants.giving(
                entitlement, from: start, until: end, reason: reason, to: stream, by: sender,
                allowingUnknown: invocation.has("allow-unknown")))
        invocation.show(answer.json(of: stream), text: answer.line(of: stream))
    }
}

private let revokeCommand = CommandSpec(
    path: ["revoke"], summary: "Takes a grant back from now on.",
    options: [
        .value("customer", "ID", "whose it is", isRequired: true),
        .value("grant", "ID", "the grant's id", isRequired: true),
    ] + reasons + [.environment, .idempotencyKey, .project] + Option.database,
    example: "deed revoke --customer u1 --grant g_4x1k9d --reason \"given by mistake\""
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let grant: GrantID = try invocation.requiredID("grant")
    let reason = try invocation.adminReason()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try useCases.fulfil(
            useCases.grants.revoking(grant, reason: reason, of: stream, by: sender))
        invocation.show(answer.json(of: stream), text: answer.line(of: stream))
    }
}

extension Invocation {
    fileprivate func grantEnd() throws(CommandEnd) -> GiveGrant.End {
        switch (try instant("end"), try duration("for")) {
        case (.some, .some): throw usage("give --end or --for, not both")
        case (let end?, nil): .at(end)
        case (nil, let duration?): .after(duration)
        case (nil, nil): .never
        }
    }

    /// A ticket is always a new name to Deed.
    private func ticket() throws(CommandEnd) -> Ticket? {
        guard let text = self["ticket"] else { return nil }
        do {
            return try Ticket(new: text)
        } catch {
            throw usage("--ticket \(error)")
        }
    }

    func adminReason() throws(CommandEnd) -> AdminReason {
        AdminReason(reason: try requiredID("reason"), ticket: try ticket())
    }
}

extension GrantAnswer {
    fileprivate func line(of stream: Stream) -> String {
        let end = grant.given.end.map { "until \($0.text)" } ?? "until it is revoked"
        let fate = grant.revocation.map { "was revoked at \($0.at.text)" } ?? "lasts \(end)"
        return "The grant \(grant.id) of \"\(grant.given.entitlement)\" to \(stream.customer) "
            + "began \(grant.given.start.text) and \(fate)."
    }
}
