internal import Core
internal import Crypto
internal import JSON

/// The key of a service account, from the file that Google Cloud gives out.
package struct ServiceAccountKey: Hashable, Sendable {
    /// The name of the file's content among an app's credentials.
    package static let member = "service_account"

    let email: String
    let keyID: String
    /// PKCS#8 in PEM.
    let pem: String
    /// Where it gets its access tokens.
    let tokenAddress: String

    /// Why a file is no key.
    package enum Mistake: Error, Hashable, Sendable {
        case notJSON
        /// It is another kind of credentials.
        case otherType(String)
        case missing(String)
        /// `private_key` is no RSA key in PEM without a password.
        case badKey
        /// A key that another host could ask for would be given away.
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

    /// In whose name access tokens are asked for, as the budgets and lanes of calls know it.
    func holder(in app: StoreApp) -> StoreApp {
        let name = (try? AppID(email)) ?? app.key.id
        return StoreApp(project: app.project, key: AppKey(store: app.key.store, id: name))
    }

    /// Whether Google itself gives access tokens for it.
    var isOfGoogle: Bool { tokenAddress == Self.googleAddress }

    /// Google's own address, or a store on this machine.
    private static func isTrusted(_ address: String) -> Bool {
        if address == googleAddress { return true }
        guard address.hasSuffix("/token") else { return false }
        return StoreAddress(String(address.dropLast("/token".count))) != nil
    }

    private static let scope = "https://www.googleapis.com/auth/androidpublisher"
    /// The longest that Google allows, in seconds.
    private static let lifetime: Int64 = 3600

    /// What the key signs to get an access token.
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

// Printing one by mistake reveals nothing.
extension ServiceAccountKey: CustomStringConvertible {
    package var description: String { "the key of a service account" }
}
