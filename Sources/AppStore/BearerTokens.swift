internal import Core
internal import Crypto
internal import JSON
internal import Synchronization

/// The tokens with which Deed authenticates to Apple's server API. Deed uses each token until
/// shortly before it expires.
final class BearerTokens: Sendable {
    private static let lifetime: Int64 = 20 * 60 * 1000
    private static let renewedEarly: Int64 = 5 * 60 * 1000
    private static let limit = 1000

    private struct Owner: Hashable {
        let key: AppStoreKey
        let app: AppID
    }
    private struct Token {
        let text: String
        let made: Instant
    }
    private let tokens = Mutex<[Owner: Token]>([:])

    /// Returns a token for the key, or `nil` if the key is not valid.
    func token(of key: AppStoreKey, for app: AppID, now: Instant) -> String? {
        let owner = Owner(key: key, app: app)
        if let token = tokens.withLock({ $0[owner] }) {
            let age = now.milliseconds - token.made.milliseconds
            // If the clock was set back, the token may not be valid yet and must be replaced.
            if (0..<BearerTokens.lifetime - BearerTokens.renewedEarly).contains(age) {
                return token.text
            }
        }
        guard let text = makeToken(key, app, now) else { return nil }
        tokens.withLock { tokens in
            if tokens.count >= BearerTokens.limit { tokens = [:] }
            tokens[owner] = Token(text: text, made: now)
        }
        return text
    }

    private func makeToken(
        _ key: AppStoreKey, _ app: AppID, _ now: Instant
    ) -> String? {
        guard let signer = SigningKey(pem: Array(key.pem.utf8)) else { return nil }
        let head: JSON = ["alg": "ES256", "kid": .string(key.id), "typ": "JWT"]
        let issued = now.milliseconds / 1000
        let claims: JSON = [
            "iss": .string(key.issuer), "iat": .integer(issued),
            "exp": .integer(issued + BearerTokens.lifetime / 1000), "aud": "appstoreconnect-v1",
            "bid": .string(app.text),
        ]
        let content = "\(encoded(head.bytes)).\(encoded(claims.bytes))"
        return "\(content).\(encoded(signer.sign(Array(content.utf8))))"
    }

    private func encoded(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.url.encode(bytes), as: UTF8.self)
    }
}
