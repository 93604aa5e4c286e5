/// A UUID that a client passes to the store's purchase call. The store's facts include it and thus
/// show who made the purchase.
package struct AccountToken: Hashable, Sendable, CustomStringConvertible {
    /// The UUID in lower case, regardless of its original case.
    package let text: String

    /// `nil` unless the text is a UUID.
    package init?(_ text: String) {
        var bytes = Array(text.utf8)
        guard bytes.count == 36 else { return nil }
        for place in bytes.indices {
            if AccountToken.dashes.contains(place) {
                guard bytes[place] == UInt8(ascii: "-") else { return nil }
            } else {
                guard let digit = bytes[place].lowerCaseHexDigit else { return nil }
                bytes[place] = digit
            }
        }
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    private static let dashes: Set<Int> = [8, 13, 18, 23]

    /// Creates a random UUID from 16 random bytes.
    package init(random bytes: [UInt8]) {
        precondition(bytes.count == 16, "a UUID must have 16 bytes")
        var bytes = bytes
        // Version 4 and variant 1, as RFC 9562 requires for a random UUID.
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var digits: [UInt8] = []
        for byte in bytes {
            if AccountToken.dashes.contains(digits.count) { digits.append(UInt8(ascii: "-")) }
            digits += [byte >> 4, byte & 0xF].map { Array("0123456789abcdef".utf8)[Int($0)] }
        }
        text = String(decoding: digits, as: UTF8.self)
    }

    package var description: String { text }
}

extension UInt8 {
    fileprivate var lowerCaseHexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): self
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self | 0x20
        default: nil
        }
    }
}
