internal import Core
internal import Evidence
internal import JSON
internal import StoreAccess
internal import Threading

/// Identifies the purchase that a question concerns.
struct PlayTokenKey: Hashable, Sendable {
    let app: StoreApp
    let token: String
    let product: ProductID?
    /// The product's kind in the catalog.
    var kind: ProductKind?
}

/// A purchase and the earlier purchases that it continues, according to Google.
struct PlayChain: Sendable {
    /// One of Google's answers about the purchases in a chain.
    struct Link: Sendable {
        let kind: EvidenceKind
        let token: String
        let product: ProductID?
        let bytes: [UInt8]
        let readAt: Instant
    }
    /// Whether the newest purchase has been paid for.
    enum Standing: Sendable {
        case settled
        /// The purchase has not been paid for yet.
        case pending
        /// The purchase was cancelled before it was paid for.
        case cancelledUnpaid
    }
    /// The answers, oldest first.
    var links: [Link] = []
    /// The oldest named purchase in the chain; `nil` if that is the oldest one in `links`.
    var root: TransactionID?
    var standing = Standing.settled
}

/// The API methods that can answer a question about a token.
private enum PlayForm: Hashable {
    case subscription
    case purchase
    case product(ProductID)
}

extension PlayTokenKey {
    /// The methods to try, most likely first, because a token does not reveal what was bought with it.
    fileprivate var forms: [PlayForm] {
        let old = product.map { [PlayForm.product($0)] } ?? []
        switch kind {
        case .consumable, .nonConsumable, .nonRenewing: return [.purchase] + old + [.subscription]
        case .autoRenewable, nil: return [.subscription, .purchase] + old
        }
    }
}

extension PlayStoreClient {
    /// The maximum number of earlier purchases that a purchase may continue.
    private static let linkLimit = 50

    /// Returns the purchase with a token, and the earlier purchases that Deed does not know yet.
    func chain(_ key: PlayTokenKey, _ time: PlayTime) -> PlayAsking<PlayChain> {
        if time.end == nil { return chain(key, key.forms[...], time) }
        // Many clients may submit the same token at the same time, so they share the answer.
        return flights.share(key, until: time, late: .failure(.outOfTime)) {
            chain(key, key.forms[...], time)
        }
    }

    private func chain(
        _ key: PlayTokenKey, _ forms: ArraySlice<PlayForm>, _ time: PlayTime
    ) -> PlayAsking<PlayChain> {
        guard let form = forms.first else { return .ended(.failure(.unknownToken)) }
        return chain(key, form, time).then { answer in
            guard case .failure(let trouble) = answer, trouble.meaning == .purchaseUnknown else {
                return .ended(answer)
            }
            return chain(key, forms.dropFirst(), time)
        }
    }

    private func chain(
        _ key: PlayTokenKey, _ form: PlayForm, _ time: PlayTime
    ) -> PlayAsking<PlayChain> {
        switch form {
        case .subscription:
            return subscription(key.token, of: key.app, time).thenIfWell { reading in
                var chain = PlayChain()
                chain.links = [
                    PlayChain.Link(.playSubscription, key.token, nil, reading)
                ]
                chain.standing = reading.statement.standing
                // A pending purchase has no effect yet.
                if chain.standing == .pending { return .ended(.success(chain)) }
                guard let older = reading.statement.olderToken else {
                    return named(chain, by: key)
                }
                return follow(older, chain, of: key.app, time)
            }
        case .purchase:
            return purchase(key.token, of: key.app, time).map { answer in
                answer.map { PlayChain(.playPurchase, key, $0) }
            }
        case .product(let product):
            return purchase(key.token, of: product, in: key.app, time).map { answer in
                answer.map { PlayChain(.playProduct, key, $0) }
            }
        }
    }

    /// Returns the subscription that belongs to a purchase token.
    func subscription(
        _ token: String, of app: StoreApp, _ time: PlayTime
    ) -> PlayAsking<PlayReading<PlaySubscriptionStatement>> {
        reading(.subscription(token, of: app), time) { bytes throws(EvidenceRefusal) in
            try PlaySubscriptionStatement(answer: bytes)
        }
    }

    /// Returns the one-time products that belong to a purchase token.
    func purchase(
        _ token: String, of app: StoreApp, _ time: PlayTime
    ) -> PlayAsking<PlayReading<PlayPurchaseStatement>> {
        reading(.purchase(token, of: app), time) { bytes throws(EvidenceRefusal) in
            try PlayPurchaseStatement(answer: bytes)
        }
    }

    /// Returns the one-time products that belong to a purchase token, from the older API, which requires the product.
    func purchase(
        _ token: String, of product: ProductID, in app: StoreApp, _ time: PlayTime
    ) -> PlayAsking<PlayReading<PlayPurchaseStatement>> {
        reading(.product(product, token, of: app), time) { bytes throws(EvidenceRefusal) in
            try PlayPurchaseStatement(oldAnswer: bytes, about: product.text)
        }
    }

    /// Names the chain if its purchase states no earlier one. If the customer resubscribed in the
    /// Play Store app, the store states the earlier purchase only for a limited time. After that,
    /// the name comes from what Deed knows about the token.
    private func named(_ chain: PlayChain, by key: PlayTokenKey) -> PlayAsking<PlayChain> {
        .work {
            var chain = chain
            do throws(Fault) {
                chain.root = try roots(key.token, key.app)
            } catch {
                return .ended(.failure(.fault(error)))
            }
            return .ended(.success(chain))
        }
    }

    /// Reads the purchases that the oldest one in the chain continues, up to one that Deed knows or that Google does
    /// not know.
    private func follow(
        _ linked: String?, _ chain: PlayChain, of app: StoreApp, _ time: PlayTime
    ) -> PlayAsking<PlayChain> {
        guard let linked else { return .ended(.success(chain)) }
        if chain.links.contains(where: { $0.token == linked }) {
            // The purchases continue each other in a circle, so they get the same name whichever one was submitted.
            var circle = chain
            circle.root = chain.links.map { TransactionID(playToken: $0.token) }.min()
            return .ended(.success(circle))
        }
        if chain.links.count > PlayStoreClient.linkLimit { return .ended(.failure(.endlessChain)) }
        return .work {
            var chain = chain
            do throws(Fault) {
                chain.root = try roots(linked, app)
            } catch {
                return .ended(.failure(.fault(error)))
            }
            // If the change was abandoned, the earlier purchase remains in effect and is read, too.
            if chain.root != nil, chain.standing != .cancelledUnpaid {
                return .ended(.success(chain))
            }
            return subscription(linked, of: app, time).then { [chain] answer in
                switch answer {
                case .success(let reading):
                    var longer = chain
                    longer.links.insert(
                        PlayChain.Link(.playSubscription, linked, nil, reading), at: 0)
                    if chain.root != nil { return .ended(.success(longer)) }
                    return follow(reading.statement.olderToken, longer, of: app, time)
                case .failure(let trouble) where trouble.meaning == .purchaseUnknown:
                    var ended = chain
                    ended.root = chain.root ?? TransactionID(playToken: linked)
                    return .ended(.success(ended))
                case .failure(let trouble): return .ended(.failure(trouble))
                }
            }
        }
    }

    /// Returns the facts that the answers prove, oldest first.
    func prove(
        _ chain: PlayChain, of app: TrustedApp, now: Instant
    ) throws(RefusedEvidence) -> [ProvenEvidence] {
        let root = chain.root ?? chain.links.first.map { TransactionID(playToken: $0.token) }
        var proven: [ProvenEvidence] = []
        // An abandoned change has no effect, so its answer is left out.
        let isGivenUp = chain.standing == .cancelledUnpaid && chain.links.count > 1
        for link in chain.links.dropLast(isGivenUp ? 1 : 0) {
            let answer = PlayAnswer(
                link.kind, body: link.bytes, app: app.id, token: link.token, product: link.product,
                root: root, readAt: link.readAt)
            proven.append(try prover.prove(answer.fetched, for: [app], now: now))
        }
        return proven
    }
}

extension PlayChain.Link {
    init<Statement>(
        _ kind: EvidenceKind, _ token: String, _ product: ProductID?,
        _ reading: PlayReading<Statement>
    ) {
        self.init(
            kind: kind, token: token, product: product, bytes: reading.bytes,
            readAt: reading.readAt)
    }
}

extension PlayChain {
    init(
        _ kind: EvidenceKind, _ key: PlayTokenKey, _ reading: PlayReading<PlayPurchaseStatement>
    ) {
        self.init(
            links: [Link(kind, key.token, key.product, reading)], root: nil,
            standing: reading.statement.standing)
    }
}

extension PlaySubscriptionStatement {
    /// The token of the purchase that this one continues: either the purchase that this one
    /// replaced, or the expired purchase of a customer who resubscribed in the Play Store app. A
    /// purchase that was never paid for does not restore an earlier one.
    fileprivate var olderToken: String? {
        linkedToken ?? (standing == .cancelledUnpaid ? nil : comesBack?.token)
    }

    fileprivate var standing: PlayChain.Standing {
        switch state {
        case .pending: .pending
        case .pendingPurchaseCanceled: .cancelledUnpaid
        default: .settled
        }
    }
}

extension PlayPurchaseStatement {
    fileprivate var standing: PlayChain.Standing {
        switch state {
        case .pending: .pending
        case .cancelled where purchasedAt == nil: .cancelledUnpaid
        default: .settled
        }
    }
}

extension StoreTrouble {
    fileprivate static let endlessChain = unreadable(
        "the purchase continues more than 50 others, none of which Deed knows; submit an older one first"
    )

    fileprivate static let unknownToken = refused(
        code: 404, message: "no purchase has this token", meaning: .purchaseUnknown)
}
