package import Core
internal import Crypto
internal import JSON

/// The three parts of a JSON Web Signature in compact form, none of them verified.
struct SignedJSON {
    private static let headerLimit = 64 << 10
    static let dot = UInt8(ascii: ".")

    private let bytes: [UInt8]
    private let header: Range<Int>
    private let payload: Range<Int>
    private let signature: Range<Int>

    /// Splits the bytes into the three parts. `headerCount` is the length of the header, if already known.
    init(_ bytes: [UInt8], headerCount: Int? = nil) throws(EvidenceRefusal) {
        guard let first = headerCount ?? bytes.firstIndex(of: SignedJSON.dot), first > 0,
            let second = bytes[(first + 1)...].firstIndex(of: SignedJSON.dot), second > first + 1,
            !bytes[(second + 1)...].contains(SignedJSON.dot)
        else { throw .malformedSignedJSON }
        self.bytes = bytes
        header = 0..<first
        payload = first + 1..<second
        signature = second + 1..<bytes.count
    }

    /// Returns the payload's members, proven or not.
    func members() throws(EvidenceRefusal) -> Members {
        try Members(decode(payload))
    }

    /// Returns the certificates in the header: the signer's and its issuer's. The third certificate
    /// is the sender's root, which Deed does not read. Evidence that Xcode signs locally has a
    /// single, self-signed certificate.
    func certificates() throws(EvidenceRefusal) -> [Certificate] {
        if header.count > SignedJSON.headerLimit {
            throw .tooLarge(limit: SignedJSON.headerLimit)
        }
        let members = try Members(decode(header))
        let algorithm = members.object["alg"]?.string
        if algorithm != "ES256" { throw .algorithmRefused(algorithm) }
        if members.object["crit"] != nil { throw .unknownCriticalHeader }
        let chain = members.object["x5c"]?.array ?? []
        if chain.count != 3, chain.count != 1 { throw .certificateCount(chain.count) }
        var certificates: [Certificate] = []
        for text in chain.prefix(2) {
            guard let text = text.string, let der = Base64.standard.decode(Array(text.utf8)) else {
                throw .badBase64
            }
            certificates.append(
                try chainChecked { () throws(ChainRefusal) in
                    try Certificate(der: der)
                })
        }
        if certificates.count == 1, !certificates[0].isNamedIssuer(of: certificates[0]) {
            throw .certificateCount(1)
        }
        return certificates
    }

    private func decode(_ part: Range<Int>) throws(EvidenceRefusal) -> [UInt8] {
        let decoded = ByteRange(bytes, part).read { Base64.url.decode($0) }
        guard let decoded else { throw .badBase64 }
        return decoded
    }

    fileprivate func signatureBytes() throws(EvidenceRefusal) -> [UInt8] {
        let signature = try decode(signature)
        if signature.count != 64 { throw .signatureForm }
        let isZero = { (half: ArraySlice<UInt8>) in half.allSatisfy { $0 == 0 } }
        if isZero(signature[..<32]) || isZero(signature[32...]) { throw .signatureForm }
        return signature
    }

    /// A digest that identifies a header of any length.
    fileprivate var headerDigest: [UInt8] {
        ByteRange(bytes, header).read { SHA256.digest($0).bytes }
    }

    /// Returns the header and the dot after it, which are the same in all statements by one signer.
    fileprivate func prefix() -> DigestPrefix {
        DigestPrefix(Array(bytes[...header.upperBound]))
    }

    fileprivate func digest(after prefix: DigestPrefix) -> Digest32 {
        ByteRange(bytes, payload).read { prefix.digest(continuedBy: $0) }
    }
}

/// Converts a refusal of the chain into a refusal of the evidence.
func chainChecked<Result>(
    _ body: () throws(ChainRefusal) -> Result
) throws(EvidenceRefusal) -> Result {
    do {
        return try body()
    } catch {
        throw .chain(error)
    }
}

extension Verifier {
    /// Finds the parts of a signed statement and verifies its signature. Returns the parts and the signer's chain. The
    /// caller has to check the signing time, and whether the chain was valid at that time.
    ///
    /// The header contains the certificates, so equal headers have equal chains. Only headers with a genuine signature
    /// are cached.
    func authenticate(
        _ bytes: [UInt8]
    ) throws(EvidenceRefusal) -> (signed: SignedJSON, chain: VerifiedChain) {
        if let known = signedCache.entry(where: { $0.begins(bytes.span) }) {
            let signed = try SignedJSON(bytes, headerCount: known.key.bytes.count - 1)
            try requireSignature(of: signed, signed.digest(after: known.key), under: known.chain)
            return (signed, known.chain)
        }
        let signed = try SignedJSON(bytes)
        let chain = try followed(signed)
        let prefix = signed.prefix()
        try requireSignature(of: signed, signed.digest(after: prefix), under: chain)
        signedCache.remember(chain, for: prefix)
        return (signed, chain)
    }

    /// Returns the verified chain in the header. Headers with a refused chain are remembered,
    /// because checking a chain is expensive and a forger may send the same header repeatedly.
    private func followed(_ signed: SignedJSON) throws(EvidenceRefusal) -> VerifiedChain {
        let header = signed.headerDigest
        if let refusal = refusedHeaders.refusal(of: header) { throw refusal }
        do throws(EvidenceRefusal) {
            let certificates = try signed.certificates()
            return try chainChecked { () throws(ChainRefusal) in
                try signedChains.verify(
                    leaf: certificates[0], others: Array(certificates.dropFirst()))
            }
        } catch {
            refusedHeaders.remember(error, of: header)
            throw error
        }
    }

    /// Returns what is known about a statement's signer before the statement is read.
    package func standing(ofSigner bytes: [UInt8]) -> SignerStanding {
        if signedCache.entry(where: { $0.begins(bytes.span) }) != nil { return .believed }
        guard let signed = try? SignedJSON(bytes) else { return .missing }
        guard let refusal = refusedHeaders.refusal(of: signed.headerDigest) else {
            return .unknown
        }
        return .refused(RefusedEvidence(refusal))
    }

    private func requireSignature(
        of signed: SignedJSON, _ digest: Digest32, under chain: VerifiedChain
    ) throws(EvidenceRefusal) {
        let signature = try signed.signatureBytes()
        if !chain.leaf.publicKey.verifies(digest: digest, rawSignature: signature.span) {
            throw .signatureInvalid
        }
    }

    /// Verifies a transaction, renewal info or app transaction outside a notification.
    func verifySigned(
        _ bytes: [UInt8], as kind: EvidenceKind, on terms: Terms
    ) throws(EvidenceRefusal) -> StoreStatement<Verified> {
        let (signed, chain) = try authenticate(bytes)
        let statement = try signed.statement(
            as: kind, rank: terms.rank, companion: terms.companion)
        try terms.require(statement, under: chain)
        try requireDevice(of: statement, on: terms)
        return statement.vouched(by: .chain(chain))
    }

    private func requireDevice(
        of statement: StoreStatement<Unverified>, on terms: Terms
    ) throws(EvidenceRefusal) {
        guard let device = terms.device, let object = statement.members else { return }
        let members = Members(object)
        guard let nonce = try members.text("deviceVerificationNonce"),
            let stated = try members.text("deviceVerification")
        else { return }
        guard let vendorText = device.vendorText,
            let expected = Base64.standard.decode(Array(stated.utf8)),
            DigestAlgorithm.sha384.digest(Array((nonce.lowercased() + vendorText).utf8)) == expected
        else { throw .deviceMismatch }
    }
}

extension Instant {
    /// Whole seconds since 1970, rounded down.
    var second: Int64 {
        let quotient = milliseconds / 1000
        return milliseconds % 1000 < 0 ? quotient - 1 : quotient
    }
}
