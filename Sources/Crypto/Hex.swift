extension [UInt8] {
    /// The bytes as lower-case hexadecimal digits, two per byte.
    package var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Parses pairs of hexadecimal digits in either case; `nil` for any other text.
    package init?(hex: String) {
        let digits = hex.utf8.span
        if digits.count % 2 != 0 { return nil }
        self = []
        reserveCapacity(digits.count / 2)
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place].hexDigit, let low = digits[place + 1].hexDigit else {
                return nil
            }
            append(high << 4 | low)
        }
    }
}

extension UInt8 {
    // Works on bytes, because `Character.hexDigitValue` takes twenty times as long.
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"):
            (self | 0x20) - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
