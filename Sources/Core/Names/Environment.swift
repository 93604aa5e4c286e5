/// The two worlds that never meet; every key includes one.
package enum Environment: String, Hashable, Sendable, CaseIterable {
    case production
    case sandbox

    /// Hashing the name would take several times as long, and nearly every key includes an
    /// environment.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .production: hasher.combine(0 as UInt8)
        case .sandbox: hasher.combine(1 as UInt8)
        }
    }
}

/// Where a right comes from.
package enum Store: String, Hashable, Sendable, CaseIterable {
    case apple
    case google
    /// Deed itself: rights that an admin gave.
    case deed

    /// The store that is meant when none is named.
    package static let unnamed = Store.apple
}
