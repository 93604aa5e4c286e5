import Core

/// Rows only show which streams to read. Decisions are based on the streams' events, never on a row
/// alone.
extension Batch {
    func situation(of candidate: Candidate) throws(Undecided) -> Situation {
        let command = candidate.command
        let stream = command.stream
        let knownElsewhere = try knownElsewhere(of: command)
        if candidate.isAlone {
            let state = folds[stream]?.state.customer ?? CustomerState()
            return Situation(
                now: now, project: project(of: stream), states: [stream.customer: state],
                waitingCredits: credits[stream] ?? [], knownElsewhere: knownElsewhere,
                format: format)
        }
        let wholes = try wholes(of: candidate)
        var holding: [PurchaseID: CustomerID] = [:]
        for held in candidate.purchases {
            holding[held.purchase] = holders[HolderKey(held, in: stream)]
        }
        var owners: [String: CustomerID] = [:]
        for token in candidate.tokens {
            owners[token] = tokens.owners[TokenKey(token, in: stream)]
        }
        let (waiting, held) = (tokens.waiting(for: candidate), tokens.held(for: candidate))
        // If more purchases wait than one claim can take, the decision needs no further data.
        let claimed = waiting.values.filter { $0.count <= Situation.claimLimit }.joined()
        let carrying = held.values.filter { $0.count <= Situation.claimLimit }.joined()
        var states = wholes.states
        var lacking = Set<Stream>()
        let forgotten = candidate.purchases.compactMap { held in
            erasure(of: held.purchase, in: stream).map { (held.purchase, $0.0, by: $0.1) }
        }
        let concerned =
            [stream.customer] + command.customers + holding.values + owners.values
            + claimed.map { .unclaimed($0.purchase) } + forgotten.map(\.by)
        for customer in Set(concerned) {
            let stream = stream.neighbour(customer)
            if erased[stream] != nil { throw .behind([stream]) }
            if let fold = folds[stream] {
                states[customer] = fold.state.customer
            } else {
                lacking.insert(stream)
            }
        }
        let known = Set(candidate.purchases)
        // The events of the purchases' holders and keepers show in which apps the purchases were made.
        let keeping = claimed.flatMap { kept($0.purchase, in: stream)?.heldPurchases ?? [] }
        let holdings = carrying.flatMap { one in
            holding[one.purchase].flatMap { states[$0]?.purchase(one.purchase) }?.heldPurchases
                ?? []
        }
        let named = Array(claimed) + Array(carrying) + keeping + holdings
        let unknown = named.filter { !known.contains($0) }
        let unasked = unknownTokens(of: holding, for: candidate)
        if !lacking.isEmpty || !unknown.isEmpty || !unasked.isEmpty {
            throw .lacking(Lack(streams: lacking, purchases: unknown, tokens: unasked))
        }
        try requireProof(of: holding, in: stream)
        try requireProof(of: owners, in: stream)
        for (purchase, key, customer) in forgotten
        where states[customer]?.forgotten.contains(key.mark) != true {
            throw .unproven("deed.erased_purchases", "\(customer) erased \(purchase)", stream)
        }
        return Situation(
            now: now, project: project(of: stream), states: states, holders: holding,
            tokenOwners: owners,
            waiting: proven(waiting, in: stream)
                .merging(proven(held, by: holding, states)) { $0 + $1 },
            erased: Set(forgotten.map(\.0)),
            elsewhere: wholes.elsewhere.merging(elsewhere(of: command)) { known, _ in known },
            tokenOwnersElsewhere: wholes.ownersElsewhere,
            knownElsewhere: knownElsewhere, format: format)
    }

    /// Returns the customers in the other environment that the command names.
    private func elsewhere(of command: Command) -> [CustomerID: CustomerState] {
        var states: [CustomerID: CustomerState] = [:]
        for customer in command.customersElsewhere {
            let stream = command.stream.inOtherEnvironment.neighbour(customer)
            states[customer] = folds[stream]?.state.customer
        }
        return states
    }

    /// Returns the tokens that the purchases carry according to their holders' events, and whose owners were not looked
    /// up. All tokens of a purchase together determine its owner.
    private func unknownTokens(
        of holding: [PurchaseID: CustomerID], for candidate: Candidate
    ) -> [String] {
        let known = Set(candidate.tokens)
        var unknown = Set<String>()
        for (purchase, holder) in holding {
            let fold = folds[candidate.command.stream.neighbour(holder)]
            let tokens = fold?.state.customer?.purchase(purchase)?.tokens ?? []
            unknown.formUnion(tokens.lazy.map(\.text).filter { !known.contains($0) })
        }
        return unknown.sorted()
    }

    /// Returns the command's customers that have events only in the other environment. They are looked up if an id
    /// could be mistaken for another one, because an id that either environment knows is not new.
    private func knownElsewhere(of command: Command) throws(Undecided) -> Set<CustomerID> {
        func isImproper(_ customer: CustomerID) -> Bool {
            customer.improperForm != nil && !customer.isReserved
        }
        var improper = command.customers.filter(isImproper)
        if isImproper(command.stream.customer) { improper.append(command.stream.customer) }
        var (known, lacking) = (Set<CustomerID>(), Set<Stream>())
        for customer in improper {
            let stream = command.stream.neighbour(customer)
            if let fold = folds[stream], fold.version > 0 { continue }
            guard let fold = folds[stream.inOtherEnvironment] else {
                lacking.insert(stream.inOtherEnvironment)
                continue
            }
            if fold.version > 0 { known.insert(customer) }
        }
        if !lacking.isEmpty { throw .lacking(Lack(streams: lacking)) }
        return known
    }

    /// Throws unless the holders' events confirm the rows.
    func requireProof(
        of holding: [PurchaseID: CustomerID], in stream: Stream
    ) throws(Undecided) {
        for (purchase, holder) in holding {
            let state = folds[stream.neighbour(holder)]?.state.customer
            // Rows about an erased customer stay and have no effect.
            if state?.purchase(purchase) != nil || state?.isErased == true { continue }
            throw .unproven("deed.holders", "\(holder) holds \(purchase)", stream)
        }
    }

    /// Throws unless the customers' events confirm that they own the tokens.
    func requireProof(
        of owners: [String: CustomerID], in stream: Stream
    ) throws(Undecided) {
        for (token, owner) in owners {
            let state = folds[stream.neighbour(owner)]?.state.customer
            if state?.isNamed(by: TokenKey(token, in: stream).token) == true { continue }
            throw .unproven("deed.tokens", "\(owner) has the token \(token)", stream)
        }
    }

    /// Returns the purchases that wait under each token, confirmed by their keepers' events. If more wait than one
    /// claim can take, they are not checked, because the token then has no effect.
    private func proven(
        _ waiting: [String: [HeldPurchase]], in stream: Stream
    ) -> [String: [PurchaseID]] {
        var proven: [String: [PurchaseID]] = [:]
        for (token, held) in waiting {
            let text = TokenKey(token, in: stream).token
            let all = held.map(\.purchase)
            let carriers = all.filter { purchase in
                kept(purchase, in: stream)?.tokens.contains { $0.text == text } == true
            }
            proven[token] = all.count > Situation.claimLimit ? all : carriers
        }
        return proven
    }

    /// Returns the purchases with each token, confirmed by their holders' events.
    private func proven(
        _ held: [String: [HeldPurchase]], by holding: [PurchaseID: CustomerID],
        _ states: [CustomerID: CustomerState]
    ) -> [String: [PurchaseID]] {
        var proven: [String: [PurchaseID]] = [:]
        for (token, held) in held {
            let all = held.map(\.purchase)
            let carriers = all.filter { purchase in
                guard let holder = holding[purchase], !holder.isReserved else { return false }
                let tokens = states[holder]?.purchase(purchase)?.tokens
                return tokens?.contains { $0.text == token.lowercased() } == true
            }
            proven[token] = all.count > Situation.claimLimit ? all : carriers
        }
        return proven
    }

    /// Returns the purchase, if its keeper's events confirm that it is waiting for a customer.
    func kept(_ purchase: PurchaseID, in stream: Stream) -> Purchase? {
        folds[stream.neighbour(.unclaimed(purchase))]?.state.customer?.purchase(purchase)
    }
}

extension Undecided {
    fileprivate static func unproven(
        _ table: String, _ claim: String, _ stream: Stream
    ) -> Undecided {
        .fault(
            .rowUnproven(
                "A row of \(table) says that in \(stream.project), \(stream.environment), \(claim), but no "
                    + "event does: something other than Deed wrote the row. Deed does not rely on it."
            ))
    }
}
