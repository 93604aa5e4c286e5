/// The customer named by one of a purchase's account tokens.
package struct NamedHolder: Hashable, Sendable {
    package let customer: CustomerID
    package let token: AccountToken

    package init(_ customer: CustomerID, by token: AccountToken) {
        self.customer = customer
        self.token = token
    }
}

extension TransferPolicy.Rule {
    /// Returns the customer named by a purchase's account tokens, if any of the tokens belongs to a customer.
    ///
    /// If the tokens name several customers, the policy decides. If purchases stay with their holders,
    /// the token of the earliest transaction counts. If they move, the token of the latest transaction
    /// counts. Among several tokens of one transaction, the one that the store stated last counts. A
    /// renewal fact names a customer only if no transaction does. The result therefore depends only on
    /// the set of facts, not on their order or on their senders.
    package func holder(
        named tokens: CarriedTokens, owners: [String: CustomerID],
        stated: (TransactionID) -> AccountToken?
    ) -> NamedHolder? {
        let known = tokens.all.compactMap { carried in
            owners[carried.token.text].map {
                (places: carried.places, holder: NamedHolder($0, by: carried.token))
            }
        }
        guard let first = known.first?.holder else { return nil }
        if known.allSatisfy({ $0.holder.customer == first.customer }) { return first }
        let placed = known.compactMap { known in
            known.places.map { (place: decidingPlace(of: $0), holder: known.holder) }
        }
        let places = placed.map(\.place)
        guard let deciding = self == .keep ? places.min() : places.max() else { return first }
        let candidates = placed.filter { $0.place.transaction == deciding.transaction }
        let last = stated(deciding.transaction)
        return (candidates.first { $0.holder.token == last } ?? candidates.first)?.holder
    }

    private func decidingPlace(
        of places: ClosedRange<CarriedToken.Place>
    ) -> CarriedToken.Place { self == .keep ? places.lowerBound : places.upperBound }
}

extension Purchase {
    /// Returns the customer named by the tokens in all facts about the purchase.
    package func holder(
        named owners: [String: CustomerID], by rule: TransferPolicy.Rule
    ) -> NamedHolder? {
        rule.holder(named: carried, owners: owners) { statedToken(of: $0) }
    }

    /// Returns the token in the transaction's prevailing statement.
    func statedToken(of transaction: TransactionID) -> AccountToken? {
        evidence(of: transaction)?.effective.accountToken.flatMap(AccountToken.init)
    }
}

extension CustomerState {
    /// Returns whether a purchase stays with this customer even if its tokens name another one. A purchase stays if
    /// an admin moved it here, or if it was credited to a balance, because the credit may have been spent.
    package func keepsAgainstTokens(_ purchase: Purchase) -> Bool {
        purchase.arrival?.cause.isOfAdmin == true || balances.hasCredits(of: purchase.id)
    }

    /// The purchases whose tokens may move them to another customer.
    package var purchasesMovedByTokens: [Purchase] {
        let credited = balances.creditedPurchases
        return purchases.filter { purchase in
            !purchase.carried.all.isEmpty && !credited.contains(purchase.id)
                && purchase.arrival?.cause.isOfAdmin != true
        }
    }
}
