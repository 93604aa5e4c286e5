/// The two worlds that never meet: part of every key.
package enum Environment: String, Hashable, Sendable, CaseIterable {
    case production
    case sandbox

    /// Not by the name, which takes several times as long: it is part of nearly every key.
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

    /// The one that is meant where none is named.
    package static let unnamed = Store.apple
}
