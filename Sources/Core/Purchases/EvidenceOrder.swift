extension Rank {
    /// Whether the evidence is of the old kind: a receipt, or the store's reply about one.
    package var isLegacy: Bool { self <= .verifyReceiptReply }
}

extension TransactionFact {
    /// Whether this is believed over the other statement about the same transaction: the later
    /// signature, then the stronger evidence, then the one that takes the transaction back. The
    /// content decides last, so that the choice never depends on which came first.
    func outweighs(_ other: TransactionFact) -> Bool {
        if signedAt != other.signedAt { return signedAt > other.signedAt }
        if rank != other.rank { return rank > other.rank }
        if (revocation == nil) != (other.revocation == nil) { return revocation != nil }
        return self != other && content(of: self, follows: other)
    }
}

extension RenewalFact {
    /// Whether this is believed over the other statement about the same subscription.
    func outweighs(_ other: RenewalFact) -> Bool {
        if signedAt != other.signedAt { return signedAt > other.signedAt }
        if rank != other.rank { return rank > other.rank }
        return self != other && content(of: self, follows: other)
    }
}

/// A total order on facts by everything that they hold. Reflection sees every member, also one that
/// is added later; it is slow, and asked only about two different facts that were signed at once.
func content<Fact>(of one: Fact, follows other: Fact) -> Bool {
    String(reflecting: other).utf8.lexicographicallyPrecedes(String(reflecting: one).utf8)
}
