/// A form in which a store issues its statements. Each store's adapter declares its own.
package struct EvidenceKind: Hashable, Sendable {
    package enum Content: Sendable {
        case purchases
        /// Proof that an app was installed; it names no purchase and no customer.
        case installation
        /// What a store reports on its own initiative.
        case news
    }

    /// What makes evidence of this kind valid.
    package enum Proof: Sendable {
        /// The store's signature.
        case signature
        /// The signature or the store's word, as the app is configured.
        case signatureOrWord
        /// Only the store's word: the evidence names what the store is to be asked about.
        case word
        /// A download by our own client. Submitted evidence of this kind never counts.
        case connection
    }

    package let store: Store
    /// Its name in the database and in answers, unique among the kinds of all stores.
    package let word: String
    package let content: Content
    package let proof: Proof
    /// Whether it names its app. Otherwise it counts only together with a transaction.
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

    /// Whether the store must be asked about it, for an app that leaves its receipts to this judge.
    package func isForStore(_ judge: ReceiptJudge) -> Bool {
        proof == .word || proof == .signatureOrWord && judge == .store
    }
}
