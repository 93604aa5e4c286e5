extension Rank {
    /// Whether the evidence is of the old form: a receipt, or the store's reply about one.
    package var isLegacy: Bool { self <= .verifyReceiptReply }
}

extension TransactionFact {
    /// Whether this is believed over the other statement about the same transaction: the later signature,
    /// then the stronger evidence. For equal times: the one that revokes the transaction, or revokes it
    /// later; that names an upgrade; that ends later; that revokes more of its items. The content decides
    /// last, so that the choice never depends on which came first.
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
    /// Whether this is believed over the other statement about the same subscription: the later
    /// signature, then the stronger evidence, then the one that makes a renewal less likely.
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

/// A total order on facts by all of their members. Reflection sees every member, including future ones;
/// it is slow, and used only for two different facts that were signed at the same moment.
func content<Fact>(of one: Fact, follows other: Fact) -> Bool {
    String(reflecting: other).utf8.lexicographicallyPrecedes(String(reflecting: one).utf8)
}
