import Crypto
import Testing

@Suite("Codes of a second factor")
struct TimeCodeTests {
    @Test(
        "The codes are those of RFC 6238, appendix B",
        arguments: [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"),
            (1_234_567_890, "89005924"), (2_000_000_000, "69279037"),
            (20_000_000_000, "65353130"),
        ] as [(Int64, String)])
    func vectors(_ seconds: Int64, _ code: String) {
        let secret = Array("12345678901234567890".utf8)
        #expect(timeCode(of: seconds / 30, secret, digits: 8) == code)
        #expect(timeCode(of: seconds / 30, secret) == code.suffix(6))
    }
}
