/// The secrets with which Deed identifies itself to a store for one app. They are stored encrypted
/// and never shown.
package struct StoreCredentials: Hashable, Sendable {
    /// The secrets, keyed by their names in the store's profile.
    package var secrets: [String: String]
    /// The address of a store on this machine that replaces the real store.
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

package struct CredentialsChange: Hashable, Sendable {
    /// `nil` removes a secret.
    package var secrets: [String: String?] = [:]
    package var address: StoreAddress??

    package init() {}

    package var isEmpty: Bool { self == CredentialsChange() }

    /// Whether the change contains a secret.
    package var holdsSecret: Bool { secrets.values.contains { $0 != nil } }
}

/// One of the credentials that an app needs for its store.
package struct CredentialMember: Sendable {
    package enum Part: Sendable {
        /// Gives access to the store's API, together with the other members of the key.
        case key
        /// Allows the store to judge evidence.
        case sharedSecret
    }
    package let name: String
    package let part: Part
    /// Whether the command line reads the value from a file, because all users of the machine can
    /// see command-line arguments.
    package let isSecret: Bool
    /// The description on the command line.
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

/// The address of a store on this machine, such as `http://127.0.0.1:9090`. No other kind of
/// address is valid.
package struct StoreAddress: Hashable, Sendable {
    package let url: String

    /// `nil` unless the text is a host and a port, and the host is a numeric loopback address.
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

/// The parts of an app's credentials that may be shown to people.
package struct CredentialsStatus: Hashable, Sendable {
    package let hasKey: Bool
    package let hasSharedSecret: Bool
    package let address: StoreAddress?

    package init(hasKey: Bool, hasSharedSecret: Bool, address: StoreAddress?) {
        self.hasKey = hasKey
        self.hasSharedSecret = hasSharedSecret
        self.address = address
    }

    /// Whether no credentials are set.
    package var isEmpty: Bool { !hasKey && !hasSharedSecret && address == nil }

    package init(_ credentials: StoreCredentials, of members: [CredentialMember]) {
        let shown = members.filter { credentials.secrets[$0.name] != nil }.map(\.part)
        self.init(
            hasKey: shown.contains(.key), hasSharedSecret: shown.contains(.sharedSecret),
            address: credentials.address)
    }
}

// A credential that is printed by mistake must reveal nothing.
extension StoreCredentials: CustomStringConvertible {
    package var description: String { "credentials" }
}

extension CredentialsChange: CustomStringConvertible {
    package var description: String { "a change of credentials" }
}

/// A problem with an app's credentials, and the member with the problem.
package struct InvalidCredential: Error, Hashable, Sendable {
    package let name: String
    package let sentence: String

    package init(_ name: String, _ sentence: String) {
        self.name = name
        self.sentence = sentence
    }
}

/// The place of a credentials change among the project's events.
package struct CredentialsWrite: Hashable, Sendable {
    /// The version of the project's stream before the write.
    package let version: Int64
    /// The version at which the app was added. Credentials written before then belonged to an app that was removed.
    package let appSince: Int64
    /// Whether an earlier attempt may already have made the change.
    package let isRepetition: Bool

    package init(version: Int64, appSince: Int64, isRepetition: Bool = false) {
        self.version = version
        self.appSince = appSince
        self.isRepetition = isRepetition
    }
}

/// Credentials as stored: the encrypted secrets, and separately the parts that may be shown.
package struct SealedCredentials: Hashable, Sendable {
    package let app: StoreApp
    package let sealed: [UInt8]
    /// The name of the installation's key that decrypts them.
    package let keyName: [UInt8]
    package let status: CredentialsStatus
    /// A number that increases with every change.
    package let revision: Int64
    /// The version of the project's stream before the latest change.
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
