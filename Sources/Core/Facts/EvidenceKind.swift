/// A form in which a store hands out what it states. Each store's adapter declares its own.
package struct EvidenceKind: Hashable, Sendable {
    package enum Content: Sendable {
        case purchases
        /// That an app was installed; it names no purchase and no customer.
        case installation
        /// What a store tells by itself.
        case news
    }

    /// What makes evidence of the kind count.
    package enum Proof: Sendable {
        /// That the store signed it.
        case signature
        /// The same, or the store's word, as the app is set.
        case signatureOrWord
        /// The store's word alone: what is handed in names what it is to be asked for.
        case word
        /// That our own client fetched it. Nothing that is handed in counts.
        case connection
    }

    package let store: Store
    /// Its name in the database and in answers, which no other kind of any store has.
    package let word: String
    package let content: Content
    package let proof: Proof
    /// Whether it says itself which app it is for. Otherwise it counts together with a transaction.
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

    /// Whether the store is asked about it, for an app that leaves its receipts to this judge.
    package func isForStore(_ judge: ReceiptJudge) -> Bool {
        proof == .word || proof == .signatureOrWord && judge == .store
    }
}
