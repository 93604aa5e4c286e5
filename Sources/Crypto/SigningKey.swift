internal import COpenSSL

/// A private key on the curve P-256 in the form that App Store Connect issues.
///
/// `@unchecked Sendable`: the key does not change after `init`, and each signature uses a separate context.
package final class SigningKey: @unchecked Sendable {
    private let handle: OpaquePointer

    /// Reads an unencrypted key in PEM; `nil` for anything else.
    package init?(pem: [UInt8]) {
        guard let key = privateKey(pem, .p256) else { return nil }
        handle = key
    }

    deinit {
        EVP_PKEY_free(handle)
    }

    /// Returns an ES256 signature in the format of JSON Web Signatures: r and s, with 32 bytes each.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        let encoded = signature(of: message, by: handle, EVP_sha256(), limit: 80)
        let parsed = encoded.withUnsafeBufferPointer { buffer in
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
}

/// An RSA private key in the form that Google Cloud issues for service accounts.
///
/// `@unchecked Sendable`: the key does not change after `init`, and each signature uses a separate context.
package final class RSASigningKey: @unchecked Sendable {
    private let handle: OpaquePointer

    /// Reads an unencrypted key in PEM; `nil` for anything else, including keys of an unsuitable size.
    package init?(pem: [UInt8]) {
        guard let key = privateKey(pem, .rsa) else { return nil }
        handle = key
    }

    deinit { EVP_PKEY_free(handle) }

    /// Returns an RS256 signature in the format of JSON Web Signatures.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        signature(of: message, by: handle, EVP_sha256(), limit: 1024)
    }
}

/// Returns the signature, which has at most `limit` bytes. The digest is `nil` for keys that need none.
private func signature(
    of message: [UInt8], by key: OpaquePointer, _ digest: OpaquePointer?, limit: Int
) -> [UInt8] {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var count = limit
    var signature = [UInt8](repeating: 0, count: limit)
    guard EVP_DigestSignInit(context, nil, digest, nil, key) == 1,
        EVP_DigestSign(context, &signature, &count, message, message.count) == 1
    else { preconditionFailure("OpenSSL does not sign") }
    return Array(signature[..<count])
}

/// Returns the unencrypted private key in the text, if it belongs to this family.
private func privateKey(_ pem: [UInt8], _ family: KeyFamily) -> OpaquePointer? {
    let key = pem.withUnsafeBytes { bytes in
        let buffer = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
        defer { BIO_free(buffer) }
        // Without this callback, OpenSSL would ask for an encrypted key's password on the terminal.
        return PEM_read_bio_PrivateKey(buffer, nil, { _, _, _, _ in -1 }, nil)
    }
    guard let key else {
        ERR_clear_error()
        return nil
    }
    if KeyFamily(of: key) != family {
        EVP_PKEY_free(key)
        return nil
    }
    return key
}

/// A private key on the curve Ed25519.
///
/// `@unchecked Sendable`: the key does not change after `init`, and each signature uses a separate context.
package final class Ed25519Key: @unchecked Sendable {
    package static let seedCount = 32
    private let handle: OpaquePointer

    /// Returns `nil` unless `seed` has exactly 32 bytes.
    package init?(seed: [UInt8]) {
        guard seed.count == Ed25519Key.seedCount,
            let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
        else { return nil }
        handle = key
    }

    deinit { EVP_PKEY_free(handle) }

    /// The 32-byte public key, for verifying signatures.
    package var publicKey: [UInt8] {
        var count = 32
        var bytes = [UInt8](repeating: 0, count: count)
        if EVP_PKEY_get_raw_public_key(handle, &bytes, &count) != 1 {
            preconditionFailure("OpenSSL gives no public key")
        }
        return bytes
    }

    /// Returns the 64-byte signature.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        signature(of: message, by: handle, nil, limit: 64)
    }
}
