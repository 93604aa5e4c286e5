/// What a purchase is made of. Everything else about it follows from this.
package struct PurchaseParts: Sendable {
    package var id: PurchaseID
    /// In the order of the transactions; empty if they follow from the readings.
    package var evidence: [TransactionEvidence] = []
    package var renewals: [RenewalFact] = []
    package var refundNews: [RefundFact] = []
    package var reports: [RefundReport] = []
    package var blocks: [Block] = []
    package var arrival: Arrival?
    package var carried: [CarriedToken] = []
    package var readings: [TransactionFact] = []
    /// When the store announced the product of a transaction, by the index of the transaction.
    package var announced: [Int: Instant] = [:]

    package init(_ id: PurchaseID) {
        self.id = id
    }

    /// Whether there is evidence for each period of the readings, and for nothing else.
    package var fits: Bool {
        if readings.isEmpty || evidence.isEmpty { return true }
        return evidence.count == ReadingCourse(readings, of: id.original).periods.count
    }
}
