import Crypto
import Testing

@Suite("Digests and random bytes")
struct DigestTests {
    static let abc = Array("abc".utf8)
    static let abcHex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test("SHA-256 gives the published values")
    func sha256() {
        #expect(SHA256.digest(Self.abc).hex == Self.abcHex)
        #expect(
            SHA256.digest([]).hex
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test("SHA-1 and SHA-384 give the published values")
    func others() {
        #expect(
            DigestAlgorithm.sha1.digest(Self.abc).hex == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            DigestAlgorithm.sha384.digest(Self.abc).hex
                == "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
                + "8086072ba1e7cc2358baeca134c825a7")
        #expect(DigestAlgorithm.sha256.digest(Self.abc).hex == Self.abcHex)
    }

    @Test("Pieces give the same digest as the whole")
    func pieces() {
        var hash = SHA256()
        hash.update("a")
        hash.update([])
        hash.update(Array("bc".utf8))
        #expect(hash.finish().hex == Self.abcHex)
    }

    @Test("A digest is read back from its bytes and from its digits of either case")
    func readBack() throws {
        let digest = SHA256.digest(Self.abc)
        #expect(Digest32(bytes: digest.bytes) == digest)
        #expect(Digest32(hex: Self.abcHex.uppercased()) == digest)
        #expect("\(digest)" == Self.abcHex)
    }

    @Test(
        "Text that is no digest is not read as one",
        arguments: ["", "00", String(repeating: "0", count: 62), String(repeating: "0", count: 66)]
            + ["0x" + String(repeating: "0", count: 62), String(repeating: "é", count: 64)])
    func notADigest(_ text: String) {
        #expect(Digest32(hex: text) == nil)
    }

    @Test("Digests that differ in any one bit are unequal")
    func inequality() throws {
        let digest = SHA256.digest(Self.abc)
        for bit in 0..<256 {
            var bytes = digest.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(try #require(Digest32(bytes: bytes)) != digest)
        }
    }

    @Test("Secrets are compared by all of their bytes")
    func constantTime() {
        #expect(isEqualInConstantTime([1, 2, 3], [1, 2, 3]))
        #expect(!isEqualInConstantTime([1, 2, 3], [1, 2, 2]))
        #expect(!isEqualInConstantTime([1, 2, 3], [0, 2, 3]))
        #expect(!isEqualInConstantTime([1, 2, 3], [1, 2]))
        #expect(isEqualInConstantTime([], []))
    }

    @Test("Random bytes come in the requested number, and never twice the same")
    func random() {
        let draws = Set((0..<100).map { _ in randomBytes(16) })
        #expect(draws.count == 100)
        #expect(draws.allSatisfy { $0.count == 16 })
        #expect(randomBytes(0).isEmpty)
    }
}
