internal import Core
internal import Crypto
internal import JSON
internal import Minting

/// Why the server API refuses a call.
struct TokenRefusal: Error, Sendable {
    let reason: String
}

extension Authority {
    private static let longest: Int64 = 60 * 60
    /// How far the clocks may differ, in seconds.
    private static let tolerance: Int64 = 60

    /// Refuses a bearer token unless it was signed with this store's key for this app. The token
    /// must be valid by the machine's clock or the test clock, because a client may use either.
    func require(
        _ header: String?, bundleID: String, at clocks: [Instant]
    ) throws(TokenRefusal) {
        guard let header, header.hasPrefix("Bearer ") else {
            throw TokenRefusal(reason: "the bearer token is missing")
        }
        let parts = header.dropFirst(7).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = json(parts[0]), let claims = json(parts[1]),
            let signature = Base64.url.decode(Array(parts[2].utf8))
        else { throw TokenRefusal(reason: "the token is not a JSON Web Token") }
        guard head["alg"]?.string == "ES256", head["kid"]?.string == keyID else {
            throw TokenRefusal(reason: "alg must be ES256 and kid \(keyID)")
        }
        guard apiKey.verifies(raw: signature, over: Array("\(parts[0]).\(parts[1])".utf8)) else {
            throw TokenRefusal(reason: "the signature was not made with the key \(keyID)")
        }
        guard claims["iss"]?.string == issuer, claims["aud"]?.string == "appstoreconnect-v1",
            claims["bid"]?.string == bundleID
        else { throw TokenRefusal(reason: "iss, aud or bid is wrong") }
        guard let expires = claims["exp"]?.second else {
            throw TokenRefusal(reason: "exp is missing, or is not a time in a four-digit year")
        }
        let issued = claims["iat"]?.second
        let isTimely = clocks.contains { clock in
            let now = clock.milliseconds / 1000
            let begins = issued ?? now
            return now < expires + Self.tolerance && begins <= now + Self.tolerance
                && expires - begins <= Self.longest + Self.tolerance
        }
        if !isTimely {
            throw TokenRefusal(reason: "the token has expired, or is valid for longer than an hour")
        }
    }

    private func json(_ part: Substring) -> JSON? {
        Base64.url.decode(Array(part.utf8)).flatMap { try? JSON.read($0) }
    }
}

extension JSON {
    /// A time in whole seconds, as in tokens.
    fileprivate var second: Int64? {
        let range = Int64(0)...253_402_300_799
        if let integer { return range.contains(integer) ? integer : nil }
        guard let number = Double(text), number >= 0, number <= Double(range.upperBound) else {
            return nil
        }
        return Int64(number)
    }
}
