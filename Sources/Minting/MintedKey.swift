internal import COpenSSL

/// A key pair that belongs to no real store. It was generated for this run, or belongs to a practice store.
///
/// `@unchecked Sendable`: the key does not change after `init`.
package final class MintedKey: @unchecked Sendable {
    package enum Family: Sendable {
        case p256
        case p384
        case rsa2048
    }
    let handle: OpaquePointer

    package init(_ family: Family) {
        let type = family == .rsa2048 ? EVP_PKEY_RSA : EVP_PKEY_EC
        let context = EVP_PKEY_CTX_new_id(type, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made = EVP_PKEY_keygen_init(context)
        switch family {
        case .p256: made &= EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
        case .p384: made &= EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_secp384r1)
        case .rsa2048: made &= EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048)
        }
        var key: OpaquePointer?
        made &= EVP_PKEY_keygen(context, &key)
        guard made == 1, let key else { preconditionFailure("OpenSSL made no key") }
        handle = key
    }

    /// Reads a key in the format of `pem`; `nil` for anything else.
    package init?(pem: String) {
        // OpenSSL does not copy the PEM text here, but reads it later.
        let key = Array(pem.utf8).withUnsafeBytes { bytes in
            let buffer = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
            defer { BIO_free(buffer) }
            return PEM_read_bio_PrivateKey(buffer, nil, nil, nil)
        }
        guard let key else { return nil }
        handle = key
    }

    deinit {
        EVP_PKEY_free(handle)
    }

    /// The private key in PKCS#8, the format in which App Store Connect issues keys.
    package var pem: String {
        let buffer = BIO_new(BIO_s_mem())
        defer { BIO_free(buffer) }
        guard PEM_write_bio_PKCS8PrivateKey(buffer, handle, nil, nil, 0, nil, nil) == 1 else {
            preconditionFailure("OpenSSL did not write the key")
        }
        var text = [UInt8](repeating: 0, count: BIO_ctrl_pending(buffer))
        BIO_read(buffer, &text, Int32(text.count))
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns a signature over `bytes` in OpenSSL's format: PKCS#1 for RSA, DER for elliptic curves.
    package func sign(_ bytes: [UInt8], _ digest: MintedDigest) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var count = 1024
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSignInit(context, nil, digest.handle, nil, handle) == 1,
            EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
        else { preconditionFailure("OpenSSL did not sign") }
        return Array(signature[..<count])
    }

    /// Returns an ES256 signature in the format of JWS: r and s, with 32 bytes each.
    package func signRaw(_ bytes: [UInt8]) -> [UInt8] {
        let der = sign(bytes, .sha256)
        let parsed = der.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &next, buffer.count)
        }
        defer { ECDSA_SIG_free(parsed) }
        var raw = [UInt8](repeating: 0, count: 64)
        raw.withUnsafeMutableBufferPointer { buffer in
            BN_bn2binpad(ECDSA_SIG_get0_r(parsed), buffer.baseAddress, 32)
            BN_bn2binpad(ECDSA_SIG_get0_s(parsed), buffer.baseAddress.map { $0 + 32 }, 32)
        }
        return raw
    }

    /// Returns whether `signature` is an ES256 signature by this key, in the format of JWS.
    package func verifies(raw signature: [UInt8], over bytes: [UInt8]) -> Bool {
        guard signature.count == 64, let parsed = ECDSA_SIG_new() else { return false }
        defer { ECDSA_SIG_free(parsed) }
        let isSet = signature.withUnsafeBufferPointer { buffer in
            ECDSA_SIG_set0(
                parsed, BN_bin2bn(buffer.baseAddress, 32, nil),
                BN_bin2bn(buffer.baseAddress.map { $0 + 32 }, 32, nil))
        }
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(parsed, &der)
        guard isSet == 1, count > 0 else { return false }
        defer { CRYPTO_free(der, #fileID, #line) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        let isGenuine =
            EVP_DigestVerifyInit(context, nil, MintedDigest.sha256.handle, nil, handle) == 1
            && EVP_DigestVerify(context, der, Int(count), bytes, bytes.count) == 1
        if !isGenuine { ERR_clear_error() }
        return isGenuine
    }
}

package enum MintedDigest: Sendable {
    case sha1
    case sha256
    case sha384

    var handle: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        }
    }

    package func of(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &digest, &count, handle, nil) == 1 else {
            preconditionFailure("OpenSSL made no digest")
        }
        return Array(digest[..<Int(count)])
    }
}
