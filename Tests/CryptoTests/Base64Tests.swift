import Crypto
import Histories
import Minting
import Testing

@Suite("Base64")
struct Base64Tests {
    @Test("Every length is read back, in both alphabets")
    func roundTrip() {
        for count in 0..<70 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
            #expect(Base64.standard.decode(Array(bytes.base64.utf8)) == bytes)
            #expect(Base64.url.decode(Array(bytes.base64URL.utf8)) == bytes)
        }
    }

    @Test(
        "Non-strict texts are refused",
        arguments: [
            "A", "AA", "AAA", "AB==", "AAB=", "=", "==", "====", "A===", "AA=A", "AAAA=",
            "AAAA====", "AA A", "AAA\n", "AA-_", "AAA\u{FF}",
        ])
    func standard(_ text: String) {
        #expect(Base64.standard.decode(Array(text.utf8)) == nil)
    }

    @Test(
        "Texts of the other form are refused too",
        arguments: ["A", "AB", "AAB", "AA==", "AA+/", "AAAAA", "AAAA\n"])
    func url(_ text: String) {
        #expect(Base64.url.decode(Array(text.utf8)) == nil)
    }

    @Test("Whatever is read is written again unchanged, in both alphabets")
    func oneText() {
        let seed = printedSeed(of: "base64")
        var random = SeededGenerator(seed: seed)
        var read = 0
        for round in 0..<20_000 {
            let base64 = round % 2 == 0 ? Base64.standard : Base64.url
            let letters = Array((round % 2 == 0 ? "AQgwBEIz09+/=" : "AQgwBEIz09-_").utf8)
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                letters.randomElement(using: &random) ?? 0
            }
            guard let bytes = base64.decode(text) else { continue }
            read += 1
            #expect(base64.encode(bytes) == text, "seed \(seed), round \(round)")
        }
        #expect(read > 1000)
    }
}
