internal import Core
internal import Crypto
internal import JSON

/// The key of a service account, from the file that Google Cloud issues.
package struct ServiceAccountKey: Hashable, Sendable {
    /// The member of an app's credentials that contains the file.
    package static let member = "service_account"

    let email: String
    let keyID: String
    /// The private key in PKCS#8 and PEM.
    let pem: String
    /// The address from which to request access tokens.
    let tokenAddress: String

    /// Why a file does not contain a usable key.
    package enum Mistake: Error, Hashable, Sendable {
        case notJSON
        /// The file contains a different type of credentials.
        case otherType(String)
        case missing(String)
        /// `private_key` is not an RSA key in PEM without a password.
        case badKey
        /// The file names a host that must not receive anything signed with the key.
        case foreignTokenAddress
    }

    private static let googleAddress = "https://oauth2.googleapis.com/token"
    private static let sizeLimit = 16 << 10

    package init(file: String) throws(Mistake) {
        guard file.utf8.count <= Self.sizeLimit, let json = try? JSON.read(Array(file.utf8)),
            json.object != nil
        else { throw .notJSON }
        guard let type = json["type"]?.string else { throw .missing("type") }
        if type != "service_account" { throw .otherType(type) }
        func text(_ name: String) throws(Mistake) -> String {
            guard let text = json[name]?.string, !text.isEmpty else { throw .missing(name) }
            return text
        }
        email = try text("client_email")
        keyID = try text("private_key_id")
        pem = try text("private_key")
        tokenAddress = try text("token_uri")
        if RSASigningKey(pem: Array(pem.utf8)) == nil { throw .badKey }
        guard Self.isTrusted(tokenAddress) else { throw .foreignTokenAddress }
    }

    /// Returns the owner of the access tokens, to which the calls' budgets and lanes belong.
    func holder(in app: StoreApp) -> StoreApp {
        let name = (try? AppID(email)) ?? app.key.id
        return StoreApp(project: app.project, key: AppKey(store: app.key.store, id: name))
    }

    /// Whether Google itself issues access tokens for the key.
    var isOfGoogle: Bool { tokenAddress == Self.googleAddress }

    /// Returns whether the address is Google's own or that of a store on this machine.
    private static func isTrusted(_ address: String) -> Bool {
        if address == googleAddress { return true }
        guard address.hasSuffix("/token") else { return false }
        return StoreAddress(String(address.dropLast("/token".count))) != nil
    }

    private static let scope = "https://www.googleapis.com/auth/androidpublisher"
    /// The longest lifetime that Google allows, in seconds.
    private static let lifetime: Int64 = 3600

    /// Returns the signed assertion that is exchanged for an access token.
    func assertion(now: Instant) -> String? {
        guard let signer = RSASigningKey(pem: Array(pem.utf8)) else { return nil }
        let head: JSON = ["alg": "RS256", "typ": "JWT", "kid": .string(keyID)]
        let issued = now.milliseconds / 1000
        let claims: JSON = [
            "iss": .string(email), "scope": .string(Self.scope), "aud": .string(tokenAddress),
            "iat": .integer(issued), "exp": .integer(issued + Self.lifetime),
        ]
        let content = "\(encoded(head.bytes)).\(encoded(claims.bytes))"
        return "\(content).\(encoded(signer.sign(Array(content.utf8))))"
    }

    private func encoded(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.url.encode(bytes), as: UTF8.self)
    }
}

// A key that is printed by mistake must reveal nothing.
extension ServiceAccountKey: CustomStringConvertible {
    package var description: String { "the key of a service account" }
}
