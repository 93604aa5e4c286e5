extension [UInt8] {
    /// The bytes as lower-case hexadecimal digits, two each.
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

    /// Reads pairs of hexadecimal digits of either case; `nil` for anything else.
    package init?(hex: String) {
        let digits = hex.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        if digits.count % 2 != 0 { return nil }
        self = []
        reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            append(UInt8(high << 4 | low))
        }
    }
}
