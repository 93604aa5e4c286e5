/// One stretch of access that one rule gives from one source. It names its source by places in the
/// state and in the catalog, so that it is small and plain however much the source says.
struct Right: Hashable, Sendable {
    enum Source: Hashable, Sendable {
        /// A transaction of a purchase; `product` is its place in the catalog, if it has one.
        case transaction(Int, purchase: Int, product: Int?)
        case app(Int, rule: Int)
        case grant(Int)
    }

    let source: Source
    let rule: Rule
    private(set) var interval: Interval
    /// What made it end before its time, if anything did.
    private(set) var cut: Cut?

    init(_ rule: Rule, of source: Source, _ interval: Interval) {
        self.source = source
        self.rule = rule
        self.interval = interval
    }

    /// The place in the catalog of the product that was sold, where it has one.
    var product: Int? {
        if case .transaction(_, _, let product) = source { product } else { nil }
    }

    /// Ends at `instant`, unless it ended by then anyway.
    mutating func cut(at instant: Instant, by cause: Cut) {
        if let end = interval.end, end <= instant { return }
        interval = interval.cut(at: instant)
        cut = cause
    }
}

/// The rules of access.
package enum Rule: String, Hashable, Sendable, CaseIterable {
    /// A subscription gives access from a period's start until it expires.
    case period
    /// A subscription goes on until the store's grace ends, when its renewal could not be paid.
    case grace
    /// A non-consumable gives access for ever.
    case lifetime
    /// A non-renewing purchase lasts as long as the catalog says.
    case fixedTerm = "fixed_term"
    /// A customer who installed an early version of the app keeps what it had.
    case originalVersion = "original_version"
    /// An admin's grant gives access from its start to its end.
    case grant
}

/// What ends a right before its time.
package enum Cut: String, Hashable, Sendable, CaseIterable {
    /// The store, or an admin, took it back.
    case revocation
    /// A period of another product took its place.
    case upgrade
    /// The next period began, so that the grace before it is over.
    case recovery
    /// The same product was bought again, and the catalog says that its term starts again.
    case restart
}
