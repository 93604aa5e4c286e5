internal import COpenSSL

/// An installation's key, from which the keys for all purposes are derived. It is stored only in files on the machine.
package struct SecretKey: Sendable {
    package static let byteCount = 32

    private let bytes: [UInt8]

    /// Returns `nil` unless `bytes` has exactly 32 bytes.
    package init?(_ bytes: [UInt8]) {
        if bytes.count != SecretKey.byteCount { return nil }
        self.bytes = bytes
    }

    func withBytes<Result>(_ body: ([UInt8]) -> Result) -> Result { body(bytes) }

    /// Returns the key for one purpose, derived with HKDF-Expand as in RFC 5869. The extract step
    /// is not needed, because the installation's key is already random.
    package func derived(for purpose: String) -> SecretKey {
        guard let key = SecretKey(authenticate(Array(purpose.utf8) + [1]).bytes) else {
            preconditionFailure("SHA-256 gives as many bytes as a key has")
        }
        return key
    }

    /// Returns the HMAC-SHA256 of the message.
    package func authenticate(_ message: [UInt8]) -> Digest32 {
        var code = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let done = HMAC(
            EVP_sha256(), bytes, Int32(bytes.count), message, message.count, &code, &count)
        guard done != nil, let digest = Digest32(bytes: code) else {
            preconditionFailure("OpenSSL computes no HMAC")
        }
        return digest
    }
}

/// The reason why the installation's key cannot be used, for operators.
package struct KeyTrouble: Error, Hashable, Sendable {
    package let sentence: String

    package init(sentence: String) {
        self.sentence = sentence
    }
}
