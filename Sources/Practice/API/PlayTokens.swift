internal import Core
internal import Crypto
internal import HTTPServer
internal import JSON
internal import Minting
internal import Threading

/// Issues access tokens to callers who sign with the service account's key.
struct PlayTokens: Sendable {
    let account: ServiceAccount
    let store: PracticeStore
    let now: @Sendable () -> Instant
    /// When each token expires, on the monotonic clock. The tokens are lost when the store stops,
    /// and back ends then have to request new ones.
    private let given = Monitor<[String: Int64]>([:])

    private static let scope = "https://www.googleapis.com/auth/androidpublisher"
    private static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    private static let googleAddress = "https://oauth2.googleapis.com/token"
    private static let seconds: Int64 = 3599
    private static let most = 10_000
    /// How far the clocks may differ, in seconds.
    private static let tolerance: Int64 = 60

    init(_ account: ServiceAccount, _ store: PracticeStore, now: @escaping @Sendable () -> Instant)
    {
        self.account = account
        self.store = store
        self.now = now
    }

    /// Returns the answer to `POST /token`.
    func give(_ call: Call) -> Response {
        let form = Call.form(String(decoding: call.body, as: UTF8.self))
        guard form["grant_type"]?.first == Self.grant else {
            return refusal("unsupported_grant_type", "grant_type must be \(Self.grant)")
        }
        if let mistake = mistake(in: form["assertion"]?.first ?? "", for: call.host) {
            return refusal("invalid_grant", mistake)
        }
        let token = "ya29." + randomBytes(48).base64URL
        let clock = monotonicMilliseconds()
        given.change(wake: .none) { given in
            given = given.filter { $0.value > clock }
            if given.count < Self.most { given[token] = clock + Self.seconds * 1000 }
        }
        return Response(json: [
            "access_token": .string(token), "expires_in": .integer(Self.seconds),
            "token_type": "Bearer",
        ])
    }

    /// Returns whether the header contains a valid token.
    func allows(_ header: String?) -> Bool {
        guard let header, header.hasPrefix("Bearer ") else { return false }
        let until = given.change(wake: .none) { $0[String(header.dropFirst(7))] }
        return until.map { monotonicMilliseconds() < $0 } ?? false
    }

    private func refusal(_ code: String, _ text: String) -> Response {
        Response(
            json: ["error": .string(code), "error_description": .string(text)], status: 400)
    }

    /// Returns why an assertion is refused, or `nil` if it is accepted.
    private func mistake(in assertion: String, for host: String) -> String? {
        let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = json(parts[0]), let claims = json(parts[1]),
            let signature = Base64.url.decode(Array(parts[2].utf8))
        else { return "the assertion is not a JSON Web Token" }
        guard head["alg"]?.string == "RS256",
            head["kid"].map({ $0.string == account.keyID }) ?? true
        else { return "alg must be RS256, and kid that of the service account's key" }
        let signed = Array("\(parts[0]).\(parts[1])".utf8)
        guard account.key.verifies(rs256: signature, over: signed) else {
            return "the signature was not made with the service account's key"
        }
        guard claims["iss"]?.string == account.email else {
            return "iss is not the account's email"
        }
        // Google's own Python library always uses Google's address, whatever `token_uri` says.
        guard ["http://\(host)/token", Self.googleAddress].contains(claims["aud"]?.string) else {
            return "aud is not this address; use token_uri from the account's file"
        }
        let scopes = claims["scope"]?.string?.split(separator: " ") ?? []
        guard scopes.contains(Substring(Self.scope)) else { return "scope lacks \(Self.scope)" }
        return isTimely(claims) ? nil : "the token has expired, or is valid for longer than an hour"
    }

    /// Returns whether the claims are valid by the machine's clock or the test clock. A client may use either.
    private func isTimely(_ claims: JSON) -> Bool {
        guard let issued = claims["iat"]?.integer, let expires = claims["exp"]?.integer,
            (0...253_402_300_799).contains(issued), (0...253_402_300_799).contains(expires)
        else { return false }
        return [store.read { $0.now }, now()].contains { clock in
            let second = clock.milliseconds / 1000
            return second < expires + Self.tolerance && issued <= second + Self.tolerance
                && expires - issued <= 3600
        }
    }

    private func json(_ part: Substring) -> JSON? {
        Base64.url.decode(Array(part.utf8)).flatMap { try? JSON.read($0) }
    }
}
