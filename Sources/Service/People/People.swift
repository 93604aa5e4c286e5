package import Core

/// A link with which a person can choose a password once.
package struct PersonLink: Sendable {
    package let person: Person
    /// The secret at the end of the link. It cannot be retrieved again.
    package let secret: String
    package let ends: Instant
}

/// Manages the people who use the console.
package struct People: Sendable {
    /// How long a link is valid, in milliseconds.
    private static let linkLife: Int64 = 3_600_000

    let keeping: any PeopleKeeping
    let passwords: any PasswordKeeping
    let sessions: any SessionKeeping
    let factors: SecondFactors
    let secrets: Secrets
    /// The real time, even under a test clock, because it protects access.
    let machineClock: @Sendable () -> Instant

    package func list() throws(Fault) -> [Person] { try keeping.people(nil) }

    package func find(_ email: EmailAddress) throws(Fault) -> Person? {
        try keeping.people(email).first
    }

    /// Adds a person with a role in a project. Returns `nil` if another person already has the
    /// address.
    package func create(
        _ email: EmailAddress, _ role: Role, in project: ProjectID
    ) throws(Fault) -> PersonLink? {
        let id: PersonID = secrets.newID(prefix: "pe_")
        guard try keeping.add(id, email, at: machineClock()) else { return nil }
        try keeping.put(role, of: id, in: project)
        return try find(email).map { person throws(Fault) in try link(of: person) }
    }

    /// Changes the person's role in a project, or removes it.
    package func put(
        _ role: Role?, of person: Person, in project: ProjectID
    ) throws(Fault) -> Person? {
        try keeping.put(role, of: person.id, in: project)
        return try find(person.email)
    }

    /// Creates a new link. The person's password, sessions and earlier link stop working immediately, and failed
    /// attempts no longer count. Can also remove a lost second factor.
    package func link(
        of person: Person, removingSecondFactor: Bool = false
    ) throws(Fault) -> PersonLink {
        let secret = secrets.randomText(bytes: 25)
        let ends = machineClock().advanced(byMilliseconds: People.linkLife)
        try keeping.putLink(secrets.digest(Array(secret.utf8)), of: person.id, until: ends)
        if removingSecondFactor { try factors.remove(of: person.id) }
        try passwords.forgetTries(of: secrets.triedName(person.email.text))
        return PersonLink(person: try find(person.email) ?? person, secret: secret, ends: ends)
    }

    /// Signs the person out of every browser.
    package func end(_ person: Person) throws(Fault) { try sessions.endSessions(of: person.id) }

    /// Removes the person. Events keep the id, which then no longer identifies anyone.
    package func remove(_ person: Person) throws(Fault) { try keeping.remove(person.id) }
}
