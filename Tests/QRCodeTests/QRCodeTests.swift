import QRCode
import TestSupport
import Testing

@Suite("QR codes", .timeLimit(.minutes(20)))
struct QRCodeTests {
    @Test(
        "Another program draws the same modules",
        arguments: [
            "x", "otpauth://totp/Deed:ann%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
            String(repeating: "long ", count: 200),
        ])
    func modules(_ text: String) throws {
        let code = try #require(QRCode(text))
        let rows = (0..<code.size).map { row in
            (0..<code.size).map { code.isDark($0, row) ? "#" : " " }.joined()
        }
        #expect(try rows == QRProgram.rows(text))
        for row in 0..<code.size {
            let dark = code.darkRanges(in: row).flatMap { Array($0) }
            #expect(dark == (0..<code.size).filter { code.isDark($0, row) })
        }
    }

    @Test("Nothing, and a text that is too long, have no QR code")
    func refused() {
        #expect(QRCode("") == nil)
        #expect(QRCode(String(repeating: "x", count: 3000)) == nil)
    }
}
