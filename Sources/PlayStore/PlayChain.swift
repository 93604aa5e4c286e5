internal import Core
internal import Evidence
internal import JSON
internal import StoreAccess
internal import Threading

/// Which purchase is asked about.
struct PlayTokenKey: Hashable, Sendable {
    let app: StoreApp
    let token: String
    let product: ProductID?
    /// How the catalog says that the product is sold.
    var kind: ProductKind?
}

/// A purchase and the purchases that it continues, as Google states them.
struct PlayChain: Sendable {
    /// One answer of Google.
    struct Link: Sendable {
        let kind: EvidenceKind
        let token: String
        let product: ProductID?
        let bytes: [UInt8]
        let readAt: Instant
    }
    /// What of its newest purchase is settled.
    enum Standing: Sendable {
        case settled
        /// It is not paid yet.
        case pending
        /// It was cancelled before it was paid.
        case cancelledUnpaid
    }
    /// The oldest first.
    var links: [Link] = []
    /// The oldest token that is named; `nil` if that is the oldest that was read.
    var root: TransactionID?
    var standing = Standing.settled
}

/// A form in which Google is asked about a token.
private enum PlayForm: Hashable {
    case subscription
    case purchase
    case product(ProductID)
}

extension PlayTokenKey {
    /// The forms to try, the likeliest first: a token does not say what was bought with it.
    fileprivate var forms: [PlayForm] {
        let old = product.map { [PlayForm.product($0)] } ?? []
        switch kind {
        case .consumable, .nonConsumable, .nonRenewing: return [.purchase] + old + [.subscription]
        case .autoRenewable, nil: return [.subscription, .purchase] + old
        }
    }
}

extension PlayStoreClient {
    /// How many older purchases one may continue.
    private static let linkLimit = 50

    /// The purchase of a token, with those before it that are not known yet.
    func chain(_ key: PlayTokenKey, _ time: PlayTime) -> PlayAsking<PlayChain> {
        if time.end == nil { return chain(key, key.forms[...], time) }
        // Many clients may hand in the same token at once.
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
                // Nothing counts of it yet.
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

    /// The subscription of a purchase token.
    func subscription(
        _ token: String, of app: StoreApp, _ time: PlayTime
    ) -> PlayAsking<PlayReading<PlaySubscriptionStatement>> {
        reading(.subscription(token, of: app), time) { bytes throws(EvidenceRefusal) in
            try PlaySubscriptionStatement(answer: bytes)
        }
    }

    /// The one-time products of a purchase token.
    func purchase(
        _ token: String, of app: StoreApp, _ time: PlayTime
    ) -> PlayAsking<PlayReading<PlayPurchaseStatement>> {
        reading(.purchase(token, of: app), time) { bytes throws(EvidenceRefusal) in
            try PlayPurchaseStatement(answer: bytes)
        }
    }

    /// The same in the first form, which needs the product.
    func purchase(
        _ token: String, of product: ProductID, in app: StoreApp, _ time: PlayTime
    ) -> PlayAsking<PlayReading<PlayPurchaseStatement>> {
        reading(.product(product, token, of: app), time) { bytes throws(EvidenceRefusal) in
            try PlayPurchaseStatement(oldAnswer: bytes, about: product.text)
        }
    }

    /// The store names what a purchase continues only for a time, if the customer came back in the store's own screens:
    /// what it is called follows then from what is known of its token.
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

    /// Reads the purchases that the oldest of the chain continues, until one is known here, or unknown there.
    private func follow(
        _ linked: String?, _ chain: PlayChain, of app: StoreApp, _ time: PlayTime
    ) -> PlayAsking<PlayChain> {
        guard let linked else { return .ended(.success(chain)) }
        if chain.links.contains(where: { $0.token == linked }) {
            // They name each other: whichever was handed in, they are called the same.
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
            // What a change did that was given up is nothing: the purchase before it lives on.
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

    /// What the answers prove, the oldest first.
    func prove(
        _ chain: PlayChain, of app: TrustedApp, now: Instant
    ) throws(RefusedEvidence) -> [ProvenEvidence] {
        let root = chain.root ?? chain.links.first.map { TransactionID(playToken: $0.token) }
        var proven: [ProvenEvidence] = []
        // What a change did that was given up is nothing.
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
    /// The token that it continues: the one that it replaces, or the expired one of a customer who came back in the
    /// store's own screens. What was never paid brings nothing back.
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
        "the purchase continues more than 50 others of which Deed knows none; hand in an older one first"
    )

    fileprivate static let unknownToken = refused(
        code: 404, message: "no purchase has this token", meaning: .purchaseUnknown)
}
