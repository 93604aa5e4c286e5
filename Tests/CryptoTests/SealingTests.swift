import Crypto
import Minting
import Testing

@Suite("Sealing and signing")
struct SealingTests {
    private func key(_ byte: UInt8) throws -> SecretKey {
        try #require(SecretKey([UInt8](repeating: byte, count: 32)))
    }

    @Test("A sealed text opens only with its key and for its place")
    func sealing() throws {
        let (key, place) = (try key(1), Array("place".utf8))
        for text in [[], [1], [UInt8](repeating: 7, count: 5000)] as [[UInt8]] {
            let sealed = key.seal(text, for: place)
            #expect(key.open(sealed, for: place) == text)
            #expect(try self.key(2).open(sealed, for: place) == nil)
            #expect(key.open(sealed, for: Array("other".utf8)) == nil)
            #expect(key.seal(text, for: place) != sealed)
            for index in Set([0, 11, 12, sealed.count - 17, sealed.count - 1]) {
                var changed = sealed
                changed[index] ^= 1
                #expect(key.open(changed, for: place) == nil)
            }
        }
        #expect(key.open([], for: place) == nil)
        #expect(key.open([UInt8](repeating: 0, count: 27), for: place) == nil)
    }

    @Test("A signature is valid only under the matching public key, and only over that text")
    func signing() throws {
        let minted = MintedKey(.p256)
        let key = try #require(SigningKey(pem: Array(minted.pem.utf8)))
        for _ in 0..<50 {
            let signature = key.sign(Array("text".utf8))
            #expect(minted.verifies(raw: signature, over: Array("text".utf8)))
            #expect(!minted.verifies(raw: signature, over: Array("texts".utf8)))
        }
    }

    @Test("Only a P-256 key in PEM is accepted")
    func keys() {
        #expect(SigningKey(pem: []) == nil)
        #expect(SigningKey(pem: Array("-----BEGIN PRIVATE KEY-----".utf8)) == nil)
        #expect(SigningKey(pem: Array(MintedKey(.p384).pem.utf8)) == nil)
        #expect(SigningKey(pem: Array(MintedKey(.rsa2048).pem.utf8)) == nil)
    }
}
