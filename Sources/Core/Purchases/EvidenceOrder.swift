extension Rank {
    /// Whether the evidence has the legacy form: a receipt, or the store's reply about one.
    package var isLegacy: Bool { self <= .verifyReceiptReply }
}

extension TransactionFact {
    /// Returns whether this statement prevails over the other one about the same transaction. The later signature
    /// prevails, then the stronger evidence. After that, the criteria are, in order: a revocation, a later
    /// revocation, an upgrade, a later end, and more revoked items. The content decides last, so that the result
    /// never depends on the order of arrival.
    func outweighs(_ other: TransactionFact) -> Bool {
        weight == other.weight
            ? self != other && content(of: self, follows: other) : weight > other.weight
    }

    private var weight: (Instant, Rank, Instant, Int, Instant, Int) {
        (
            signedAt, rank, revocation?.at ?? .distantPast, isUpgraded ? 1 : 0,
            expires ?? .distantPast, itemsTakenBack
        )
    }
}

extension RenewalFact {
    /// Returns whether this statement prevails over the other one about the same subscription. The later signature
    /// prevails, then the stronger evidence, then the statement that makes a renewal less likely.
    func outweighs(_ other: RenewalFact) -> Bool {
        weight == other.weight
            ? self != other && content(of: self, follows: other) : weight > other.weight
    }

    private var weight: (Instant, Rank, Int, Int, Int) {
        (
            signedAt, rank, isInBillingRetry ? 1 : 0, willRenew ? 0 : 1,
            willCommitAgain == false ? 1 : 0
        )
    }
}

/// Returns whether one fact follows the other in a total order. Reflection compares every member, including future
/// ones. It is slow, and is used only for two different facts that were signed at the same instant.
func content<Fact>(of one: Fact, follows other: Fact) -> Bool {
    String(reflecting: other).utf8.lexicographicallyPrecedes(String(reflecting: one).utf8)
}
