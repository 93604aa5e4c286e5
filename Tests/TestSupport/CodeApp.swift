package import Core
import Crypto

/// An app that calculates codes from the secret on a page of the console.
package struct CodeApp: Sendable {
    /// The secret in base32.
    package let text: String
    private let secret: [UInt8]

    /// Returns `nil` if the page shows no secret.
    package init?(page: String) {
        guard let found = page.firstMatch(of: /otpauth:\/\/totp\/[^?]+\?secret=([A-Z2-7]+)&/) else {
            return nil
        }
        text = String(found.1)
        var (rest, bits) = (0, 0)
        var bytes: [UInt8] = []
        for letter in text.utf8 {
            let value = letter >= 65 ? Int(letter) - 65 : Int(letter) - 50 + 26
            rest = (rest << 5 | value) & 0xFFFF
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: rest >> bits))
            }
        }
        secret = bytes
    }

    /// Returns the code at an instant, or some half minutes before or after it.
    package func code(at now: Instant, steps: Int64 = 0) -> String {
        timeCode(of: now.milliseconds / 30_000 + steps, secret)
    }
}
