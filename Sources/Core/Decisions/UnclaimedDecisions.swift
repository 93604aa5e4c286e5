extension Situation {
    /// The maximum number of purchases that one token can bring to a customer. More can wait only if a
    /// client gives all customers the same token, and such purchases do not all belong to one customer.
    package static let claimLimit = 1000

    /// Returns the command's effect when a customer gets the token: these events, the arrival of each purchase that
    /// waits under the token, and the arrival of other holders' purchases that the token assigns to this customer.
    package func claiming(
        _ token: AccountToken, for customer: CustomerID, after events: [Event]
    ) throws(Refusal) -> Decision {
        let waiting = waiting[token.text] ?? []
        if waiting.isEmpty { return Decision(events, for: customer) }
        if waiting.count > Situation.claimLimit {
            throw .token(.tooManyUnclaimed(limit: Situation.claimLimit))
        }
        var arriving = History(of: self.customer(customer))
        for event in events { arriving.append(event) }
        var leaving: [CustomerID: History] = [:]
        var order: [CustomerID] = []
        for purchase in waiting.sorted() {
            let keeper = holders[purchase] ?? .unclaimed(purchase)
            if leaving[keeper] == nil { order.append(keeper) }
            var side = leaving.removeValue(forKey: keeper) ?? History(of: self.customer(keeper))
            if let cause = cause(
                ofMoving: purchase, of: side.state, keeper, by: token, to: customer)
            {
                let move = MovePurchase(
                    purchase, from: keeper, to: customer, cause: cause, catalog: project.catalog)
                try move.append(to: &side, &arriving, now: now)
            }
            leaving[keeper] = side
        }
        return Decision(
            parts: [Decision.Part(customer: customer, events: arriving.events)]
                + order.compactMap { keeper in
                    guard let events = leaving[keeper]?.events, !events.isEmpty else { return nil }
                    return Decision.Part(customer: keeper, events: events)
                })
    }

    /// Returns why the purchase moves to the customer who gets the token; `nil` if it does not move.
    private func cause(
        ofMoving id: PurchaseID, of keeper: CustomerState, _ holder: CustomerID,
        by token: AccountToken, to customer: CustomerID
    ) -> MoveCause? {
        // If no event supports the row, no purchase is waiting.
        guard let purchase = keeper.purchase(id), holder != customer else { return nil }
        if holder.isReserved { return .claimed }
        if keeper.keepsAgainstTokens(purchase) { return nil }
        var owners = tokenOwners
        owners[token.text] = customer
        let named = purchase.holder(named: owners, by: project.settings.transferPolicy.rule)
        guard let named, named.customer == customer else { return nil }
        return .named(named.token)
    }
}

extension Command {
    /// Returns a command that gives the customer a token and the purchases that are waiting under it.
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
