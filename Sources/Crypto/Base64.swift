/// One of the two alphabets of base64. Decoding is strict: it accepts a string only if encoding the
/// result gives the same string.
package struct Base64: Sendable {
    /// The alphabet that contains `+` and `/`, with padding.
    package static let standard = Base64(last: "+/", isPadded: true)
    /// The alphabet that contains `-` and `_`, without padding.
    package static let url = Base64(last: "-_", isPadded: false)

    private static let invalid: UInt8 = 0xFF
    private let alphabet: [UInt8]
    private let values: [UInt8]
    private let isPadded: Bool

    private init(last: String, isPadded: Bool) {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        alphabet = Array((letters + last).utf8)
        var values = [UInt8](repeating: Base64.invalid, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        self.values = values
        self.isPadded = isPadded
    }

    package func holds(_ character: UInt8) -> Bool { values[Int(character)] != Base64.invalid }

    package func decode(_ text: [UInt8]) -> [UInt8]? { decode(text.span) }

    /// Returns the decoded bytes, or `nil` if the string contains other characters, is cut short,
    /// has the wrong padding, or has unused bits set.
    package func decode(_ text: Span<UInt8>) -> [UInt8]? {
        text.withUnsafeBufferPointer { text in values.withUnsafeBufferPointer { decode(text, $0) } }
    }

    private func decode(
        _ text: UnsafeBufferPointer<UInt8>, _ values: UnsafeBufferPointer<UInt8>
    ) -> [UInt8]? {
        var length = text.count
        if isPadded {
            if length % 4 != 0 { return nil }
            if length > 0, text[length - 1] == UInt8(ascii: "=") { length -= 1 }
            if length % 4 == 3, text[length - 1] == UInt8(ascii: "=") { length -= 1 }
        }
        let rest = length % 4
        if rest == 1 { return nil }
        let whole = length - rest
        var isValid = true
        let count = length / 4 * 3 + max(0, rest - 1)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            var seen: UInt8 = 0
            var place = 0
            for at in stride(from: 0, to: whole, by: 4) {
                let (a, b) = (values[Int(text[at])], values[Int(text[at + 1])])
                let (c, d) = (values[Int(text[at + 2])], values[Int(text[at + 3])])
                seen |= a | b | c | d
                bytes[place] = a << 2 | b >> 4
                bytes[place + 1] = b << 4 | c >> 2
                bytes[place + 2] = c << 6 | d
                place += 3
            }
            if rest > 0 {
                let (a, b) = (values[Int(text[whole])], values[Int(text[whole + 1])])
                let c = rest == 3 ? values[Int(text[whole + 2])] : 0
                seen |= a | b | c
                bytes[place] = a << 2 | b >> 4
                if rest == 3 { bytes[place + 1] = b << 4 | c >> 2 }
                // The unused bits must be zero.
                isValid = rest == 3 ? c & 3 == 0 : b & 15 == 0
            }
            // The two highest bits of any valid value are zero.
            if seen >= 64 { isValid = false }
            filled = count
        }
        return isValid ? bytes : nil
    }

    package func encode(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBufferPointer { bytes in
            alphabet.withUnsafeBufferPointer { encode(bytes, $0) }
        }
    }

    private func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, _ alphabet: UnsafeBufferPointer<UInt8>
    ) -> [UInt8] {
        let rest = bytes.count % 3
        let whole = bytes.count - rest
        return [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text, filled in
            func append(_ value: UInt8) {
                text[filled] = alphabet[Int(value)]
                filled += 1
            }
            for at in stride(from: 0, to: whole, by: 3) {
                let (a, b, c) = (bytes[at], bytes[at + 1], bytes[at + 2])
                append(a >> 2)
                append((a & 3) << 4 | b >> 4)
                append((b & 15) << 2 | c >> 6)
                append(c & 63)
            }
            if rest == 0 { return }
            let (a, b) = (bytes[whole], rest == 2 ? bytes[whole + 1] : 0)
            append(a >> 2)
            append((a & 3) << 4 | b >> 4)
            if rest == 2 { append((b & 15) << 2) }
            if !isPadded { return }
            for _ in rest..<3 {
                text[filled] = UInt8(ascii: "=")
                filled += 1
            }
        }
    }
}
