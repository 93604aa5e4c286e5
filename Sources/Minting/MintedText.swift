extension [UInt8] {
    /// Standard base64 with padding.
    package var base64: String { base64(alphabet: standardAlphabet, isPadded: true) }

    /// The base64url form that JWS uses, without padding.
    package var base64URL: String { base64(alphabet: urlAlphabet, isPadded: false) }

    private func base64(alphabet: [UInt8], isPadded: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(count / 3 * 4 + 4)
        for start in stride(from: 0, to: count, by: 3) {
            let group = self[start..<Swift.min(start + 3, count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                if place <= group.count {
                    text.append(alphabet[Int(bits >> UInt32(18 - 6 * place)) & 63])
                } else if isPadded {
                    text.append(UInt8(ascii: "="))
                }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

private let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
private let standardAlphabet = Array((letters + "+/").utf8)
private let urlAlphabet = Array((letters + "-_").utf8)
