/// Someone who uses the console.
package struct Person: Hashable, Sendable {
    package let id: PersonID
    package let email: EmailAddress
    package let createdAt: Instant
    /// Whether the person has chosen a password.
    package let hasPassword: Bool
    /// When the person's browser last asked for a page; `nil` if the person is not signed in.
    package let lastSeen: Instant?
    package var roles: [PersonRole]

    package init(
        id: PersonID, email: EmailAddress, createdAt: Instant, hasPassword: Bool,
        lastSeen: Instant?, roles: [PersonRole]
    ) {
        self.id = id
        self.email = email
        self.createdAt = createdAt
        self.hasPassword = hasPassword
        self.lastSeen = lastSeen
        self.roles = roles
    }
}

/// What a person may do in a project, as a key of that role may.
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

/// An e-mail address in lower case, by which a person signs in.
package struct EmailAddress: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// `nil` unless it looks like an address. What lies before the `@` is the mail server's affair.
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

/// A person in a browser that is signed in.
package struct SignedIn: Hashable, Sendable {
    package let person: PersonID
    package let email: EmailAddress
    package let roles: [PersonRole]

    package init(person: PersonID, email: EmailAddress, roles: [PersonRole]) {
        self.person = person
        self.email = email
        self.roles = roles
    }

    package func role(in project: ProjectID) -> Role? {
        roles.first { $0.project == project }?.role
    }
}

/// A session as it is stored.
package struct OpenedSession: Hashable, Sendable {
    /// SHA-256 of the cookie.
    package let digest: [UInt8]
    package let person: PersonID
    /// What was made of the password that was checked.
    package let stretched: [UInt8]
    package let at: Instant

    package init(digest: [UInt8], person: PersonID, stretched: [UInt8], at: Instant) {
        self.digest = digest
        self.person = person
        self.stretched = stretched
        self.at = at
    }
}

/// When sessions are over: after some time without use, and after some time in any case.
package struct SessionBounds: Hashable, Sendable {
    private static let idle: Int64 = 30 * 60_000
    private static let longest: Int64 = 12 * 3_600_000

    /// Sessions that started then or earlier are over.
    package let started: Instant
    /// Sessions last used then or earlier are over.
    package let seen: Instant

    package init(at now: Instant) {
        started = now.advanced(byMilliseconds: -SessionBounds.longest)
        seen = now.advanced(byMilliseconds: -SessionBounds.idle)
    }
}

/// A password as it is stored.
package struct KeptPassword: Hashable, Sendable {
    package let salt: [UInt8]
    /// What scrypt makes of the password and the salt.
    package let stretched: [UInt8]
    /// What that cost, as the binary logarithm of scrypt's `N`. It is kept so that new passwords can
    /// cost more one day.
    package let cost: Int

    package init(salt: [UInt8], stretched: [UInt8], cost: Int) {
        self.salt = salt
        self.stretched = stretched
        self.cost = cost
    }
}

/// Something whose tries to sign in are counted, as a digest.
package struct Tried: Hashable, Sendable {
    package let digest: [UInt8]
    /// Of a name that is tried from an address, the digest of the name.
    package let name: [UInt8]?

    package init(digest: [UInt8], name: [UInt8]? = nil) {
        self.digest = digest
        self.name = name
    }
}
