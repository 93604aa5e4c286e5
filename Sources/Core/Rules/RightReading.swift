/// The state and the source of one right at a given instant.
struct RightReading {
    let source: Entitlement.Source
    let isActive: Bool
    private(set) var state: Entitlement.State
    var terms = OfferTerms.usual
    var product: ProductID?
    var kind: ProductKind?
    var willRenew = false
    var nextProduct: ProductID?
    var expirationReason: ExpirationReason?
    /// Whether the store refunded the purchase because the app was at fault.
    var isRevokedForApp = false
    /// Whether the purchase was made in the sandbox.
    var isSandbox = false

    init(of right: Right, in state: CustomerState, at instant: Instant, _ catalog: Catalog) {
        let standing = right.standing(at: instant)
        isActive = standing == .access
        switch right.source {
        case .grant(let index):
            source = .grant(state.grants[index].id)
            self.state = right.state(standing)
        case .app(let index, _):
            source = .originalAppVersion(state.apps[index].app)
            self.state = right.state(standing)
        case .transaction(let index, let place, _):
            let purchase = state.purchases[place]
            let transaction = purchase.transaction(behind: right, at: index)
            // A period followed by another one ended long before the store's latest statement.
            let isFollowed = purchase.isFollowed(index)
            let renewal = standing == .past && isFollowed ? nil : purchase.renewal(after: index)
            source = .purchase(purchase.id)
            let isTakenBack = standing == .past && purchase.isTakenBack(at: index)
            self.state =
                isTakenBack && right.storesCut != .upgrade
                ? .revoked
                : right.state(standing, terms: transaction.terms, renewal: renewal)
            kind = purchase.kind(of: index, by: catalog)
            // If the product represents other products, this is the one that gives the right.
            product =
                right.product.map { catalog.products[$0].key.id }
                ?? purchase.products[transaction.product]
            isRevokedForApp = transaction.isRevokedForApp
            isSandbox = transaction.isSandbox
            if kind == .autoRenewable {
                terms = transaction.terms
                read(renewal, after: transaction)
            }
            if purchase.isBlocked(at: instant) { block() }
        }
    }

    /// Reads the store's statement about the renewal. A subscription renews unless the store says otherwise. A
    /// subscription that has ended does not renew, whatever the store said before. It can continue by itself only
    /// while the store retries a payment.
    private mutating func read(_ renewal: RenewalFact?, after transaction: Transaction) {
        // A customer who cancels a commitment still pays until its end. Until then, the store says
        // that the commitment renews.
        let isLast = transaction.isLastOfCommitment && renewal?.willCommitAgain == false
        willRenew = !isOver && !isLast && renewal?.willRenew ?? isActive
        nextProduct = renewal?.nextProduct
        guard state == .expired || state == .retry else { return }
        let isCancelled = state == .expired && renewal?.willRenew == false
        let intent = renewal?.expirationIntent ?? (isCancelled ? .cancelled : nil)
        expirationReason = intent.map { .store($0) }
    }

    /// Overrides the store's statements with support's block.
    private mutating func block() {
        (state, expirationReason) = (.revoked, .blocked)
        (isRevokedForApp, willRenew) = (false, false)
    }
}

extension RightReading {
    private var isOver: Bool { state == .expired || state == .revoked || state == .upgraded }
}

extension Right {
    fileprivate func state(
        _ standing: Standing, terms: OfferTerms = .usual, renewal: RenewalFact? = nil
    ) -> Entitlement.State {
        switch standing {
        case .access: rule == .grace ? .grace : rule == .period ? terms.state : .active
        case .ahead: .upcoming
        case .past:
            switch storesCut {
            case .revocation: .revoked
            case .upgrade: .upgraded
            case .recovery, .restart, .block, nil:
                renewal?.isPaused == true
                    ? .paused : renewal?.isInBillingRetry == true ? .retry : .expired
            }
        }
    }
}

extension OfferTerms {
    fileprivate var state: Entitlement.State {
        switch self {
        case .trial: .trial
        case .introductory: .intro
        case .usual, .offer: .active
        }
    }
}

extension RightReading {
    /// The compact reason code. The state comes before the dot; the offer, once it has begun, after the dot.
    var code: String {
        state == .upcoming
            ? "0.0"
            : RightReading.codes[stateCode - RightReading.stateCodes.lowerBound][terms.rawValue]
    }

    private static let stateCodes = -9...5
    /// All codes, prepared in advance because every answer contains one.
    private static let codes = stateCodes.map { state in (0...3).map { "\(state).\($0)" } }

    private var stateCode: Int {
        switch state {
        case .trial, .intro, .active: accessCode
        case .grace: 1
        case .upcoming: 0
        case .retry: -1
        case .expired: endCode
        case .upgraded: -6
        case .paused: -9
        case .revoked: isRevokedForApp ? -7 : -8
        }
    }

    private var accessCode: Int {
        switch (source, kind) {
        case (.grant, _): 2
        case (_, .autoRenewable): willRenew ? 5 : 4
        default: 3
        }
    }

    /// The part of the code that says why access ended: 0 if the store gave no reason, and -5 for
    /// access that ends by the clock alone.
    private var endCode: Int {
        guard kind == .autoRenewable else { return -5 }
        return switch expirationReason {
        case .store(.billingError): -2
        case .store(.priceIncreaseRefused): -3
        case .store(.productUnavailable): -4
        case .store(.cancelled): -5
        case .store(.other), .store(.unknown), .blocked, nil: 0
        }
    }
}
