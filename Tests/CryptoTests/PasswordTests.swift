import Crypto
import Testing

@Suite("Stretched passwords")
struct PasswordTests {
    /// The expected result comes from Python: hashlib.scrypt(b"password", salt=b"NaCl", n=32768,
    /// r=8, p=1, maxmem=1 << 26, dklen=32).
    @Test("scrypt gives what another implementation gives")
    func known() {
        let salt = Array("NaCl".utf8)
        #expect(
            stretched(Array("password".utf8), salt: salt, cost: 15)?.hex
                == "3fa85118fffe9732da7f4c63ef61f5c6458144d036401f8829dd4e5b2c50c51f")
        let empty = stretched([], salt: salt, cost: 10)
        #expect(empty != nil && empty != stretched([], salt: [1], cost: 10))
        #expect(empty != stretched([], salt: salt, cost: 11))
    }

    @Test("A cost that no machine can pay is an error", arguments: [-1, 0, 25, 63, Int.max])
    func unpayable(_ cost: Int) {
        #expect(stretched([1], salt: [1], cost: cost) == nil)
    }
}
