extension Situation {
    /// How many purchases one token can bring to a customer. More wait only if a client gives all
    /// customers the same token, and then they are not all one customer's.
    package static let claimLimit = 1000

    /// What the customer gets by the token: these events, and with them every purchase that waits under
    /// it.
    package func claiming(
        _ token: AccountToken, for customer: CustomerID, after events: [Event]
    ) throws(Refusal) -> Decision {
        let waiting = waiting[token.text] ?? []
        if waiting.isEmpty { return Decision(events, for: customer) }
        if waiting.count > Situation.claimLimit {
            throw .tooManyUnclaimed(limit: Situation.claimLimit)
        }
        var arriving = History(of: self.customer(customer))
        for event in events { arriving.append(event) }
        var parts: [Decision.Part] = []
        for purchase in waiting.sorted() {
            let keeper = CustomerID.unclaimed(purchase)
            let kept = self.customer(keeper)
            // What a row says and no event does is nothing to wait for.
            if kept.purchase(purchase) == nil { continue }
            var leaving = History(of: kept)
            let move = MovePurchase(
                purchase, from: keeper, to: customer, cause: .claimed, catalog: project.catalog)
            try move.append(to: &leaving, &arriving, now: now)
            parts.append(Decision.Part(customer: keeper, events: leaving.events))
        }
        return Decision(
            parts: [Decision.Part(customer: customer, events: arriving.events)] + parts)
    }
}

extension Command {
    /// A command that gives the customer a token, and what waits under it.
    package static func claiming(
        _ token: AccountToken, for stream: Stream, actor: Actor, cause: Cause,
        decide: @escaping @Sendable (borrowing Situation) throws(Refusal) -> [Event]
    ) -> Command {
        var command = Command(stream: stream, actor: actor, cause: cause) {
            situation throws(Refusal) in
            try situation.claiming(
                token, for: stream.customer, after: try decide(situation))
        }
        command.tokens = [token.text]
        command.claimedTokens = [token.text]
        return command
    }
}
