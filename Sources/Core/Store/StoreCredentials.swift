/// What Deed shows the store to be heard, for one app. It is kept encrypted and never shown.
package struct StoreCredentials: Hashable, Sendable {
    /// A key of the store's API.
    package struct APIKey: Hashable, Sendable {
        package let issuer: String
        package let id: String
        /// PKCS#8 in PEM, as it was downloaded.
        package let pem: String

        package init(issuer: String, id: String, pem: String) {
            self.issuer = issuer
            self.id = id
            self.pem = pem
        }
    }
    package var apiKey: APIKey?
    package var sharedSecret: String?
    /// A store on this machine that stands in for the real one.
    package var address: StoreAddress?

    package init(
        apiKey: APIKey? = nil, sharedSecret: String? = nil, address: StoreAddress? = nil
    ) {
        self.apiKey = apiKey
        self.sharedSecret = sharedSecret
        self.address = address
    }

    package var isEmpty: Bool { self == StoreCredentials() }

    package func changed(by change: CredentialsChange) -> StoreCredentials {
        var changed = self
        if let key = change.apiKey { changed.apiKey = key }
        if let secret = change.sharedSecret { changed.sharedSecret = secret }
        if let address = change.address { changed.address = address }
        return changed
    }
}

/// What of an app's credentials becomes something else; `nil` changes nothing.
package struct CredentialsChange: Hashable, Sendable {
    package var apiKey: StoreCredentials.APIKey??
    package var sharedSecret: String??
    package var address: StoreAddress??

    package init() {}

    package var isEmpty: Bool { self == CredentialsChange() }

    /// Whether it hands in what only the store may see.
    package var holdsSecret: Bool { (apiKey ?? nil) != nil || (sharedSecret ?? nil) != nil }
}

/// The address of a store on this machine, like `http://127.0.0.1:9090`. There is no other.
package struct StoreAddress: Hashable, Sendable {
    package let url: String

    /// `nil` for any host that is not this machine by its number, and for more than host and port.
    package init?(_ text: String) {
        let schemes = ["http://127.0.0.1:", "http://[::1]:"]
        guard let scheme = schemes.first(where: { text.hasPrefix($0) }) else { return nil }
        let digits = text.dropFirst(scheme.count)
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits),
            port > 0
        else { return nil }
        url = "\(scheme)\(port)"
    }
}

/// What may be told of an app's credentials.
package struct CredentialsStatus: Hashable, Sendable {
    package let hasKey: Bool
    package let hasSharedSecret: Bool
    package let address: StoreAddress?

    package init(hasKey: Bool, hasSharedSecret: Bool, address: StoreAddress?) {
        self.hasKey = hasKey
        self.hasSharedSecret = hasSharedSecret
        self.address = address
    }

    /// Whether the store is shown nothing.
    package var isEmpty: Bool { !hasKey && !hasSharedSecret && address == nil }

    package init(_ credentials: StoreCredentials) {
        hasKey = credentials.apiKey != nil
        hasSharedSecret = credentials.sharedSecret != nil
        address = credentials.address
    }
}

// What is printed by mistake tells nothing.
extension StoreCredentials: CustomStringConvertible {
    package var description: String { "credentials" }
}

extension StoreCredentials.APIKey: CustomStringConvertible {
    package var description: String { "a key" }
}

extension CredentialsChange: CustomStringConvertible {
    package var description: String { "a change of credentials" }
}

/// What is wrong with credentials, by the part that is.
package enum InvalidCredentials: String, Hashable, Sendable {
    case issuer = "issuer_id"
    case keyID = "key_id"
    case key = "key"
    case sharedSecret = "shared_secret"

    package var sentence: String {
        switch self {
        case .issuer: "The issuer id must be the UUID that App Store Connect shows above the keys."
        case .keyID: "The key id must be the 10 letters and digits that App Store Connect shows."
        case .key:
            "The key must be a file as App Store Connect gives it out: PKCS#8 in PEM, of the curve "
                + "P-256, without a password."
        case .sharedSecret: "The shared secret must be 1 to 256 printable characters in one line."
        }
    }
}

extension StoreCredentials {
    /// What is wrong in the form of it; whether the key is one, only cryptography can tell.
    package var mistake: InvalidCredentials? {
        if let apiKey {
            if AccountToken(apiKey.issuer) == nil { return .issuer }
            let isID =
                (1...64).contains(apiKey.id.utf8.count)
                && apiKey.id.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                        || (0x61...0x7A).contains($0)
                }
            if !isID { return .keyID }
            if !(1...10_000).contains(apiKey.pem.utf8.count) { return .key }
        }
        if let sharedSecret {
            let isText =
                (1...256).contains(sharedSecret.utf8.count)
                && sharedSecret.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            if !isText { return .sharedSecret }
        }
        return nil
    }
}

/// Where a write of credentials stands among the events of its project.
package struct CredentialsWrite: Hashable, Sendable {
    /// The version of the project's stream that the write follows.
    package let version: Int64
    /// The version with which the app came. What was written before belonged to one that was removed.
    package let appSince: Int64
    /// Whether an earlier twin may have done it.
    package let isRepetition: Bool

    package init(version: Int64, appSince: Int64, isRepetition: Bool = false) {
        self.version = version
        self.appSince = appSince
        self.isRepetition = isRepetition
    }
}

/// Credentials as they are kept: encrypted, next to what may be shown of them.
package struct SealedCredentials: Hashable, Sendable {
    package let app: StoreApp
    package let sealed: [UInt8]
    /// Tells which key of the installation opens them.
    package let keyName: [UInt8]
    package let status: CredentialsStatus
    /// Grows with every change.
    package let revision: Int64
    /// The version of the project's stream that the newest write follows.
    package let version: Int64
    package let changedAt: Instant
    package let changedBy: Actor

    package init(
        app: StoreApp, sealed: [UInt8], keyName: [UInt8], status: CredentialsStatus,
        revision: Int64, version: Int64, changedAt: Instant, changedBy: Actor
    ) {
        self.app = app
        self.sealed = sealed
        self.keyName = keyName
        self.status = status
        self.revision = revision
        self.version = version
        self.changedAt = changedAt
        self.changedBy = changedBy
    }
}
