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
    /// The tokens of which it was asked whose they are.
    var lookedAt: Set<TokenKey> = []
    /// What carries a token that a command claimed, and that need not be found by it any more.
    private(set) var claimed: Set<ClaimedToken> = []
    /// What others hold and carries tokens that were asked for; nothing of what the claimant holds.
    private var held: [TokenKey: [PurchaseID: HeldPurchase]] = [:]
    /// Complete for the tokens that were asked for.
    private var waiting: [TokenKey: [PurchaseID: HeldPurchase]] = [:]
    /// Under which of these tokens waits what each keeper has.
    private var carried: [Stream: Set<TokenKey>] = [:]

    /// What waits under the tokens that the command claims, by token.
    func waiting(for candidate: Candidate) -> [String: [HeldPurchase]] {
        Self.claimed(waiting, by: candidate)
    }

    /// What others hold and carries the tokens that the command claims, by token.
    func held(for candidate: Candidate) -> [String: [HeldPurchase]] {
        Self.claimed(held, by: candidate)
    }

    private static func claimed(
        _ known: [TokenKey: [PurchaseID: HeldPurchase]], by candidate: Candidate
    ) -> [String: [HeldPurchase]] {
        var found: [String: [HeldPurchase]] = [:]
        for token in candidate.command.claimedTokens {
            let known = known[TokenKey(token, in: candidate.command.stream)]
            found[token] = known.map { Array($0.values) }
        }
        return found
    }

    /// Notes that a purchase with a holder carries the token.
    mutating func add(_ held: HeldPurchase, carrying token: TokenKey) {
        self.held[token, default: [:]][held.purchase] = held
    }

    /// Whether a purchase is no longer looked for under a token.
    var hasForgotten: Bool { claimed.contains { $0.purchase != nil } }

    /// Notes that the command claimed its tokens: wherever their purchases are now, the tokens are a customer's.
    mutating func noteClaim(of candidate: Candidate) {
        for key in candidate.claimedKeys {
            claimed.insert(
                ClaimedToken(token: key, claimant: candidate.command.stream.customer))
            for purchase in (held.removeValue(forKey: key) ?? [:]).keys {
                claimed.insert(ClaimedToken(token: key, purchase: purchase))
            }
        }
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
        case .purchaseAttached(let attached):
            guard let held = attached.held else { return }
            for token in attached.tokens { carry(held, token, in: stream) }
        default:
            guard let carried = event.carried else { return }
            if stream.customer.isReserved {
                add(carried.held, under: TokenKey(carried.token.text, in: stream))
            } else {
                carry(carried.held, carried.token, in: stream)
            }
        }
    }

    private mutating func carry(_ held: HeldPurchase, _ token: AccountToken, in stream: Stream) {
        let key = TokenKey(token.text, in: stream)
        if owners[key] == nil { add(held, carrying: key) }
    }
}

/// Rows that are no longer looked for under a token: of a purchase, or of all that the claimant holds.
struct ClaimedToken: Hashable, Sendable {
    let token: TokenKey
    var purchase: PurchaseID?
    var claimant: CustomerID?
}

/// A token, and the customer whom a command gives it to.
struct TokenClaim: Hashable, Sendable {
    let token: TokenKey
    let claimant: CustomerID
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

    /// The account tokens that its evidence carried.
    var tokens: Set<AccountToken> {
        let texts = transactions.map(\.accountToken) + renewals.map(\.accountToken)
        return Set(texts.compactMap(\.self).compactMap(AccountToken.init))
            .union(earlierTokens.map(\.token))
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
