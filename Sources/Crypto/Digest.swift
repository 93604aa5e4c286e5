internal import COpenSSL
internal import Glibc

/// A 32-byte digest. Comparing two digests takes the same time whatever they contain.
package struct Digest32: Sendable, CustomStringConvertible {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Returns `nil` unless `bytes` has exactly 32 bytes.
    package init?(bytes: some Sequence<UInt8>) {
        var words: [UInt64] = [0, 0, 0, 0]
        var count = 0
        for byte in bytes {
            if count == 32 { return nil }
            words[count / 8] = words[count / 8] << 8 | UInt64(byte)
            count += 1
        }
        if count != 32 { return nil }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// Parses 64 hexadecimal digits; `nil` for any other text.
    package init?(hex: String) {
        guard let bytes = [UInt8](hex: hex) else { return nil }
        self.init(bytes: bytes)
    }

    fileprivate init(_ buffer: UnsafeRawBufferPointer) {
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: buffer.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        words = (word(0), word(1), word(2), word(3))
    }

    package var bytes: [UInt8] {
        let ordered = (
            words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian
        )
        return withUnsafeBytes(of: ordered) { Array($0) }
    }

    /// The digest as 64 hexadecimal digits in lower case.
    package var hex: String { bytes.hex }

    package var description: String { hex }
}

extension Digest32: Hashable {
    package static func == (one: Self, other: Self) -> Bool {
        let difference =
            (one.words.0 ^ other.words.0) | (one.words.1 ^ other.words.1)
            | (one.words.2 ^ other.words.2) | (one.words.3 ^ other.words.3)
        return difference == 0
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

/// Computes the SHA-256 of bytes that arrive in pieces.
package struct SHA256: ~Copyable {
    private let state: DigestState

    package init() {
        state = DigestState(.sha256)
    }

    package mutating func update(_ bytes: Span<UInt8>) {
        state.update(bytes)
    }

    package mutating func update(_ bytes: [UInt8]) {
        state.update(bytes.span)
    }

    package mutating func update(_ text: String) {
        state.update(Array(text.utf8).span)
    }

    /// Returns the digest of everything that has been added.
    package consuming func finish() -> Digest32 {
        state.finish { Digest32($0) }
    }

    package static func digest(_ bytes: Span<UInt8>) -> Digest32 {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    package static func digest(_ bytes: [UInt8]) -> Digest32 { digest(bytes.span) }
}

/// A prefix that many messages share. It is hashed only once.
///
/// `@unchecked Sendable`: the state is set in `init`, and only copied afterwards.
package final class DigestPrefix: @unchecked Sendable {
    package let bytes: [UInt8]
    private let state = DigestState(.sha256)

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        state.update(bytes.span)
    }

    package func begins(_ text: Span<UInt8>) -> Bool { text.begins(with: bytes) }

    /// Returns the digest of the prefix followed by `rest`.
    package func digest(continuedBy rest: Span<UInt8>) -> Digest32 {
        let whole = state.copy()
        whole.update(rest)
        return whole.finish { Digest32($0) }
    }
}

extension DigestPrefix: Equatable {
    package static func == (one: DigestPrefix, other: DigestPrefix) -> Bool {
        one.bytes == other.bytes
    }
}

/// The digest algorithms used in the stores' formats.
package enum DigestAlgorithm: Sendable {
    case sha1
    case sha256
    case sha384

    package func digest(_ bytes: Span<UInt8>) -> [UInt8] {
        let state = DigestState(self)
        state.update(bytes)
        return state.finish { Array($0) }
    }

    package func digest(_ bytes: [UInt8]) -> [UInt8] { digest(bytes.span) }

    /// OpenSSL's implementation, looked up only once, because a lookup takes as long as a short digest.
    var implementation: OpaquePointer {
        switch self {
        case .sha1: implementations.sha1
        case .sha256: implementations.sha256
        case .sha384: implementations.sha384
        }
    }
}

/// `@unchecked Sendable`: the pointers are set once, and the objects that they point to never change.
private struct Implementations: @unchecked Sendable {
    let sha1 = Implementations.fetch("SHA1")
    let sha256 = Implementations.fetch("SHA256")
    let sha384 = Implementations.fetch("SHA384")

    static func fetch(_ name: String) -> OpaquePointer {
        guard let found = EVP_MD_fetch(nil, name, nil) else {
            preconditionFailure("OpenSSL offers no \(name); check its configuration file")
        }
        return found
    }
}

private let implementations = Implementations()

/// The state of an OpenSSL digest. It is not private, because release builds refer to it from other
/// modules and would otherwise fail to link.
struct DigestState: ~Copyable {
    private let context: OpaquePointer

    init(_ algorithm: DigestAlgorithm) {
        guard let context = EVP_MD_CTX_new(),
            EVP_DigestInit_ex2(context, algorithm.implementation, nil) == 1
        else { preconditionFailure("OpenSSL could not start a digest: out of memory") }
        self.context = context
    }

    private init(copyOf other: OpaquePointer) {
        guard let context = EVP_MD_CTX_new(), EVP_MD_CTX_copy_ex(context, other) == 1 else {
            preconditionFailure("OpenSSL could not copy a digest: out of memory")
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    borrowing func copy() -> DigestState { DigestState(copyOf: context) }

    borrowing func update(_ bytes: Span<UInt8>) {
        let result = bytes.withUnsafeBytes {
            EVP_DigestUpdate(context, $0.baseAddress, $0.count)
        }
        precondition(result == 1, "OpenSSL could not continue a digest")
    }

    consuming func finish<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeTemporaryAllocation(byteCount: Int(EVP_MAX_MD_SIZE), alignment: 8) { buffer in
            var count: UInt32 = 0
            let result = EVP_DigestFinal_ex(
                context, buffer.bindMemory(to: UInt8.self).baseAddress, &count)
            precondition(result == 1, "OpenSSL could not finish a digest")
            return body(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
        }
    }
}

/// Returns whether two secrets are equal. The time for the comparison depends only on their lengths.
package func isEqualInConstantTime(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    if one.count != other.count { return false }
    var difference: UInt8 = 0
    for index in one.indices { difference |= one[index] ^ other[index] }
    return difference == 0
}

extension Span<UInt8> {
    /// Returns whether the array starts with these bytes. Not for secrets.
    package func begins(with prefix: [UInt8]) -> Bool {
        if count < prefix.count { return false }
        return prefix.withUnsafeBytes { prefix in
            withUnsafeBytes { bytes in
                guard let start = prefix.baseAddress, let other = bytes.baseAddress else {
                    return true
                }
                return memcmp(start, other, prefix.count) == 0
            }
        }
    }
}
