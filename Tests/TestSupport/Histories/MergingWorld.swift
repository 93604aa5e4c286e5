package import Core

extension World {
    /// Returns the situation for a command that moves everything of a customer.
    package func wholeSituation(elsewhere: World? = nil) -> Situation {
        Situation(
            now: now, project: project, states: states, holders: holders, tokenOwners: tokens,
            elsewhere: elsewhere?.states ?? [:], tokenOwnersElsewhere: elsewhere?.tokens ?? [:])
    }

    /// Merges two ids of one person.
    package mutating func merge(
        _ from: CustomerID, into: CustomerID, byBackEnd: Bool = false
    ) throws(Refusal) {
        let wish = MergeCustomer(
            from, into: into, reason: id("one person"), ticket: id("T-8"), isOfBackEnd: byBackEnd)
        apply(try wish.decide(wholeSituation()))
    }

    package mutating func undoMerge(of from: CustomerID) throws(Refusal) {
        let wish = UndoMerge(
            from, partOf: customer(from).mergedInto, reason: id("two persons"), ticket: nil)
        apply(try wish.decide(wholeSituation()))
    }

    /// Applies a decision about this environment. Tokens follow their owners.
    package mutating func apply(_ decision: Decision) {
        for part in decision.parts where !part.isElsewhere {
            apply(part.events, to: part.customer)
            for event in part.events {
                for token in event.broughtBelongings?.allTokens ?? [] {
                    tokens[token.text] = part.customer
                }
            }
        }
    }

    /// Opens an order, whose token then belongs to the customer.
    package mutating func open(
        _ order: String, _ token: AccountToken, for customer: CustomerID,
        product: ProductID? = nil
    ) {
        apply(
            [
                .orderOpened(
                    OrderOpened(
                        order: id(order), token: token, product: product, openedAt: now,
                        expires: now.advanced(byMilliseconds: 7 * day)))
            ], to: customer)
        tokens[token.text] = customer
    }

    /// Grants an entitlement for some days.
    package mutating func give(
        _ grant: String, _ entitlement: String, to customer: CustomerID, days: Int64
    ) {
        apply(
            [
                .grantGiven(
                    GrantGiven(
                        grant: id(grant), entitlement: id(entitlement), start: now,
                        end: now.advanced(byMilliseconds: days * day), reason: id("sorry"),
                        ticket: nil))
            ], to: customer)
    }

    package mutating func spend(
        _ amount: Int64, _ currency: String = "coins", of customer: CustomerID
    ) throws(Refusal) {
        let wish = SpendBalance(currency: id(currency), amount: amount, reason: nil)
        apply(try self.customer(customer).decide(wish), to: customer)
    }

    /// Adjusts a balance, as an admin can.
    package mutating func adjust(
        _ amount: Int64, _ currency: String = "coins", of customer: CustomerID
    ) throws(Refusal) {
        let wish = AdjustBalance(
            currency: id(currency), amount: amount, reason: id("a gift"), ticket: nil)
        apply(try self.customer(customer).decide(wish), to: customer)
    }
}
