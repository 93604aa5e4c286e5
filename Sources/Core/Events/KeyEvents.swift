/// Restrictions on a key, in addition to its role.
package struct KeyLimits: Hashable, Sendable {
    package var expires: Instant?
    /// The only environment in which the key may be used; `nil` for both.
    package var environment: Environment?

    package init(expires: Instant? = nil, environment: Environment? = nil) {
        self.expires = expires
        self.environment = environment
    }

    package func hasExpired(at now: Instant) -> Bool { expires.map { $0 <= now } ?? false }
}

/// A key got an expiration time because another key replaces it.
package struct KeyRotated: EventContent {
    package let key: KeyID
    package let digest: String
    package let successor: KeyID
    package let expires: Instant
    package var subject: EventSubject { .key(digest: digest) }

    package init(key: KeyID, digest: String, successor: KeyID, expires: Instant) {
        self.key = key
        self.digest = digest
        self.successor = successor
        self.expires = expires
    }
}

extension EventType {
    static let keys: EventFamily = [
        .keyCreated: .ofProject("key.created", changesAnswers: false),
        .keyRevoked: .ofProject("key.revoked", changesAnswers: false),
        .keyRotated: .ofProject("key.rotated", changesAnswers: false),
    ]
}
