/// One stretch of access that one rule gives from one source. It names its source by indexes into
/// the state and the catalog, so that it stays small however much the source says.
struct Right: Hashable, Sendable {
    enum Source: Hashable, Sendable {
        /// A transaction of a purchase; `product` is its index in the catalog, if it has one.
        case transaction(Int, purchase: Int, product: Int?)
        case app(Int, rule: Int)
        case grant(Int)
    }

    let source: Source
    let rule: Rule
    private(set) var interval: Interval
    /// What ended it early, if anything did.
    private(set) var cut: Cut?
    /// The same by the other rules, where support blocked the purchase before.
    private(set) var storesCut: Cut?

    init(_ rule: Rule, of source: Source, _ interval: Interval) {
        self.source = source
        self.rule = rule
        self.interval = interval
    }

    /// The catalog index of the sold product, if it has one.
    var product: Int? {
        if case .transaction(_, _, let product) = source { product } else { nil }
    }

    /// Ends the right at `instant`, unless it ends earlier anyway.
    mutating func cut(at instant: Instant, by cause: Cut) {
        if let end = interval.end, end <= instant { return }
        interval = interval.cut(at: instant)
        cut = cause
        if cause != .block { storesCut = cause }
    }
}

extension Right {
    /// Gives nothing before that instant.
    mutating func begin(at instant: Instant) {
        if interval.start < instant {
            interval = Interval(start: instant, end: interval.end.map { max(instant, $0) })
        }
    }
}

/// The rules of access.
package enum Rule: String, Hashable, Sendable, CaseIterable {
    /// A subscription gives access from a period's start to its expiry.
    case period
    /// If a renewal payment fails, a subscription continues to the end of the store's grace period.
    case grace
    /// A non-consumable gives access without end.
    case lifetime
    /// A non-renewing purchase lasts as long as the catalog says.
    case fixedTerm = "fixed_term"
    /// A customer who installed an early version of the app keeps what it had.
    case originalVersion = "original_version"
    /// An admin's grant gives access from its start to its end.
    case grant
}

/// What ends a right early.
package enum Cut: String, Hashable, Sendable, CaseIterable {
    /// The store or an admin revoked it.
    case revocation
    /// A period of another product replaced it.
    case upgrade
    /// The next period began, which ends the grace period before it.
    case recovery
    /// Support blocked the purchase.
    case block
    /// The same product was bought again, and the catalog says that its term starts again.
    case restart
}
