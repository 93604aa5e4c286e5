/// A period of access that one rule gives from one source. It refers to its source by indexes into
/// the state and the catalog, and therefore stays small.
struct Right: Hashable, Sendable {
    enum Source: Hashable, Sendable {
        /// A transaction of a purchase. `product` is the product's index in the catalog; `nil` if
        /// the catalog does not contain it.
        case transaction(Int, purchase: Int, product: Int?)
        case app(Int, rule: Int)
        case grant(Int)
    }

    let source: Source
    let rule: Rule
    private(set) var interval: Interval
    /// The cause that ended the right early, if any.
    private(set) var cut: Cut?
    /// The reason why the right had already ended early when support blocked it, if any.
    private(set) var storesCut: Cut?

    init(_ rule: Rule, of source: Source, _ interval: Interval) {
        self.source = source
        self.rule = rule
        self.interval = interval
    }

    /// The index of the sold product in the catalog; `nil` if the catalog does not contain it.
    var product: Int? {
        if case .transaction(_, _, let product) = source { product } else { nil }
    }

    /// Ends the right at `instant` unless it ends earlier.
    mutating func cut(at instant: Instant, by cause: Cut) {
        if let end = interval.end, end <= instant { return }
        interval = interval.cut(at: instant)
        cut = cause
        if cause != .block { storesCut = cause }
    }
}

extension Right {
    /// Delays the start of the right to `instant` if the right starts earlier.
    mutating func begin(at instant: Instant) {
        if interval.start < instant {
            interval = Interval(start: instant, end: interval.end.map { max(instant, $0) })
        }
    }
}

/// The rules that give access.
package enum Rule: String, Hashable, Sendable, CaseIterable {
    /// A subscription gives access from the start of a period until it expires.
    case period
    /// If a renewal payment fails, a subscription continues until the store's grace period ends.
    case grace
    /// A non-consumable gives access indefinitely.
    case lifetime
    /// A non-renewing purchase lasts as long as the catalog says.
    case fixedTerm = "fixed_term"
    /// A customer who installed an early version of the app keeps the access that came with it.
    case originalVersion = "original_version"
    /// An admin's grant gives access from its start until its end.
    case grant
}

/// The causes that can end a right early.
package enum Cut: String, Hashable, Sendable, CaseIterable {
    /// The store or an admin revoked the right.
    case revocation
    /// A period of another product replaced the period.
    case upgrade
    /// The next period began and ended the grace period before it.
    case recovery
    /// Support blocked the purchase.
    case block
    /// The same product was bought again, and the catalog says that a new purchase restarts the term.
    case restart
}
