/// Returns the text percent-encoded, except for ASCII letters, digits and four punctuation marks.
package func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            bytes.append(byte)
        default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Decodes a percent-encoded string; `nil` if the encoding or its UTF-8 is invalid.
package func percentDecoded(_ text: Span<UInt8>) -> String? {
    var place = 0
    while place < text.count, text[place] != UInt8(ascii: "%") { place += 1 }
    if place == text.count {
        guard let text = try? UTF8Span(validating: text) else { return nil }
        return String(copying: text)
    }
    var bytes: [UInt8] = []
    place = 0
    while place < text.count {
        if text[place] != UInt8(ascii: "%") {
            bytes.append(text[place])
            place += 1
            continue
        }
        guard place + 2 < text.count, let high = text[place + 1].hexDigit,
            let low = text[place + 2].hexDigit
        else { return nil }
        bytes.append(high << 4 | low)
        place += 3
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
