internal import COpenSSL
internal import Threading

/// The families of keys with which stores sign.
package enum KeyFamily: Sendable {
    case p256
    case p384
    case rsa
}

/// A public key that can verify signatures on any number of threads.
///
/// `@unchecked Sendable`: the key does not change after `init`, and OpenSSL counts references to it atomically.
/// Contexts do change, so each is used by only one thread at a time.
package final class PublicKey: @unchecked Sendable {
    /// `nil` if keys of this type or size are not allowed for evidence.
    package let family: KeyFamily?
    private let handle: OpaquePointer
    /// Idle contexts. They are reused, because preparing one takes OpenSSL more than a tenth of the time for a
    /// verification.
    private let idle = Monitor<[SignatureScheme: [SignatureContext]]>([:])

    init(owning handle: OpaquePointer) {
        self.handle = handle
        family = KeyFamily(of: handle)
    }

    deinit {
        EVP_PKEY_free(handle)
    }

    func withHandle<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(handle) }

    /// Verifies an ECDSA signature that consists of r and s, with 32 bytes each.
    package func verifies(digest: Digest32, rawSignature: Span<UInt8>) -> Bool {
        guard family == .p256, let signature = EllipticSignature(raw: rawSignature) else {
            return false
        }
        return signature.withEncoded { verifies(digest.bytes.span, .ecdsa, $0) }
    }

    /// Verifies an RSA signature with PKCS#1 v1.5 padding over a digest computed with this algorithm.
    package func verifies(
        digest: Span<UInt8>, by algorithm: DigestAlgorithm, signature: Span<UInt8>
    ) -> Bool {
        if family != .rsa { return false }
        return signature.withUnsafeBytes { verifies(digest, .rsa(algorithm), $0) }
    }

    private func verifies(
        _ digest: Span<UInt8>, _ scheme: SignatureScheme, _ signature: UnsafeRawBufferPointer
    ) -> Bool {
        let kept = idle.change(wake: .none) { $0[scheme]?.popLast() }
        guard let context = kept ?? SignatureContext(handle, scheme) else { return false }
        let isGenuine = context.verifies(digest, signature)
        idle.change(wake: .none) { $0[scheme, default: []].append(context) }
        return isGenuine
    }
}

extension KeyFamily {
    init?(of key: OpaquePointer) {
        if EVP_PKEY_is_a(key, "RSA") == 1 {
            guard (2048...4096).contains(EVP_PKEY_get_bits(key)) else { return nil }
            self = .rsa
            return
        }
        var name = [CChar](repeating: 0, count: 32)
        var length = 0
        guard EVP_PKEY_is_a(key, "EC") == 1,
            EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
        else { return nil }
        switch String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) {
        case "prime256v1": self = .p256
        case "secp384r1": self = .p384
        default: return nil
        }
    }
}

private enum SignatureScheme: Hashable {
    case ecdsa
    case rsa(DigestAlgorithm)
}

/// OpenSSL's state for a verification. Only the thread that took it from a key's list of idle contexts may use it.
private final class SignatureContext {
    private let handle: OpaquePointer

    init?(_ key: OpaquePointer, _ scheme: SignatureScheme) {
        guard let handle = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return nil }
        self.handle = handle
        guard EVP_PKEY_verify_init(handle) == 1 else { return nil }
        if case .rsa(let algorithm) = scheme {
            guard EVP_PKEY_CTX_set_rsa_padding(handle, RSA_PKCS1_PADDING) == 1,
                EVP_PKEY_CTX_set_signature_md(handle, algorithm.implementation) == 1
            else { return nil }
        }
    }

    deinit {
        EVP_PKEY_CTX_free(handle)
    }

    func verifies(_ digest: Span<UInt8>, _ signature: UnsafeRawBufferPointer) -> Bool {
        let result = digest.withUnsafeBytes { digest in
            EVP_PKEY_verify(
                handle, signature.bindMemory(to: UInt8.self).baseAddress, signature.count,
                digest.bindMemory(to: UInt8.self).baseAddress, digest.count)
        }
        if result != 1 { ERR_clear_error() }
        return result == 1
    }
}

/// The two numbers in an ECDSA signature.
private struct EllipticSignature: ~Copyable {
    private let handle: OpaquePointer

    /// Returns `nil` unless `raw` has exactly 64 bytes and neither half is zero.
    init?(raw: Span<UInt8>) {
        guard raw.count == 64, let handle = ECDSA_SIG_new() else { return nil }
        let isSet = raw.withUnsafeBytes { bytes in
            let start = bytes.bindMemory(to: UInt8.self).baseAddress
            let r = BN_bin2bn(start, 32, nil)
            let s = BN_bin2bn(start.map { $0 + 32 }, 32, nil)
            if BN_is_zero(r) == 0, BN_is_zero(s) == 0, ECDSA_SIG_set0(handle, r, s) == 1 {
                return true
            }
            BN_free(r)
            BN_free(s)
            return false
        }
        guard isSet else {
            ECDSA_SIG_free(handle)
            return nil
        }
        self.handle = handle
    }

    deinit {
        ECDSA_SIG_free(handle)
    }

    func withEncoded<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // Room for two integers of 33 bytes and three headers.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 80) { buffer in
            var next = buffer.baseAddress
            let count = i2d_ECDSA_SIG(handle, &next)
            return body(
                UnsafeRawBufferPointer(start: buffer.baseAddress, count: Int(max(0, count))))
        }
    }
}
