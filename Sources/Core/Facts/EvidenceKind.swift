/// A form in which a store issues its statements. Each store's adapter declares its own kinds.
package struct EvidenceKind: Hashable, Sendable {
    package enum Content: Sendable {
        case purchases
        /// Proof that an app was installed. It names no purchase or customer.
        case installation
        /// A report that the store sends on its own initiative.
        case news
    }

    /// How evidence of this kind is verified.
    package enum Proof: Sendable {
        /// The store's signature.
        case signature
        /// The store's signature or the store's answer to a query, depending on the app's settings.
        case signatureOrWord
        /// Only the store's answer to a query. The evidence names the purchase to ask about.
        case word
        /// The connection over which Deed's own client downloaded the evidence. Submitted evidence
        /// of this kind never counts.
        case connection
    }

    package let store: Store
    /// The kind's name in the database and in answers. It is unique across all stores.
    package let word: String
    package let content: Content
    package let proof: Proof
    /// Whether the evidence names its app. Otherwise, the evidence counts only together with a transaction.
    package let namesApp: Bool

    package init(
        _ store: Store, _ word: String, _ content: Content = .purchases,
        by proof: Proof = .signature, namesApp: Bool = true
    ) {
        self.store = store
        self.word = word
        self.content = content
        self.proof = proof
        self.namesApp = namesApp
    }

    /// Returns whether only the store can judge the evidence, if the app's receipts have this judge.
    package func isForStore(_ judge: ReceiptJudge) -> Bool {
        proof == .word || proof == .signatureOrWord && judge == .store
    }
}
