import Core

/// By what the owner of an account token is found.
struct TokenKey: Hashable, Sendable {
    let project: ProjectID
    let environment: Environment
    /// Stores write a UUID in either case.
    let token: String

    init(_ token: String, in stream: Stream) {
        project = stream.project
        environment = stream.environment
        self.token = token.lowercased()
    }
}

/// What a batch knows of account tokens: whose they are, and which purchases wait under them.
struct KnownTokens {
    var owners: [TokenKey: CustomerID] = [:]
    /// Complete for the tokens that were asked for.
    var waiting: [TokenKey: [HeldPurchase]] = [:]

    /// What waits under the tokens that the command claims, by token.
    func waiting(for candidate: Candidate) -> [String: [HeldPurchase]] {
        var found: [String: [HeldPurchase]] = [:]
        for token in candidate.command.claimedTokens {
            found[token] = waiting[TokenKey(token, in: candidate.command.stream)]
        }
        return found
    }

    /// Takes in what an event of this batch changes, so that the commands behind it see that.
    mutating func apply(_ event: Event, of stream: Stream) {
        switch event {
        case .tokenRegistered(let registered):
            owners[TokenKey(registered.token.text, in: stream)] = stream.customer
        case .orderOpened(let opened):
            owners[TokenKey(opened.token.text, in: stream)] = stream.customer
        case .purchaseDetached(let detached) where stream.customer.isReserved:
            for token in waiting.keys {
                waiting[token]?.removeAll { $0.purchase == detached.purchase }
            }
        default:
            guard stream.customer.isReserved, let carried = event.carried else { return }
            let key = TokenKey(carried.token.text, in: stream)
            if waiting[key]?.contains(carried.held) ?? false { return }
            waiting[key, default: []].append(carried.held)
        }
    }
}

extension Event {
    /// The purchase of which it states a fact.
    var statedPurchase: HeldPurchase? {
        if let fact = transactionFact {
            return HeldPurchase(app: fact.app, purchase: fact.purchase)
        }
        guard let fact = renewalFact else { return nil }
        return HeldPurchase(app: fact.app, purchase: fact.purchase)
    }

    /// The account token that the fact carries of which it tells, and the purchase.
    var carried: (token: AccountToken, held: HeldPurchase)? {
        let text = transactionFact?.accountToken ?? renewalFact?.accountToken
        guard let held = statedPurchase, let token = text.flatMap(AccountToken.init) else {
            return nil
        }
        return (token, held)
    }

    private var renewalFact: RenewalFact? {
        switch self {
        case .renewalChanged(let fact), .renewalRestated(let fact): fact
        default: nil
        }
    }
}
