/// A person who uses the console.
package struct Person: Hashable, Sendable {
    package let id: PersonID
    package let email: EmailAddress
    package let createdAt: Instant
    /// Whether the person has chosen a password.
    package let hasPassword: Bool
    package let hasSecondFactor: Bool
    /// When the person's browser last requested a page; `nil` while the person is signed out.
    package let lastSeen: Instant?
    package var roles: [PersonRole]

    package init(
        id: PersonID, email: EmailAddress, createdAt: Instant, hasPassword: Bool,
        hasSecondFactor: Bool, lastSeen: Instant?, roles: [PersonRole]
    ) {
        self.id = id
        self.email = email
        self.createdAt = createdAt
        self.hasPassword = hasPassword
        self.hasSecondFactor = hasSecondFactor
        self.lastSeen = lastSeen
        self.roles = roles
    }
}

/// A person's role in a project. It carries the same permissions as a key with that role.
package struct PersonRole: Hashable, Sendable {
    /// The roles that a person can have.
    package static let roles: [Role] = [.reader, .support, .admin]

    package let project: ProjectID
    package let role: Role

    package init(project: ProjectID, role: Role) {
        self.project = project
        self.role = role
    }
}

/// The e-mail address, in lower case, with which a person signs in.
package struct EmailAddress: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// `nil` unless the text looks like an address. The mail server judges the part before the `@`.
    package init?(_ text: String) {
        let lowered = text.lowercased()
        let parts = lowered.split(separator: "@", omittingEmptySubsequences: false)
        let isPlain = lowered.unicodeScalars.allSatisfy {
            $0.isPrintable && !$0.properties.isWhitespace
        }
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, isPlain,
            (3...254).contains(lowered.utf8.count)
        else { return nil }
        self.text = lowered
    }

    package var description: String { text }
}

/// A person who is signed in with a browser.
package struct SignedIn: Hashable, Sendable {
    package let person: PersonID
    package let email: EmailAddress
    package let hasSecondFactor: Bool
    package let roles: [PersonRole]

    package init(
        person: PersonID, email: EmailAddress, hasSecondFactor: Bool, roles: [PersonRole]
    ) {
        self.person = person
        self.email = email
        self.hasSecondFactor = hasSecondFactor
        self.roles = roles
    }

    package func role(in project: ProjectID) -> Role? {
        roles.first { $0.project == project }?.role
    }
}

/// A session as stored.
package struct OpenedSession: Hashable, Sendable {
    /// The SHA-256 of the cookie.
    package let digest: [UInt8]
    package let person: PersonID
    /// The scrypt hash of the password that was checked.
    package let stretched: [UInt8]
    package let at: Instant
    /// The digest of the pending sign-in that a code completed; `nil` if no code was given.
    package let begun: [UInt8]?

    package init(
        digest: [UInt8], person: PersonID, stretched: [UInt8], at: Instant, begun: [UInt8]? = nil
    ) {
        self.digest = digest
        self.person = person
        self.stretched = stretched
        self.at = at
        self.begun = begun
    }
}

/// The limits of a session: a shorter one since its last use, and a longer one since its start.
package struct SessionBounds: Hashable, Sendable {
    private static let idle: Int64 = 30 * 60_000
    private static let longest: Int64 = 12 * 3_600_000

    /// Sessions that started at or before this instant have expired.
    package let started: Instant
    /// Sessions that were last used at or before this instant have expired.
    package let seen: Instant

    package init(at now: Instant) {
        started = now.advanced(byMilliseconds: -SessionBounds.longest)
        seen = now.advanced(byMilliseconds: -SessionBounds.idle)
    }
}

/// A password as stored.
package struct KeptPassword: Hashable, Sendable {
    package let salt: [UInt8]
    /// The scrypt hash of the password and the salt.
    package let stretched: [UInt8]
    /// The cost of the hash, given as the binary logarithm of scrypt's `N`. It is stored with each
    /// password so that new passwords can use a higher cost later.
    package let cost: Int

    package init(salt: [UInt8], stretched: [UInt8], cost: Int) {
        self.salt = salt
        self.stretched = stretched
        self.cost = cost
    }
}

/// What is known about the person with an e-mail address during a sign-in.
package struct KnownPassword: Hashable, Sendable {
    package let person: PersonID
    package let kept: KeptPassword
    package let hasSecondFactor: Bool

    package init(person: PersonID, kept: KeptPassword, hasSecondFactor: Bool) {
        self.person = person
        self.kept = kept
        self.hasSecondFactor = hasSecondFactor
    }
}

/// The digest under which sign-in attempts are counted: of a name, of an address, or of both.
package struct Tried: Hashable, Sendable {
    package let digest: [UInt8]
    /// The digest of the name, if attempts are counted for a combination of name and address.
    package let name: [UInt8]?

    package init(digest: [UInt8], name: [UInt8]? = nil) {
        self.digest = digest
        self.name = name
    }
}

/// How often something was tried, and since when.
package struct Tries: Hashable, Sendable {
    package let count: Int64
    package let since: Instant

    package init(count: Int64, since: Instant) {
        self.count = count
        self.since = since
    }
}
