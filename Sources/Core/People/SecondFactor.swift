/// A person's second factor as stored.
package struct SealedFactor: Hashable, Sendable {
    package let person: PersonID
    /// The secret that makes the codes, sealed with the installation's key.
    package let secret: SealedSecret
    /// The half minute whose code was accepted last. Codes of this and earlier half minutes no longer count.
    package let step: Int64
    /// How many emergency codes are left.
    package let emergencyCodes: Int

    package init(person: PersonID, secret: SealedSecret, step: Int64, emergencyCodes: Int = 0) {
        self.person = person
        self.secret = secret
        self.step = step
        self.emergencyCodes = emergencyCodes
    }
}

/// A secret sealed with one of the installation's keys.
package struct SealedSecret: Hashable, Sendable {
    package let bytes: [UInt8]
    package let keyName: [UInt8]

    package init(bytes: [UInt8], keyName: [UInt8]) {
        self.bytes = bytes
        self.keyName = keyName
    }
}

/// A sign-in with the correct password that still lacks a code.
package struct BegunSignIn: Hashable, Sendable {
    /// The SHA-256 of the cookie.
    package let digest: [UInt8]
    package let person: PersonID
    package let email: EmailAddress
    /// The scrypt hash of the person's password.
    package let stretched: [UInt8]

    package init(digest: [UInt8], person: PersonID, email: EmailAddress, stretched: [UInt8]) {
        self.digest = digest
        self.person = person
        self.email = email
        self.stretched = stretched
    }
}

/// Returns the bytes in base32 as in RFC 4648, without padding. Code apps read secrets in this form.
package func base32(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    var (rest, bits) = (0, 0)
    var text: [UInt8] = []
    for byte in bytes {
        rest = (rest << 8 | Int(byte)) & 0xFFF
        bits += 8
        while bits >= 5 {
            bits -= 5
            text.append(alphabet[rest >> bits & 31])
        }
    }
    if bits > 0 { text.append(alphabet[rest << (5 - bits) & 31]) }
    return String(decoding: text, as: UTF8.self)
}
