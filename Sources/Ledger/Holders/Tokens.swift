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
    private var waiting: [TokenKey: [PurchaseID: HeldPurchase]] = [:]
    /// Under which of these tokens waits what each keeper has.
    private var carried: [Stream: Set<TokenKey>] = [:]

    /// What waits under the tokens that the command claims, by token.
    func waiting(for candidate: Candidate) -> [String: [HeldPurchase]] {
        var found: [String: [HeldPurchase]] = [:]
        for token in candidate.command.claimedTokens {
            let waiting = waiting[TokenKey(token, in: candidate.command.stream)]
            found[token] = waiting.map { Array($0.values) }
        }
        return found
    }

    /// Notes that the purchase waits under the token. As in the database, its first app counts.
    mutating func add(_ held: HeldPurchase, under token: TokenKey) {
        if waiting[token]?[held.purchase] != nil { return }
        waiting[token, default: [:]][held.purchase] = held
        carried[token.keeper(of: held.purchase), default: []].insert(token)
    }

    /// Forgets the purchase of a keeper.
    mutating func remove(_ purchase: PurchaseID, of keeper: Stream) {
        for token in carried.removeValue(forKey: keeper) ?? [] {
            waiting[token]?[purchase] = nil
        }
    }

    /// Forgets what a row alone says.
    mutating func remove(_ stray: StrayToken) {
        if stray.isKept {
            waiting[stray.token]?[stray.purchase] = nil
        } else {
            remove(stray.purchase, of: stray.keeper)
        }
    }

    /// Takes in what an event of this batch changes, so that the commands behind it see that.
    mutating func apply(_ event: Event, of stream: Stream) {
        switch event {
        case .tokenRegistered(let registered):
            owners[TokenKey(registered.token.text, in: stream)] = stream.customer
        case .orderOpened(let opened):
            owners[TokenKey(opened.token.text, in: stream)] = stream.customer
        case .purchaseDetached(let detached) where stream.customer.isReserved:
            remove(detached.purchase, of: stream)
        case .purchaseAttached(let attached) where stream.customer.isReserved:
            guard let held = attached.held else { return }
            for token in attached.tokens.map({ TokenKey($0.text, in: stream) })
            where owners[token] == nil {
                add(held, under: token)
            }
        default:
            guard stream.customer.isReserved, let carried = event.carried else { return }
            add(carried.held, under: TokenKey(carried.token.text, in: stream))
        }
    }
}

/// A purchase that waits under a token by a row alone.
struct StrayToken: Hashable, Sendable {
    let token: TokenKey
    let purchase: PurchaseID
    /// Whether it waits, under other tokens or none.
    let isKept: Bool

    var keeper: Stream { token.keeper(of: purchase) }
}

extension TokenKey {
    /// Whose stream keeps the purchase until a customer claims it.
    func keeper(of purchase: PurchaseID) -> Stream {
        Stream(project: project, environment: environment, customer: .unclaimed(purchase))
    }
}

extension PurchaseAttached {
    /// The purchase in the app of its first fact.
    var held: HeldPurchase? {
        let app = transactions.first?.app ?? renewals.first?.app
        return app.map { HeldPurchase(app: $0, purchase: purchase) }
    }

    /// The account tokens that its facts carry.
    var tokens: Set<AccountToken> {
        let texts = transactions.map(\.accountToken) + renewals.map(\.accountToken)
        return Set(texts.compactMap(\.self).compactMap(AccountToken.init))
    }
}

extension Event {
    /// The purchase about which it states a fact.
    var statedPurchase: HeldPurchase? {
        if let fact = transactionFact {
            return HeldPurchase(app: fact.app, purchase: fact.purchase)
        }
        guard let fact = renewalFact else { return nil }
        return HeldPurchase(app: fact.app, purchase: fact.purchase)
    }

    /// The account token that its fact carries, and the purchase.
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
