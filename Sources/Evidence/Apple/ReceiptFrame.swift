internal import Crypto

/// The outer frame of a receipt: the signed content, the signature, and the attached certificates.
/// Verifies nothing, and does not parse the certificates.
struct ReceiptFrame {
    static let certificateLimit = 8

    let content: ByteRange
    let signer: Signer
    /// The positions of the certificates in the binary receipt.
    let certificates: [ByteRange]
    private let certificateBytes: ByteRange?

    struct Signer {
        let issuer: ByteRange
        let serial: ByteRange
        let digest: DigestAlgorithm
        /// The attributes, without their header, that are signed instead of the content.
        let attributes: ByteRange?
        let signature: ByteRange
    }

    /// Accepts a receipt in base64 or in binary form.
    init(_ bytes: [UInt8]) throws(EvidenceRefusal) {
        let binary = try ReceiptFrame.binary(of: bytes)
        do {
            try self.init(reading: binary)
        } catch let refusal as EvidenceRefusal {
            throw refusal
        } catch {
            throw .badASN1
        }
    }

    /// Returns the receipt in binary form, given in base64 or in binary form.
    static func binary(of bytes: [UInt8]) throws(EvidenceRefusal) -> [UInt8] {
        if bytes.first == BERTag.sequence { return bytes }
        if isTransactionReceipt(bytes) { throw .transactionReceipt }
        guard let binary = Base64.standard.decode(bytes) else { throw .badBase64 }
        if isTransactionReceipt(binary) { throw .transactionReceipt }
        // The next reader must not mistake the result for base64.
        guard binary.first == BERTag.sequence else { throw .badASN1 }
        return binary
    }

    /// Returns whether the bytes are a property list as issued by iOS 6 for a single purchase.
    static func isTransactionReceipt(_ bytes: [UInt8]) -> Bool {
        guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else { return false }
        return String(decoding: bytes.prefix(1 << 16), as: UTF8.self).contains("\"purchase-info\"")
    }

    /// - Throws: `BERFault` or `EvidenceRefusal`.
    private init(reading binary: [UInt8]) throws {
        var outer = BERReader(ByteRange(binary))
        var info = outer.inside(try outer.next(BERTag.sequence))
        if !outer.isAtEnd { throw EvidenceRefusal.trailingBytes }
        try ReceiptFrame.require(OID.signedData, &info, binary)
        var wrapper = info.inside(try info.next(BERTag.context(0)))
        try info.requireEnd()
        var data = wrapper.inside(try wrapper.next(BERTag.sequence))
        try wrapper.requireEnd()

        _ = try data.integer()
        _ = try data.next(BERTag.set)
        content = try ReceiptFrame.content(data.inside(data.next(BERTag.sequence)), binary)
        let attached = try data.nextIf(BERTag.context(0))
        certificateBytes = attached.map { ByteRange(binary, $0.content) }
        certificates = try ReceiptFrame.certificates(attached.map(data.inside), binary)
        // Revocation lists are allowed but not used.
        _ = try data.nextIf(BERTag.context(1))
        signer = try ReceiptFrame.onlySigner(data.inside(data.next(BERTag.set)), binary)
        try data.requireEnd()
    }

    private static func require(
        _ identifier: [UInt8], _ reader: inout BERReader, _ binary: [UInt8]
    ) throws {
        let found = try reader.next(BERTag.objectIdentifier)
        if !binary[found.content].elementsEqual(identifier) {
            throw EvidenceRefusal.wrongContentType
        }
    }

    private static func content(_ reader: BERReader, _ binary: [UInt8]) throws -> ByteRange {
        var reader = reader
        try require(OID.data, &reader, binary)
        guard let wrapped = try reader.nextIf(BERTag.context(0)) else {
            throw EvidenceRefusal.contentMissing
        }
        try reader.requireEnd()
        var wrapper = reader.inside(wrapped)
        let content = try wrapper.string(BERTag.octets)
        try wrapper.requireEnd()
        return content
    }

    private static func certificates(
        _ reader: BERReader?, _ binary: [UInt8]
    ) throws -> [ByteRange] {
        guard var reader else { return [] }
        var certificates: [ByteRange] = []
        while !reader.isAtEnd {
            if certificates.count == certificateLimit {
                throw EvidenceRefusal.chain(.tooManyCertificates(limit: certificateLimit))
            }
            certificates.append(ByteRange(binary, try reader.next(BERTag.sequence).whole))
        }
        return certificates
    }

    private static func onlySigner(_ reader: BERReader, _ binary: [UInt8]) throws -> Signer {
        var signers = reader
        if signers.isAtEnd { throw EvidenceRefusal.noSigner }
        var info = signers.inside(try signers.next(BERTag.sequence))
        if !signers.isAtEnd { throw EvidenceRefusal.severalSigners }
        _ = try info.integer()
        var name = info.inside(try info.next(BERTag.sequence))
        let issuer = try name.next(BERTag.sequence).whole
        let serial = try name.next(BERTag.integer).whole
        try name.requireEnd()
        let digest = try algorithm(&info, binary, OID.digests)
        let attributes = try info.nextIf(BERTag.context(0))
        // The digest of the attributes covers their DER form, in which every length is stated.
        if attributes?.hasLength == false { throw BERFault.malformed }
        let signature = try algorithm(&info, binary, OID.signatures)
        let usesPlainName = signature == nil
        guard let digest = digest ?? nil, usesPlainName || signature == digest else {
            throw EvidenceRefusal.algorithmRefused("in the receipt")
        }
        let value = try info.string(BERTag.octets)
        // Unsigned attributes are not read, because they prove nothing.
        _ = try info.nextIf(BERTag.context(1))
        try info.requireEnd()
        return Signer(
            issuer: ByteRange(binary, issuer), serial: ByteRange(binary, serial), digest: digest,
            attributes: attributes.map { ByteRange(binary, $0.content) }, signature: value)
    }

    /// Returns the digest that is part of an algorithm, or `nil` if the algorithm has none, like plain RSA.
    private static func algorithm(
        _ reader: inout BERReader, _ binary: [UInt8],
        _ known: [([UInt8], DigestAlgorithm?)]
    ) throws -> DigestAlgorithm? {
        var inside = reader.inside(try reader.next(BERTag.sequence))
        let name = binary[try inside.next(BERTag.objectIdentifier).content]
        guard let found = known.first(where: { name.elementsEqual($0.0) }) else {
            throw EvidenceRefusal.algorithmRefused("in the receipt")
        }
        return found.1
    }
}

/// Object identifiers in their encoded form.
private enum OID {
    static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
    static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]
    static let digests: [([UInt8], DigestAlgorithm?)] = [
        ([0x2B, 0x0E, 0x03, 0x02, 0x1A], .sha1),
        ([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01], .sha256),
    ]
    /// Plain RSA, and RSA combined with each of the digests.
    static let signatures: [([UInt8], DigestAlgorithm?)] = [
        ([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01], nil),
        ([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05], .sha1),
        ([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B], .sha256),
    ]
}

extension ReceiptFrame {
    /// Returns a digest of everything that determines the signer's certificate chain.
    func chainKey() -> Digest32 {
        var hash = SHA256()
        signer.issuer.read { hash.update($0) }
        signer.serial.read { hash.update($0) }
        certificateBytes?.read { hash.update($0) }
        return hash.finish()
    }

    /// Parses the certificates. Returns the signer's certificate and the others.
    func readCertificates() throws(EvidenceRefusal) -> (Certificate, [Certificate]) {
        var others: [Certificate] = []
        var leaf: Certificate?
        for range in certificates {
            let certificate = try chainChecked { () throws(ChainRefusal) in
                try range.read { (bytes) throws(ChainRefusal) in try Certificate(der: bytes) }
            }
            let isSigner = signer.issuer.read { issuer in
                signer.serial.read { certificate.isIssued(under: issuer, serial: $0) }
            }
            if isSigner, leaf == nil {
                leaf = certificate
            } else {
                others.append(certificate)
            }
        }
        guard let leaf else { throw .signerCertificateMissing }
        return (leaf, others)
    }

    /// Returns the digest that the signer must have signed: either that of the content, or that of
    /// the attributes, which contain the content's digest.
    fileprivate func signedDigest() throws(EvidenceRefusal) -> [UInt8] {
        let digest = content.read { signer.digest.digest($0) }
        guard let attributes = signer.attributes else { return digest }
        do {
            try requireAttributes(attributes, digest)
        } catch let refusal as EvidenceRefusal {
            throw refusal
        } catch {
            throw .badASN1
        }
        return signer.digest.digest(DER.set(attributes.array))
    }

    private func requireAttributes(_ attributes: ByteRange, _ digest: [UInt8]) throws {
        var reader = BERReader(attributes)
        var seen: [ArraySlice<UInt8>] = []
        while !reader.isAtEnd {
            var attribute = reader.inside(try reader.next(BERTag.sequence))
            let name = attributes.bytes[try attribute.next(BERTag.objectIdentifier).content]
            if seen.contains(name) { throw BERFault.malformed }
            seen.append(name)
            if seen.count > 16 { throw BERFault.malformed }
            var values = attribute.inside(try attribute.next(BERTag.set))
            if name.elementsEqual(OID.contentType) {
                let type = try values.next(BERTag.objectIdentifier).content
                try values.requireEnd()
                if !attributes.bytes[type].elementsEqual(OID.data) {
                    throw EvidenceRefusal.wrongContentType
                }
            } else if name.elementsEqual(OID.messageDigest) {
                let stated = try values.string(BERTag.octets)
                try values.requireEnd()
                if stated.array != digest { throw EvidenceRefusal.signatureInvalid }
            }
        }
        let hasBoth = [OID.contentType, OID.messageDigest].allSatisfy { needed in
            seen.contains { $0.elementsEqual(needed) }
        }
        if !hasBoth { throw EvidenceRefusal.signatureInvalid }
    }
}

/// Writes the header with which the signed attributes are hashed.
private enum DER {
    static func set(_ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        if content.count < 0x80 { return [BERTag.set, UInt8(content.count)] + content }
        return [BERTag.set, 0x80 | UInt8(length.count)] + length + content
    }
}

extension Verifier {
    /// Checks that the signature covers the receipt's whole content, and returns the signer's chain.
    func authenticate(_ frame: ReceiptFrame) throws(EvidenceRefusal) -> VerifiedChain {
        let key = frame.chainKey()
        if let known = receiptCache.entry(where: { $0 == key }) {
            try requireSignature(of: frame, under: known.chain)
            return known.chain
        }
        let (leaf, others) = try frame.readCertificates()
        let chain = try chainChecked { () throws(ChainRefusal) in
            try receiptChains.verify(leaf: leaf, others: others)
        }
        try requireSignature(of: frame, under: chain)
        receiptCache.remember(chain, for: key)
        return chain
    }

    private func requireSignature(
        of frame: ReceiptFrame, under chain: VerifiedChain
    ) throws(EvidenceRefusal) {
        let digest = try frame.signedDigest()
        let isGenuine = frame.signer.signature.read { signature in
            chain.leaf.publicKey.verifies(
                digest: digest.span, by: frame.signer.digest, signature: signature)
        }
        if !isGenuine { throw .signatureInvalid }
    }
}
