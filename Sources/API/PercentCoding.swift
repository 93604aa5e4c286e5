/// What a percent-encoded text stands for; `nil` when it is not validly encoded, or not UTF-8.
func percentDecoded(_ text: ArraySlice<UInt8>) -> String? {
    guard text.contains(UInt8(ascii: "%")) else { return String(validating: text, as: UTF8.self) }
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
        if byte != UInt8(ascii: "%") {
            bytes.append(byte)
            continue
        }
        guard let high = rest.next()?.hexDigit, let low = rest.next()?.hexDigit else { return nil }
        bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
