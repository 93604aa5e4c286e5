import Core

/// Loads the data for a command that moves everything that customers have, in both environments.
extension Batch {
    /// Customers in the other environment, and the owners of tokens there.
    struct Wholes {
        var states: [CustomerID: CustomerState] = [:]
        var elsewhere: [CustomerID: CustomerState] = [:]
        var ownersElsewhere: [String: CustomerID] = [:]
    }

    /// Returns all the data that the command needs. Throws if some of it has not been loaded yet.
    func wholes(of candidate: Candidate) throws(Undecided) -> Wholes {
        let command = candidate.command
        if !command.movesWhole { return Wholes() }
        let customers = [command.stream.customer] + command.customers
        let other = command.stream.inOtherEnvironment
        var lack = Lack()
        var wholes = Wholes()
        let own = command.stream.customer
        wholes.states = try states(of: customers, and: own, around: command.stream, &lack)
        wholes.elsewhere = try states(of: customers, and: own, around: other, &lack)
        let (here, there) = (Set(candidate.purchases), Set(candidate.purchasesElsewhere))
        let tokens = Set(candidate.tokensElsewhere)
        for customer in customers {
            let kept = wholes.states[customer]?.purchases ?? []
            lack.purchases += kept.flatMap(\.heldPurchases).filter { !here.contains($0) }
            let held = wholes.elsewhere[customer]?.purchases ?? []
            lack.purchasesElsewhere += held.flatMap(\.heldPurchases).filter { !there.contains($0) }
            let carried = Set(held.flatMap(\.tokens).map(\.text))
            lack.tokensElsewhere += carried.filter { !tokens.contains($0) }
        }
        for token in candidate.tokensElsewhere {
            guard let owner = self.tokens.owners[TokenKey(token, in: other)] else { continue }
            wholes.ownersElsewhere[token] = owner
            let stream = other.neighbour(owner)
            if folds[stream] == nil { lack.streams.insert(stream) }
        }
        if !lack.isEmpty { throw .lacking(lack) }
        try requireProof(of: wholes.ownersElsewhere, in: other)
        var holding: [PurchaseID: CustomerID] = [:]
        for held in candidate.purchasesElsewhere {
            holding[held.purchase] = holders[HolderKey(held, in: other)]
        }
        try requireProof(of: holding, in: other)
        return wholes
    }

    /// Returns the states of customers, and of all customers that were merged into them.
    private func states(
        of customers: [CustomerID], and own: CustomerID, around stream: Stream,
        _ lack: inout Lack
    ) throws(Undecided) -> [CustomerID: CustomerState] {
        var states: [CustomerID: CustomerState] = [:]
        var left = customers
        while let customer = left.popLast() {
            let stream = stream.neighbour(customer)
            if erased[stream] != nil { throw .behind([stream]) }
            guard states[customer] == nil else { continue }
            guard let state = folds[stream]?.state.customer else {
                lack.streams.insert(stream)
                continue
            }
            states[customer] = state
            // Only the customer being merged brings others along. For the other customer, the names suffice.
            if customer == own { left += state.joined.flatMap(\.all) }
        }
        return states
    }
}

extension Lack {
    fileprivate var isEmpty: Bool {
        streams.isEmpty && purchases.isEmpty && tokens.isEmpty && purchasesElsewhere.isEmpty
            && tokensElsewhere.isEmpty && replay == nil
    }
}
