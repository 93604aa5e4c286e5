package import Core

/// The result of giving, changing or revoking a grant.
package struct GrantAnswer: Hashable, Sendable {
    package let grant: Grant
    package let bounds: GrantBounds
    package let position: Position
    /// Whether this call created the grant. If so, the answer states what changed.
    package let isNew: Bool

    /// What else already gave the entitlement, if the grant did not change any answer.
    package var givenAnyway: Entitlement.Source? { grant.given.outlook.givenAnyway }
}

/// Lets admins give, change and revoke grants.
package struct Grants: Sendable {
    let secrets: Secrets

    /// Returns a request to give a customer an entitlement, which must be in the catalog unless `allowingUnknown` is
    /// set. A rehearsal's grant has a different id from the later grant.
    package func giving(
        _ entitlement: EntitlementID, for time: GiveGrant.Time, reason: AdminReason,
        to stream: Stream, by sender: Sender, allowingUnknown: Bool = false,
        isRehearsal: Bool = false
    ) -> Wish<GrantAnswer> {
        let wish = GiveGrant(
            grant: isRehearsal ? .ofRehearsal : secrets.newID(prefix: "g_"),
            entitlement: entitlement, time: time, reason: reason.reason, ticket: reason.ticket)
        let cause = secrets.cause(
            of: sender, "give_grant",
            [entitlement.text] + time.texts + [reason.reason.text, reason.ticket?.text])
        let command = Command.customer(
            stream, actor: sender.actor, cause: cause,
            naming: allowingUnknown ? nil : .entitlement(entitlement)
        ) { state, catalog, now throws(Refusal) in
            try catalog.requireProperForm(of: .entitlement(entitlement))
            return try state.decide(wish, by: catalog, now: now)
        }
        return Wish(
            command, telling: { if case .grantGiven(let given) = $0 { given } else { nil } },
            missing: "the command to give a grant recorded none"
        ) { recorded in
            let grant = Grant(recorded.told)
            return GrantAnswer(
                grant: grant, bounds: grant.expectedBounds, position: recorded.position,
                isNew: true)
        }
    }

    /// Returns a request to change a grant's end, which must be in the future. If the grant already ends at that
    /// instant, nothing changes and the answer is the same.
    package func changing(
        _ grant: GrantID, until end: GiveGrant.End, reason: AdminReason, of stream: Stream,
        by sender: Sender
    ) -> Wish<GrantAnswer> {
        let wish = ChangeGrant(
            grant: grant, end: end, reason: reason.reason, ticket: reason.ticket)
        let cause = secrets.cause(
            of: sender, "change_grant",
            [grant.text, end.text, reason.reason.text, reason.ticket?.text])
        let command = Command.customer(stream, actor: sender.actor, cause: cause) {
            state, catalog, now throws(Refusal) in
            try state.decide(wish, by: catalog, now: now)
        }
        return answer(to: command, about: grant)
    }

    /// Returns a request to revoke a grant immediately. Repeating it returns the same answer.
    package func revoking(
        _ grant: GrantID, reason: AdminReason, of stream: Stream, by sender: Sender
    ) -> Wish<GrantAnswer> {
        let wish = RevokeGrant(grant: grant, reason: reason.reason, ticket: reason.ticket)
        let cause = secrets.cause(
            of: sender, "revoke_grant", [grant.text, reason.reason.text, reason.ticket?.text])
        let command = Command.customer(stream, actor: sender.actor, cause: cause) {
            state, catalog, now throws(Refusal) in
            try state.decide(wish, by: catalog, now: now)
        }
        return answer(to: command, about: grant)
    }

    private func answer(to command: Command, about id: GrantID) -> Wish<GrantAnswer> {
        Wish(
            command, telling: { if case .grantChanged(let changed) = $0 { changed } else { nil } }
        ) { recorded throws(CommandError) in
            let (grant, _) = try recorded.outcome.grant(id)
            let then = Grant(grant.given, changed: recorded.told)
            return GrantAnswer(
                grant: then, bounds: then.expectedBounds, position: recorded.position,
                isNew: false)
        } otherwise: { outcome throws(CommandError) in
            let (grant, bounds) = try outcome.grant(id)
            return GrantAnswer(
                grant: grant, bounds: bounds,
                position: outcome.events.first?.position ?? outcome.position, isNew: false)
        }
    }
}

extension Outcome {
    fileprivate func grant(
        _ id: GrantID
    ) throws(CommandError) -> (grant: Grant, bounds: GrantBounds) {
        guard let found = state.customer?.boundedGrant(id, by: project.catalog) else {
            throw .fault(.broken("a command about a grant returned no grant"))
        }
        return found
    }
}

/// Why an admin does something, recorded for people who review the action later.
package struct AdminReason: Hashable, Sendable {
    package let reason: Reason
    package let ticket: Ticket?

    package init(reason: Reason, ticket: Ticket?) {
        self.reason = reason
        self.ticket = ticket
    }
}

extension GiveGrant.Time {
    /// The start and end as the sender wrote them. A request that says `P30D` must count as the
    /// same one when it is repeated later.
    fileprivate var texts: [String?] {
        switch self {
        case .from(let start, let end): [start?.text, end.text]
        case .afterCurrent(let duration): ["after_current", duration.text]
        }
    }
}

extension GiveGrant.End {
    fileprivate var text: String {
        switch self {
        case .never: "never"
        case .at(let end): end.text
        case .after(let duration): duration.text
        }
    }
}
