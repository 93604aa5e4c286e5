/// Non-consumables: access from the purchase until it is taken back, else for ever.
extension Purchase {
    /// The access of the purchase. A restore gives the same purchase a fresh transaction, so all of
    /// its transactions are one, and the statement about any of them that outweighs the rest counts.
    func lifetime(of source: Right.Source) -> Right? {
        guard let first = transactions.lazy.map(\.firstPurchased).min() else { return nil }
        var right = Right(.lifetime, of: source, Interval(start: first, end: nil))
        if let revokedAt = lifetimeRevocation?.at { right.cut(at: revokedAt, by: .revocation) }
        return right
    }

    var lifetimeRevocation: Revocation? {
        guard var all = evidence.first else { return nil }
        for other in evidence.dropFirst() { all.join(other) }
        return all.effective.revocation
    }
}
