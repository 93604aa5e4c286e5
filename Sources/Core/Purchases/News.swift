/// News that a store sends only once, identified by a unique id.
protocol News: Hashable {
    var id: NewsID { get }
    var signedAt: Instant { get }
}

/// A customer asked the store for a refund, or the store declined it.
package struct RefundFact: Hashable, Sendable, News {
    package enum Stage: Hashable, Sendable {
        case requested(RefundReason?)
        case declined
    }
    package let id: NewsID
    package let store: Store
    package let environment: Environment
    package let app: AppID
    package let original: TransactionID
    package let transaction: TransactionID
    package let stage: Stage
    package let signedAt: Instant
    package var rank: Rank

    package init(
        _ id: NewsID, _ stage: Stage, of fact: TransactionFact, signedAt: Instant, rank: Rank
    ) {
        self.init(
            id, stage, app: fact.app, store: fact.store, environment: fact.environment,
            original: fact.original, transaction: fact.transaction, signedAt: signedAt, rank: rank)
    }

    package init(
        _ id: NewsID, _ stage: Stage, app: AppID, store: Store, environment: Environment,
        original: TransactionID, transaction: TransactionID, signedAt: Instant, rank: Rank
    ) {
        self.id = id
        self.stage = stage
        self.app = app
        self.store = store
        self.environment = environment
        self.original = original
        self.transaction = transaction
        self.signedAt = signedAt
        self.rank = rank
    }

    package var purchase: PurchaseID { PurchaseID(store: store, original: original) }

    /// When the store stops accepting a report about the purchase.
    package var answerBy: Instant { signedAt.advanced(byMilliseconds: 12 * 3_600_000) }

    package var isRequest: Bool {
        if case .requested = stage { true } else { false }
    }
}

/// A position in the list of customers with requested refunds: a customer, and the latest deadline for answering one
/// of the customer's requests.
package struct RefundPlace: Hashable, Sendable {
    package let answerBy: Instant
    package let customer: CustomerID

    package init(answerBy: Instant, customer: CustomerID) {
        self.answerBy = answerBy
        self.customer = customer
    }
}

/// A project in one environment.
package struct ProjectPart: Hashable, Sendable {
    package let project: ProjectID
    package let environment: Environment

    package init(project: ProjectID, environment: Environment) {
        self.project = project
        self.environment = environment
    }
}

/// Why a customer asks for a refund.
package enum RefundReason: Hashable, Sendable {
    case unintendedPurchase
    case fulfillmentIssue
    case unsatisfied
    case legal
    case other
    case unknown(StoreWord)
}

/// A parent withdrew consent to the use of an app.
package struct ConsentFact: Hashable, Sendable, News {
    package let id: NewsID
    package let store: Store
    package let environment: Environment
    package let app: AppID
    package let appTransaction: AppTransactionID
    package let signedAt: Instant
    package var rank: Rank

    package init(
        _ id: NewsID, store: Store, environment: Environment, app: AppID,
        appTransaction: AppTransactionID, signedAt: Instant, rank: Rank
    ) {
        self.id = id
        self.store = store
        self.environment = environment
        self.app = app
        self.appTransaction = appTransaction
        self.signedAt = signedAt
        self.rank = rank
    }
}

extension Array where Element: News {
    /// Returns whether the news is already known. A new signature does not make the news new. The first statement
    /// counts, regardless of the order of arrival.
    func holds(_ news: Element) -> Bool {
        contains { $0.id == news.id && !news.precedes($0) }
    }

    mutating func join(_ news: Element) {
        if holds(news) { return }
        removeAll { $0.id == news.id }
        insert(news, at: firstIndex { news.precedes($0) } ?? endIndex)
    }
}

extension News {
    fileprivate func precedes(_ other: Self) -> Bool {
        if signedAt != other.signedAt { return signedAt < other.signedAt }
        return id == other.id ? self != other && content(of: other, follows: self) : id < other.id
    }
}

extension Purchase {
    /// Requested refunds that the store has not decided on, as far as is known.
    package var openRefundRequests: [RefundFact] {
        refundNews.filter { $0.isRequest && !isDecided($0) }
    }

    private func isDecided(_ request: RefundFact) -> Bool {
        let isDeclined = refundNews.contains {
            $0.stage == .declined && $0.transaction == request.transaction
                && $0.signedAt >= request.signedAt
        }
        let revocation = evidence(of: request.transaction)?.effective.revocation
        return isDeclined || revocation.map { $0.at >= request.signedAt } ?? false
    }
}

extension Purchase {
    /// The store account that owns the purchase, according to the evidence.
    var account: AppTransactionID? {
        evidence.last { $0.signed != nil }?.signed?.appTransaction
    }
}

extension CustomerState {
    /// The store accounts with which the customer uses apps, according to the evidence.
    package var appTransactions: [AppTransactionID] {
        Set(installedBy + purchases.compactMap(\.account)).sorted()
    }

    /// The latest deadline among the refund requests that still need a report.
    package var answerBy: Instant? {
        purchases.lazy.flatMap(\.refundsToReport).map(\.answerBy).max()
    }
}
