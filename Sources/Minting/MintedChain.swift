/// A root, an intermediate and a leaf, as a store uses them.
package struct MintedChain: Sendable {
    package var root: MintedCertificate
    package var intermediate: MintedCertificate
    package var leaf: MintedCertificate

    /// Wraps the certificates of an existing chain.
    package init(
        root: MintedCertificate, intermediate: MintedCertificate, leaf: MintedCertificate
    ) {
        self.root = root
        self.intermediate = intermediate
        self.leaf = leaf
    }

    /// Issues a new chain with fresh keys.
    package init(
        _ kind: Kind, root: CertificatePlan = .root,
        intermediate: CertificatePlan = .intermediate, leaf: CertificatePlan = .leaf
    ) {
        let upper: MintedKey.Family = kind == .receipts ? .rsa2048 : .p384
        let lower: MintedKey.Family = kind == .receipts ? .rsa2048 : .p256
        self.root = MintedCertificate(root, key: MintedKey(upper))
        self.intermediate = MintedCertificate(
            intermediate, key: MintedKey(upper), issuer: self.root)
        self.leaf = MintedCertificate(leaf, key: MintedKey(lower), issuer: self.intermediate)
    }

    package enum Kind: Sendable {
        /// A chain with RSA keys, which sign receipts.
        case receipts
        /// A chain with elliptic-curve keys, which sign transactions.
        case transactions
    }

    /// The certificates from the leaf to the root.
    package var certificates: [MintedCertificate] { [leaf, intermediate, root] }

    /// Returns the same chain with a different leaf, issued by the same intermediate for the same key.
    package func with(leaf plan: CertificatePlan) -> MintedChain {
        var copy = self
        copy.leaf = MintedCertificate(plan, key: leaf.key, issuer: intermediate)
        return copy
    }

    /// Returns the same chain with a different intermediate for the same key.
    package func with(intermediate plan: CertificatePlan) -> MintedChain {
        var copy = self
        copy.intermediate = MintedCertificate(plan, key: intermediate.key, issuer: root)
        return copy
    }

    /// A chain created once per run, because generating keys takes a long time.
    package static let receipts = MintedChain(.receipts)
    package static let transactions = MintedChain(.transactions)
}
