/// The parts of a purchase. Everything else about it is derived from these parts.
package struct PurchaseParts: Sendable {
    package var id: PurchaseID
    /// The evidence in the order of the transactions; empty if the transactions are derived from
    /// readings.
    package var evidence: [TransactionEvidence] = []
    package var renewals: [RenewalFact] = []
    package var refundNews: [RefundFact] = []
    package var reports: [RefundReport] = []
    package var blocks: [Block] = []
    package var arrival: Arrival?
    package var carried: [CarriedToken] = []
    package var readings: [TransactionFact] = []
    /// When the store announced a transaction's product, by index of the transaction.
    package var announced: [Int: Instant] = [:]

    package init(_ id: PurchaseID) {
        self.id = id
    }

    /// Whether the evidence covers exactly the periods in the readings.
    package var fits: Bool {
        if readings.isEmpty || evidence.isEmpty { return true }
        return evidence.count == ReadingCourse(readings, of: id.original).periods.count
    }
}
