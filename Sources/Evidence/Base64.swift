/// One of the two alphabets of base64, read strictly: one text for each sequence of bytes.
struct Base64: Sendable {
    /// With `+`, `/` and padding.
    static let standard = Base64(last: "+/", isPadded: true)
    /// With `-`, `_` and without padding.
    static let url = Base64(last: "-_", isPadded: false)

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

    func holds(_ character: UInt8) -> Bool { values[Int(character)] != Base64.invalid }

    func decode(_ text: [UInt8]) -> [UInt8]? { decode(text.span) }

    /// The bytes that `text` stands for; `nil` when it holds any other character, is cut short, is
    /// padded in another way, or has bits set that stand for nothing.
    func decode(_ text: Span<UInt8>) -> [UInt8]? {
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
        var bytes = [UInt8](capacity: length / 4 * 3 + max(0, rest - 1)) { output in
            var seen: UInt8 = 0
            for at in stride(from: 0, to: whole, by: 4) {
                let (a, b) = (values[Int(text[at])], values[Int(text[at + 1])])
                let (c, d) = (values[Int(text[at + 2])], values[Int(text[at + 3])])
                seen |= a | b | c | d
                output.append(a << 2 | b >> 4)
                output.append(b << 4 | c >> 2)
                output.append(c << 6 | d)
            }
            // A valid value has its two highest bits clear.
            isValid = seen < 64
        }
        return isValid && decodeRest(text, from: whole, to: length, into: &bytes) ? bytes : nil
    }

    private func decodeRest(
        _ text: Span<UInt8>, from start: Int, to end: Int, into bytes: inout [UInt8]
    ) -> Bool {
        if start == end { return true }
        let a = values[Int(text[start])]
        let b = values[Int(text[start + 1])]
        let c = end - start == 3 ? values[Int(text[start + 2])] : 0
        if (a | b | c) >= 64 { return false }
        bytes.append(a << 2 | b >> 4)
        if end - start == 2 { return b & 15 == 0 }
        bytes.append(b << 4 | c >> 2)
        return c & 3 == 0
    }

    /// The text that stands for `bytes`.
    func encode(_ bytes: [UInt8]) -> [UInt8] {
        let rest = bytes.count % 3
        let whole = bytes.count - rest
        return [UInt8](capacity: (bytes.count + 2) / 3 * 4) { text in
            for at in stride(from: 0, to: whole, by: 3) {
                let (a, b, c) = (bytes[at], bytes[at + 1], bytes[at + 2])
                text.append(alphabet[Int(a >> 2)])
                text.append(alphabet[Int((a & 3) << 4 | b >> 4)])
                text.append(alphabet[Int((b & 15) << 2 | c >> 6)])
                text.append(alphabet[Int(c & 63)])
            }
            if rest == 0 { return }
            let (a, b) = (bytes[whole], rest == 2 ? bytes[whole + 1] : 0)
            text.append(alphabet[Int(a >> 2)])
            text.append(alphabet[Int((a & 3) << 4 | b >> 4)])
            if rest == 2 { text.append(alphabet[Int((b & 15) << 2)]) }
            if !isPadded { return }
            for _ in rest..<3 { text.append(UInt8(ascii: "=")) }
        }
    }
}
