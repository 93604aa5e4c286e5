internal import COpenSSL

/// A parsed certificate, which is not necessarily trusted.
///
/// `@unchecked Sendable`: OpenSSL fills its cache for the certificate once, in `init`, and only reads from it
/// afterwards.
package final class Certificate: @unchecked Sendable {
    /// The SHA-256 of the certificate's bytes, by which people compare certificates.
    package let fingerprint: Digest32
    /// The first and the last second at which the certificate is valid, counted from 1970.
    package let notBefore: Int64
    package let notAfter: Int64
    package let publicKey: PublicKey
    private let handle: OpaquePointer
    private let flags: UInt32

    /// Larger certificates take longer to parse. Genuine ones are one to two kilobytes long.
    private static let byteLimit = 16 << 10

    /// Parses a certificate. It must take up all of `der`.
    package init(der: Span<UInt8>) throws(ChainRefusal) {
        if der.count > Certificate.byteLimit { throw .badCertificate }
        let parsed = der.withUnsafeBytes { bytes -> OpaquePointer? in
            var next = bytes.bindMemory(to: UInt8.self).baseAddress
            let end = next.map { $0 + bytes.count }
            guard let parsed = d2i_X509(nil, &next, bytes.count) else { return nil }
            if next == end { return parsed }
            X509_free(parsed)
            return nil
        }
        defer { ERR_clear_error() }
        guard let parsed else { throw .badCertificate }
        flags = X509_get_extension_flags(parsed)
        guard flags & UInt32(EXFLAG_INVALID) == 0, let key = X509_get_pubkey(parsed),
            let notBefore = secondsSince1970(X509_get0_notBefore(parsed)),
            let notAfter = secondsSince1970(X509_get0_notAfter(parsed))
        else {
            X509_free(parsed)
            throw .badCertificate
        }
        handle = parsed
        publicKey = PublicKey(owning: key)
        self.notBefore = notBefore
        self.notAfter = notAfter
        fingerprint = SHA256.digest(der)
    }

    package convenience init(der: [UInt8]) throws(ChainRefusal) {
        try self.init(der: der.span)
    }

    deinit {
        X509_free(handle)
    }

    /// Returns the certificates in a PEM text, in order, or a single certificate in DER.
    package static func read(_ bytes: [UInt8]) throws(ChainRefusal) -> [Certificate] {
        guard bytes.first != 0x30 else { return [try Certificate(der: bytes)] }
        var certificates: [Certificate] = []
        for der in certificatesInPEM(bytes) { certificates.append(try Certificate(der: der)) }
        if certificates.isEmpty { throw .badCertificate }
        return certificates
    }

    /// The subject's common name, or its organisation if it has no common name, for people to read.
    package var name: String {
        let subject = X509_get_subject_name(handle)
        for entry in [NID_commonName, NID_organizationName] {
            let index = X509_NAME_get_index_by_NID(subject, entry, -1)
            if let text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)) {
                let bytes = UnsafeBufferPointer(
                    start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
                return String(decoding: bytes, as: UTF8.self)
            }
        }
        return "certificate \(fingerprint.hex.prefix(16))"
    }

    /// Whether the certificate's basic constraints make it an authority.
    var isAuthority: Bool {
        let needed = UInt32(EXFLAG_BCONS) | UInt32(EXFLAG_CA)
        return flags & needed == needed
    }

    /// The maximum number of authorities between this certificate and a leaf; `nil` if unlimited.
    var pathLength: Int? {
        let length = X509_get_pathlen(handle)
        return length < 0 ? nil : Int(length)
    }

    /// Returns whether the certificate's key usage allows `usage`. A certificate that states no key usage allows
    /// everything.
    func allows(_ usage: KeyUsage) -> Bool {
        X509_get_key_usage(handle) & usage.bit != 0
    }

    /// Returns whether the other certificate names this one as its issuer.
    package func isNamedIssuer(of other: Certificate) -> Bool {
        X509_NAME_cmp(
            X509_get_subject_name(handle), X509_get_issuer_name(other.handle)) == 0
    }

    func hasSigned(_ other: Certificate) -> Bool {
        defer { ERR_clear_error() }
        return publicKey.withHandle { X509_verify(other.handle, $0) } == 1
    }

    /// Returns whether these bytes are exactly the certificate's issuer name and serial number.
    package func isIssued(under issuer: Span<UInt8>, serial: Span<UInt8>) -> Bool {
        encoded(X509_get_issuer_name(handle), i2d_X509_NAME) == Array(copying: issuer)
            && encoded(X509_get0_serialNumber(handle), i2d_ASN1_INTEGER) == Array(copying: serial)
    }

    /// The digest and the key type of the certificate's signature, if Deed accepts their combination.
    var signature: CertificateSignature? {
        CertificateSignature(nid: X509_get_signature_nid(handle))
    }

    /// The object identifiers of all extensions, and whether each is critical.
    var extensions: [(identifier: String, isCritical: Bool)] {
        (0..<X509_get_ext_count(handle)).map { index in
            let entry = X509_get_ext(handle, index)
            return (
                objectIdentifier(X509_EXTENSION_get_object(entry)),
                X509_EXTENSION_get_critical(entry) == 1
            )
        }
    }
}

enum KeyUsage {
    case digitalSignature
    case certificateSigning

    var bit: UInt32 {
        switch self {
        case .digitalSignature: UInt32(KU_DIGITAL_SIGNATURE)
        case .certificateSigning: UInt32(KU_KEY_CERT_SIGN)
        }
    }
}

enum CertificateSignature {
    case sha1WithRSA
    case modern

    init?(nid: Int32) {
        switch nid {
        case NID_sha1WithRSAEncryption: self = .sha1WithRSA
        case NID_sha256WithRSAEncryption, NID_sha384WithRSAEncryption, NID_ecdsa_with_SHA256,
            NID_ecdsa_with_SHA384:
            self = .modern
        default: return nil
        }
    }
}

private func secondsSince1970(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    var parts = tm()
    guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return Int64(timegm(&parts))
}

private func objectIdentifier(_ object: OpaquePointer?) -> String {
    // Longer identifiers are truncated, but Deed only looks for shorter ones.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 80) { buffer in
        guard let start = buffer.baseAddress,
            OBJ_obj2txt(start, Int32(buffer.count), object, 1) > 0
        else { return "" }
        return String(cString: start)
    }
}

private func encoded<Value>(
    _ value: Value, _ encode: (Value, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
) -> [UInt8] {
    var buffer: UnsafeMutablePointer<UInt8>?
    let count = encode(value, &buffer)
    guard count > 0, let buffer else { return [] }
    defer { CRYPTO_free(buffer, #fileID, #line) }
    return Array(UnsafeBufferPointer(start: buffer, count: Int(count)))
}

/// Returns the DER bytes of each certificate block in a PEM text.
private func certificatesInPEM(_ text: [UInt8]) -> [[UInt8]] {
    guard let source = BIO_new_mem_buf(text, Int32(clamping: text.count)) else { return [] }
    defer {
        BIO_free(source)
        ERR_clear_error()
    }
    var found: [[UInt8]] = []
    while true {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(source, &name, &header, &data, &count) == 1 else { return found }
        if let name, String(cString: name) == "CERTIFICATE" {
            found.append(Array(UnsafeBufferPointer(start: data, count: count)))
        }
        for block in [UnsafeMutableRawPointer(name), .init(header), .init(data)] {
            CRYPTO_free(block, #fileID, #line)
        }
    }
}

extension [UInt8] {
    package init(copying bytes: Span<UInt8>) {
        self = bytes.withUnsafeBytes { [UInt8]($0) }
    }
}
