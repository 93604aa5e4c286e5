package import Core

/// The result of giving or revoking a grant.
package struct GrantAnswer: Hashable, Sendable {
    package let grant: Grant
    package let position: Position
}

/// What admins give customers and revoke.
package struct Grants: Sendable {
    let secrets: Secrets

    /// A request to give a customer an entitlement, which the catalog must know unless any is
    /// allowed.
    package func giving(
        _ entitlement: EntitlementID, from start: Instant?, until end: GiveGrant.End,
        reason: AdminReason, to stream: Stream, by sender: Sender, allowingUnknown: Bool = false
    ) -> Wish<GrantAnswer> {
        let wish = GiveGrant(
            grant: secrets.newID(prefix: "g_"), entitlement: entitlement, start: start, end: end,
            reason: reason.reason, ticket: reason.ticket)
        let cause = secrets.cause(
            of: sender, "give_grant",
            [
                entitlement.text, start?.text, end.text, reason.reason.text, reason.ticket?.text,
            ])
        let command = Command.customer(
            stream, actor: sender.actor, cause: cause,
            naming: allowingUnknown ? nil : .entitlement(entitlement)
        ) { state, catalog, now throws(Refusal) in
            try catalog.requireProperForm(of: entitlement)
            return try state.decide(wish, now: now)
        }
        return Wish(command) { outcome throws(CommandError) in
            guard let recorded = outcome.events.first, case .grantGiven(let given) = recorded.event
            else { throw .fault(.broken("giving a grant recorded no grant")) }
            return GrantAnswer(grant: Grant(given), position: recorded.position)
        }
    }

    /// A request to revoke a grant from now on; the same answer if it was revoked before.
    package func revoking(
        _ grant: GrantID, reason: AdminReason, of stream: Stream, by sender: Sender
    ) -> Wish<GrantAnswer> {
        let wish = RevokeGrant(grant: grant, reason: reason.reason, ticket: reason.ticket)
        let cause = secrets.cause(
            of: sender, "revoke_grant", [grant.text, reason.reason.text, reason.ticket?.text])
        let command = Command.customer(stream, actor: sender.actor, cause: cause) {
            state, _, now throws(Refusal) in
            try state.decide(wish, now: now)
        }
        return Wish(command) { outcome throws(CommandError) in
            guard case .customer(let customer) = outcome.state, let revoked = customer.grant(grant)
            else { throw .fault(.broken("revoking a grant left no grant")) }
            return GrantAnswer(
                grant: revoked, position: outcome.events.first?.position ?? outcome.position)
        }
    }
}

/// Why an admin acts, for later readers.
package struct AdminReason: Hashable, Sendable {
    package let reason: Reason
    package let ticket: Ticket?

    package init(reason: Reason, ticket: Ticket?) {
        self.reason = reason
        self.ticket = ticket
    }
}

extension GiveGrant.End {
    /// As the sender wrote it, so that a repetition of `P30D` remains the same request later.
    fileprivate var text: String {
        switch self {
        case .never: "never"
        case .at(let end): end.text
        case .after(let duration): duration.text
        }
    }
}
