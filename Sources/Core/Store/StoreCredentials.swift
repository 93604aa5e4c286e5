/// What Deed shows a store to be heard, for one app. It is kept encrypted and never shown.
package struct StoreCredentials: Hashable, Sendable {
    /// Each under the name that the store's profile gives it.
    package var secrets: [String: String]
    /// A store on this machine that stands in for the real one.
    package var address: StoreAddress?

    package init(_ secrets: [String: String] = [:], address: StoreAddress? = nil) {
        self.secrets = secrets
        self.address = address
    }

    package var isEmpty: Bool { self == StoreCredentials() }

    package func changed(by change: CredentialsChange) -> StoreCredentials {
        var changed = self
        for (name, secret) in change.secrets { changed.secrets[name] = secret }
        if let address = change.address { changed.address = address }
        return changed
    }
}

/// What of an app's credentials becomes something else.
package struct CredentialsChange: Hashable, Sendable {
    /// `nil` takes a secret away.
    package var secrets: [String: String?] = [:]
    package var address: StoreAddress??

    package init() {}

    package var isEmpty: Bool { self == CredentialsChange() }

    /// Whether it hands in what only the store may see.
    package var holdsSecret: Bool { secrets.values.contains { $0 != nil } }
}

/// One of the things that an app shows its store.
package struct CredentialMember: Sendable {
    package enum Part: Sendable {
        /// It opens the store's API, together with the other members of the key.
        case key
        /// It has the store judge evidence.
        case sharedSecret
    }
    package let name: String
    package let part: Part
    /// Whether the command line takes it from a file: what stands among the arguments is there for all users of
    /// the machine to read.
    package let isSecret: Bool
    /// What the command line says of it.
    package let help: (value: String, text: String)

    package init(
        _ name: String, _ part: Part, isSecret: Bool = false, help: (value: String, text: String)
    ) {
        self.name = name
        self.part = part
        self.isSecret = isSecret
        self.help = help
    }
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

    package init(_ credentials: StoreCredentials, of members: [CredentialMember]) {
        let shown = members.filter { credentials.secrets[$0.name] != nil }.map(\.part)
        self.init(
            hasKey: shown.contains(.key), hasSharedSecret: shown.contains(.sharedSecret),
            address: credentials.address)
    }
}

// What is printed by mistake tells nothing.
extension StoreCredentials: CustomStringConvertible {
    package var description: String { "credentials" }
}

extension CredentialsChange: CustomStringConvertible {
    package var description: String { "a change of credentials" }
}

/// What is wrong with credentials, by the member that is.
package struct InvalidCredential: Error, Hashable, Sendable {
    package let name: String
    package let sentence: String

    package init(_ name: String, _ sentence: String) {
        self.name = name
        self.sentence = sentence
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
