/// The two environments, which never mix. Every key includes one of them.
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

/// The origin of a right.
package enum Store: String, Hashable, Sendable, CaseIterable {
    case apple
    case google
    /// Deed itself, for rights that an admin gave.
    case deed

    /// The store that is meant if none is named.
    package static let unnamed = Store.apple
}
