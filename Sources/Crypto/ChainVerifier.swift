/// A root certificate that is trusted without further proof.
package struct TrustAnchor: Sendable {
    package enum Origin: Hashable, Sendable {
        /// The root is compiled into the program.
        case pinned
        /// An operator added the root. It is trusted only for sandbox evidence.
        case extra
    }
    package let certificate: Certificate
    package let origin: Origin

    package init(_ certificate: Certificate, _ origin: Origin) {
        self.certificate = certificate
        self.origin = origin
    }
}

/// The requirements that a chain must meet to vouch for one kind of evidence.
package struct ChainRules: Sendable {
    /// The object identifiers of the extensions that mark certificates for this purpose.
    package var leafMarker: String
    package var intermediateMarker: String
    package var leafKey: KeyFamily
    package var allowsSHA1: Bool
    /// Whether an extra root may sign evidence itself.
    package var allowsSelfSigned: Bool

    package init(
        leafMarker: String, intermediateMarker: String, leafKey: KeyFamily, allowsSHA1: Bool,
        allowsSelfSigned: Bool
    ) {
        self.leafMarker = leafMarker
        self.intermediateMarker = intermediateMarker
        self.leafKey = leafKey
        self.allowsSHA1 = allowsSHA1
        self.allowsSelfSigned = allowsSelfSigned
    }
}

/// A chain that ends at a trusted root. It does not depend on time: whether the chain was valid at
/// the time of signing is checked for each piece of evidence.
package struct VerifiedChain: Sendable {
    package let leaf: Certificate
    package let origin: TrustAnchor.Origin
    /// Whether any certificate below the root was signed using SHA-1.
    package let usesSHA1: Bool
    /// The names of the certificates, from the leaf's to the root's.
    package let names: [String]
    private let notBefore: Int64
    private let notAfter: Int64

    fileprivate init(_ path: [Certificate], origin: TrustAnchor.Origin, leaf: Certificate) {
        self.leaf = leaf
        self.origin = origin
        usesSHA1 = path.dropLast().contains { $0.signature == .sha1WithRSA }
        names = path.map(\.name)
        notBefore = path.map(\.notBefore).reduce(leaf.notBefore, max)
        notAfter = path.map(\.notAfter).reduce(leaf.notAfter, min)
    }

    /// Throws unless all certificates were valid at this second, counted from 1970.
    package func requireValidity(at second: Int64) throws(ChainRefusal) {
        if second > notAfter { throw .expired }
        if second < notBefore { throw .notYetValid }
    }
}

/// Verifies a leaf through one intermediate up to a trusted root. All of the rules are spelled out here.
package struct ChainVerifier: Sendable {
    private let anchors: [TrustAnchor]
    package let rules: ChainRules

    package init(anchors: [TrustAnchor], rules: ChainRules) {
        self.anchors = anchors
        self.rules = rules
    }

    /// Finds a path from `leaf` through one of `others` to a root. Roots among `others` are
    /// ignored, because they come from the sender of the evidence.
    package func verify(
        leaf: Certificate, others: [Certificate]
    ) throws(ChainRefusal) -> VerifiedChain {
        if let anchor = selfSignedAnchor(leaf) {
            try requireKey(leaf)
            return VerifiedChain([leaf], origin: anchor.origin, leaf: leaf)
        }
        // A self-signed certificate proves nothing unless it is one of the roots.
        if leaf.isNamedIssuer(of: leaf) { throw .untrustedRoot }
        try requireLeaf(leaf)
        let named = others.filter { $0.isNamedIssuer(of: leaf) }
        if named.isEmpty { throw .issuerMissing }
        var refusal = ChainRefusal.issuerMissing
        // Two authorities may have the same name. The first one that satisfies all rules counts as the issuer.
        for issuer in named {
            do {
                return try verify(leaf: leaf, issuer: issuer)
            } catch {
                refusal = error
            }
        }
        throw refusal
    }

    private func verify(
        leaf: Certificate, issuer: Certificate
    ) throws(ChainRefusal) -> VerifiedChain {
        try requireIntermediate(issuer)
        let anchor = try anchor(for: issuer)
        if !issuer.hasSigned(leaf) { throw .issuerSignatureInvalid }
        return VerifiedChain(
            [leaf, issuer, anchor.certificate], origin: anchor.origin, leaf: leaf)
    }

    private func selfSignedAnchor(_ leaf: Certificate) -> TrustAnchor? {
        if !rules.allowsSelfSigned { return nil }
        return anchors.first {
            $0.origin == .extra && $0.certificate.fingerprint == leaf.fingerprint
        }
    }

    private func anchor(for intermediate: Certificate) throws(ChainRefusal) -> TrustAnchor {
        let found = anchors.first {
            $0.certificate.isNamedIssuer(of: intermediate)
                && $0.certificate.hasSigned(intermediate)
        }
        guard let found else { throw .untrustedRoot }
        let root = found.certificate
        if !root.isAuthority { throw .notAnAuthority(.root) }
        if !root.allows(.certificateSigning) { throw .wrongKeyUsage(.root) }
        if let limit = root.pathLength, limit < 1 { throw .pathTooLong }
        return found
    }

    private func requireLeaf(_ leaf: Certificate) throws(ChainRefusal) {
        try requireExtensions(leaf, .leaf, marker: rules.leafMarker)
        if leaf.isAuthority { throw .leafIsAuthority }
        if !leaf.allows(.digitalSignature) { throw .wrongKeyUsage(.leaf) }
        try requireKey(leaf)
        try requireSignature(leaf, .leaf)
    }

    private func requireKey(_ leaf: Certificate) throws(ChainRefusal) {
        if leaf.publicKey.family != rules.leafKey { throw .unsupportedKey(.leaf) }
    }

    private func requireIntermediate(_ issuer: Certificate) throws(ChainRefusal) {
        if !issuer.isAuthority { throw .notAnAuthority(.intermediate) }
        if !issuer.allows(.certificateSigning) { throw .wrongKeyUsage(.intermediate) }
        try requireExtensions(issuer, .intermediate, marker: rules.intermediateMarker)
        if issuer.publicKey.family == nil { throw .unsupportedKey(.intermediate) }
        try requireSignature(issuer, .intermediate)
    }

    private func requireSignature(
        _ certificate: Certificate, _ place: ChainRefusal.Place
    ) throws(ChainRefusal) {
        switch certificate.signature {
        case .modern: return
        case .sha1WithRSA where rules.allowsSHA1: return
        default: throw .unsupportedSignature(place)
        }
    }

    /// Requires the marker extension, and refuses duplicate extensions and unknown critical ones.
    private func requireExtensions(
        _ certificate: Certificate, _ place: ChainRefusal.Place, marker: String
    ) throws(ChainRefusal) {
        var seen: Set<String> = []
        for (identifier, isCritical) in certificate.extensions {
            if !seen.insert(identifier).inserted { throw .badCertificate }
            let understood = [basicConstraints, keyUsage, marker]
            if isCritical, !understood.contains(identifier) {
                throw .unknownCriticalExtension(place)
            }
        }
        if !seen.contains(marker) { throw .markerMissing(place) }
    }
}

private let basicConstraints = "2.5.29.19"
private let keyUsage = "2.5.29.15"
