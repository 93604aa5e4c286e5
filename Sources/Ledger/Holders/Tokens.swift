import Core

/// Identifies an account token whose owner is looked up.
struct TokenKey: Hashable, Sendable {
    let project: ProjectID
    let environment: Environment
    /// The token in lower case, because stores write UUIDs in either case.
    let token: String

    init(_ token: String, in stream: Stream) {
        project = stream.project
        environment = stream.environment
        self.token = token.lowercased()
    }
}

/// What a batch knows about account tokens: their owners, and the purchases waiting under them.
struct KnownTokens {
    var owners: [TokenKey: CustomerID] = [:]
    /// Tokens whose owners were looked up.
    var lookedAt: Set<TokenKey> = []
    /// Rows under claimed tokens that are no longer needed.
    private(set) var claimed: Set<ClaimedToken> = []
    /// Purchases held by other customers under the tokens that were looked up. The claimant's own purchases are
    /// excluded.
    private var held: [TokenKey: [PurchaseID: HeldPurchase]] = [:]
    /// Waiting purchases. The list is complete for tokens that were looked up.
    private var waiting: [TokenKey: [PurchaseID: HeldPurchase]] = [:]
    /// The tokens of the waiting purchases that each stream keeps.
    private var carried: [Stream: Set<TokenKey>] = [:]

    /// Purchases that wait under the tokens that the command claims, by token.
    func waiting(for candidate: Candidate) -> [String: [HeldPurchase]] {
        Self.claimed(waiting, by: candidate)
    }

    /// Purchases of other holders with tokens that the command claims, by token.
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

    /// Records that a held purchase carries the token.
    mutating func add(_ held: HeldPurchase, carrying token: TokenKey) {
        self.held[token, default: [:]][held.purchase] = held
    }

    /// Whether a purchase has rows under a token that are no longer needed.
    var hasForgotten: Bool { claimed.contains { $0.purchase != nil } }

    /// Records that the command claimed its tokens. They now belong to a customer, regardless of where their purchases
    /// are.
    mutating func noteClaim(of candidate: Candidate) {
        for key in candidate.claimedKeys {
            claimed.insert(
                ClaimedToken(token: key, claimant: candidate.command.stream.customer))
            for purchase in (held.removeValue(forKey: key) ?? [:]).keys {
                claimed.insert(ClaimedToken(token: key, purchase: purchase))
            }
        }
    }

    /// Records that the purchase waits under the token. As in the database, only the purchase's first app counts.
    mutating func add(_ held: HeldPurchase, under token: TokenKey) {
        if waiting[token]?[held.purchase] != nil { return }
        waiting[token, default: [:]][held.purchase] = held
        carried[token.keeper(of: held.purchase), default: []].insert(token)
    }

    mutating func remove(_ purchase: PurchaseID, of keeper: Stream) {
        for token in carried.removeValue(forKey: keeper) ?? [] {
            waiting[token]?[purchase] = nil
        }
    }

    /// Forgets a purchase that a row lists but no event supports.
    mutating func remove(_ stray: StrayToken) {
        if stray.isKept {
            waiting[stray.token]?[stray.purchase] = nil
        } else {
            remove(stray.purchase, of: stray.keeper)
        }
    }

    /// Applies an event of this batch, so that later commands see its effect.
    mutating func apply(_ event: Event, of stream: Stream) {
        switch event {
        case .tokenRegistered(let registered):
            owners[TokenKey(registered.token.text, in: stream)] = stream.customer
        case .orderOpened(let opened):
            owners[TokenKey(opened.token.text, in: stream)] = stream.customer
        case .customerJoined, .customerUnmerged:
            for token in event.broughtBelongings?.allTokens ?? [] {
                owners[TokenKey(token.text, in: stream)] = stream.customer
            }
        case .purchaseDetached(let detached) where stream.customer.isReserved:
            remove(stream.customer.unclaimed ?? detached.purchase, of: stream)
        case .purchaseAttached(let attached) where stream.customer.isReserved:
            guard let held = attached.held?.named(in: stream) else { return }
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
                let held = carried.held.named(in: stream)
                add(held, under: TokenKey(carried.token.text, in: stream))
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

/// Rows under a token that are no longer needed, either for one purchase or for all of the claimant's purchases.
struct ClaimedToken: Hashable, Sendable {
    let token: TokenKey
    var purchase: PurchaseID?
    var claimant: CustomerID?
}

/// A token, and the customer who gets it.
struct TokenClaim: Hashable, Sendable {
    let token: TokenKey
    let claimant: CustomerID
}

/// A purchase that waits under a token according to a row, but not according to any event.
struct StrayToken: Hashable, Sendable {
    let token: TokenKey
    let purchase: PurchaseID
    /// Whether the purchase waits, but not under this token.
    let isKept: Bool

    var keeper: Stream { token.keeper(of: purchase) }
}

extension TokenKey {
    /// Returns the stream that keeps the purchase until a customer claims it.
    func keeper(of purchase: PurchaseID) -> Stream {
        Stream(project: project, environment: environment, customer: .unclaimed(purchase))
    }
}

extension PurchaseAttached {
    /// The purchase, in the app named by its first fact.
    var held: HeldPurchase? {
        let app = transactions.first?.app ?? renewals.first?.app
        return app.map { HeldPurchase(app: $0, purchase: purchase) }
    }

    var tokens: Set<AccountToken> {
        let texts = transactions.map(\.accountToken) + renewals.map(\.accountToken)
        return Set(texts.compactMap(\.self).compactMap(AccountToken.init))
            .union(earlierTokens.map(\.token))
    }
}

extension Event {
    /// The purchase that the event's fact concerns.
    var statedPurchase: HeldPurchase? {
        if let fact = transactionFact {
            return HeldPurchase(app: fact.app, purchase: fact.purchase)
        }
        guard let fact = renewalFact else { return nil }
        return HeldPurchase(app: fact.app, purchase: fact.purchase)
    }

    /// The account token in the event's fact, with its purchase.
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
