/// The two worlds that never meet: part of every key.
package enum Environment: String, Hashable, Sendable, CaseIterable {
    case production
    case sandbox
}

/// Where a right comes from.
package enum Store: String, Hashable, Sendable, CaseIterable {
    case apple
    case google
    /// Deed itself: rights that an admin gave.
    case deed
}
