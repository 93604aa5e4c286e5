import Core
import Testing

@Suite("Base32")
struct Base32Tests {
    @Test(
        "Texts are those of RFC 4648, section 10, without padding",
        arguments: [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
        ])
    func vectors(_ bytes: String, _ text: String) {
        #expect(base32(Array(bytes.utf8)) == text)
    }

    @Test("Hexadecimal digits are read back, and anything else is refused")
    func hexadecimal() {
        let bytes = (0...255).map { UInt8($0) }
        #expect([UInt8](hexDigits: bytes.hexDigits) == bytes)
        for text in ["0", "0g", "+1", "-1", " 1", "00 ", "é"] {
            #expect([UInt8](hexDigits: text) == nil, "\(text)")
        }
    }
}
