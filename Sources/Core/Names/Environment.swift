/// The two environments, whose data never mixes. Every key includes its environment.
package enum Environment: String, Hashable, Sendable, CaseIterable {
    case production
    case sandbox

    /// Hashes a number, which is several times as fast as hashing the name. Nearly every key includes an environment.
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

    /// The store that applies if a request does not name one.
    package static let unnamed = Store.apple
}
