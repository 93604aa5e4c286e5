package import Core

/// What came of giving, changing or revoking a grant.
package struct GrantAnswer: Hashable, Sendable {
    package let grant: Grant
    package let bounds: GrantBounds
    package let position: Position
    /// Whether it was given by this call, which tells what it changed.
    package let isNew: Bool

    /// What gave the entitlement anyway, where the grant changed no answer.
    package var givenAnyway: Entitlement.Source? { grant.given.outlook.givenAnyway }
}

/// What admins give customers and revoke.
package struct Grants: Sendable {
    let secrets: Secrets

    /// The wish to give a customer an entitlement that the catalog knows, or any one. In a rehearsal the grant has
    /// a name of its own: its id is not known before.
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
            try catalog.requireProperForm(of: entitlement)
            return try state.decide(wish, by: catalog, now: now)
        }
        return Wish(command) { outcome throws(CommandError) in
            guard let recorded = outcome.events.first, case .grantGiven(let given) = recorded.event
            else { throw .fault(.broken("giving a grant recorded no grant")) }
            let grant = Grant(given)
            return GrantAnswer(
                grant: grant, bounds: grant.expectedBounds, position: recorded.position,
                isNew: true)
        }
    }

    /// The wish to give a grant another end, which lies ahead; the same answer where it has that end.
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

    /// The wish to take a grant back from now on; the same answer when that was done before.
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
        Wish(command) { outcome throws(CommandError) in
            guard case .customer(let customer) = outcome.state,
                let (grant, bounds) = customer.boundedGrant(id, by: outcome.project.catalog)
            else { throw .fault(.broken("a command about a grant left no grant")) }
            guard let recorded = outcome.events.first else {
                return GrantAnswer(
                    grant: grant, bounds: bounds, position: outcome.position, isNew: false)
            }
            if case .grantChanged(let changed) = recorded.event {
                // What was answered first is answered again, whatever became of the grant since.
                let then = Grant(grant.given, changed: changed)
                return GrantAnswer(
                    grant: then, bounds: then.expectedBounds, position: recorded.position,
                    isNew: false)
            }
            return GrantAnswer(
                grant: grant, bounds: bounds, position: recorded.position, isNew: false)
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

extension GiveGrant.Time {
    /// Start and end as the sender wrote them, so that a repetition of `P30D` is the same wish later too.
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
