internal import COpenSSL
package import Core

/// The content of a certificate to mint. A change to a single member makes it a forgery.
package struct CertificatePlan: Sendable {
    package enum Usage: String, Sendable {
        case signing = "critical,digitalSignature"
        case issuing = "critical,keyCertSign,cRLSign"
    }
    package var name: String
    package var notBefore: Instant
    package var notAfter: Instant
    /// The basic constraints in OpenSSL's notation; `nil` to omit them.
    package var constraints: String?
    package var usage: Usage?
    /// The object identifiers of the marker extensions.
    package var markers: [String]
    /// The object identifier of an unknown critical extension.
    package var criticalExtension: String?
    package var digest: MintedDigest = .sha256
    /// Whether the certificate contains identifiers for its own key and its issuer's key, which strict verifiers
    /// require.
    package var hasKeyIdentifiers = false
    /// An issuer name that differs from the name of the signing key's owner.
    package var issuerName: String?

    package static let leafMarker = "1.2.840.113635.100.6.11.1"
    package static let intermediateMarker = "1.2.840.113635.100.6.2.1"

    package static let root = CertificatePlan(
        name: "Minted Root", lifetime: "2006-04-25T21:40:36Z", "2035-02-09T21:40:36Z",
        constraints: "critical,CA:TRUE", usage: .issuing, markers: [])
    package static let intermediate = CertificatePlan(
        name: "Minted Intermediate", lifetime: "2013-02-07T21:48:47Z", "2033-02-07T21:48:47Z",
        constraints: "critical,CA:TRUE,pathlen:0", usage: .issuing, markers: [intermediateMarker])
    package static let leaf = CertificatePlan(
        name: "Minted Receipt Signing", lifetime: "2022-09-02T19:00:00Z", "2024-10-01T18:59:59Z",
        constraints: "critical,CA:FALSE", usage: .signing, markers: [leafMarker])

    package init(
        name: String, lifetime notBefore: String, _ notAfter: String, constraints: String?,
        usage: Usage?, markers: [String]
    ) {
        guard let first = Instant(text: notBefore), let last = Instant(text: notAfter) else {
            preconditionFailure("a lifetime is written in RFC 3339")
        }
        self.name = name
        self.notBefore = first
        self.notAfter = last
        self.constraints = constraints
        self.usage = usage
        self.markers = markers
    }
}

/// A certificate with its key.
package struct MintedCertificate: Sendable {
    package let der: [UInt8]
    package let key: MintedKey
    package let name: String

    /// Issues a certificate for `key`. Without an issuer, the certificate is self-signed.
    package init(_ plan: CertificatePlan, key: MintedKey, issuer: MintedCertificate? = nil) {
        guard let certificate = X509_new() else { preconditionFailure("out of memory") }
        defer { X509_free(certificate) }
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate), Int64.random(in: 1 ... .max))
        setTime(X509_getm_notBefore(certificate), plan.notBefore)
        setTime(X509_getm_notAfter(certificate), plan.notAfter)
        setName(X509_get_subject_name(certificate), plan.name)
        setName(
            X509_get_issuer_name(certificate), plan.issuerName ?? issuer?.name ?? plan.name)
        X509_set_pubkey(certificate, key.handle)
        if let constraints = plan.constraints {
            add(NID_basic_constraints, constraints, to: certificate)
        }
        if let usage = plan.usage { add(NID_key_usage, usage.rawValue, to: certificate) }
        for marker in plan.markers { add(marker, isCritical: false, to: certificate) }
        if let identifier = plan.criticalExtension {
            add(identifier, isCritical: true, to: certificate)
        }
        if plan.hasKeyIdentifiers { addKeyIdentifiers(to: certificate, issuer: issuer) }
        let signer = issuer?.key ?? key
        guard X509_sign(certificate, signer.handle, plan.digest.handle) > 0 else {
            preconditionFailure("OpenSSL did not sign the certificate")
        }
        der = encoded(certificate, i2d_X509)
        self.key = key
        name = plan.name
    }

    /// Wraps an existing certificate and its key.
    package init(der: [UInt8], key: MintedKey, name: String) {
        self.der = der
        self.key = key
        self.name = name
    }

    package var pem: String {
        var lines = ["-----BEGIN CERTIFICATE-----"]
        var rest = der.base64[...]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
    }

    /// The encoded issuer name and serial number, by which PKCS#7 refers to a certificate.
    var issuerAndSerial: [UInt8] {
        let parsed = der.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            return d2i_X509(nil, &next, buffer.count)
        }
        defer { X509_free(parsed) }
        return encoded(X509_get_issuer_name(parsed), i2d_X509_NAME)
            + encoded(X509_get0_serialNumber(parsed), i2d_ASN1_INTEGER)
    }
}

private func setTime(_ time: UnsafeMutablePointer<ASN1_TIME>?, _ instant: Instant) {
    ASN1_TIME_set(time, Int(instant.milliseconds / 1000))
}

private func setName(_ name: OpaquePointer?, _ text: String) {
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0)
    X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, "Minted", -1, -1, 0)
}

private func add(_ nid: Int32, _ value: String, to certificate: OpaquePointer) {
    let entry = X509V3_EXT_conf_nid(nil, nil, nid, value)
    defer { X509_EXTENSION_free(entry) }
    precondition(X509_add_ext(certificate, entry, -1) == 1, "OpenSSL knows no such extension")
}

private func addKeyIdentifiers(to certificate: OpaquePointer, issuer: MintedCertificate?) {
    let above = issuer?.der.withUnsafeBufferPointer { buffer in
        var next = buffer.baseAddress
        return d2i_X509(nil, &next, buffer.count)
    }
    defer { X509_free(above) }
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, above ?? certificate, certificate, nil, nil, 0)
    let wanted =
        [(NID_subject_key_identifier, "hash")]
        + (above == nil ? [] : [(NID_authority_key_identifier, "keyid:always")])
    for (nid, value) in wanted {
        let entry = X509V3_EXT_conf_nid(nil, &context, nid, value)
        defer { X509_EXTENSION_free(entry) }
        precondition(X509_add_ext(certificate, entry, -1) == 1, "OpenSSL knows no such extension")
    }
}

private func add(_ identifier: String, isCritical: Bool, to certificate: OpaquePointer) {
    let object = OBJ_txt2obj(identifier, 1)
    let value = ASN1_OCTET_STRING_new()
    let null: [UInt8] = [0x05, 0x00]
    ASN1_OCTET_STRING_set(value, null, 2)
    var entry: OpaquePointer?
    X509_EXTENSION_create_by_OBJ(&entry, object, isCritical ? 1 : 0, value)
    defer {
        ASN1_OBJECT_free(object)
        ASN1_OCTET_STRING_free(value)
        X509_EXTENSION_free(entry)
    }
    precondition(X509_add_ext(certificate, entry, -1) == 1, "OpenSSL took no such extension")
}

private func encoded<Value>(
    _ value: Value, _ encode: (Value, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
) -> [UInt8] {
    var buffer: UnsafeMutablePointer<UInt8>?
    let count = Int(encode(value, &buffer))
    defer { CRYPTO_free(buffer, #fileID, #line) }
    return Array(UnsafeBufferPointer(start: buffer, count: count))
}
