package import Core

/// Stores people, outside the log.
package protocol PeopleKeeping: Sendable {
    /// Returns false if another person already has the address.
    func add(_ person: PersonID, _ email: EmailAddress, at now: Instant) throws(Fault) -> Bool
    /// All people, sorted by address, or only the person with this address.
    func people(_ email: EmailAddress?) throws(Fault) -> [Person]
    /// Sets the person's role in the project; `nil` removes it.
    func put(_ role: Role?, of person: PersonID, in project: ProjectID) throws(Fault)
    func remove(_ person: PersonID) throws(Fault)
    /// Stores a link, which replaces any earlier one. Deletes the password and ends all sessions.
    func putLink(_ digest: [UInt8], of person: PersonID, until end: Instant) throws(Fault)
}

/// Stores sign-in credentials.
package protocol PasswordKeeping: Sendable {
    func password(of email: EmailAddress) throws(Fault) -> (person: PersonID, kept: KeptPassword)?
    /// The address of the person with this link, if the link is valid.
    func email(behindLink digest: [UInt8], at now: Instant) throws(Fault) -> EmailAddress?
    /// Deletes the link, stores the password and ends all sessions. Returns false if there is no
    /// such link.
    func keep(
        _ password: KeptPassword, byLink digest: [UInt8], at now: Instant
    ) throws(Fault) -> Bool
    /// Counts another attempt, and returns the number of attempts since `start`.
    func countTries(of tried: Tried, at now: Instant, since start: Instant) throws(Fault) -> Int64
    /// Deletes the attempts counted under this digest. If it is the digest of a name, also deletes the attempts counted
    /// for that name from each address.
    func forgetTries(of digest: [UInt8]) throws(Fault)
}

/// Stores sessions.
package protocol SessionKeeping: Sendable {
    /// Opens a session, and removes expired ones.
    func open(_ session: OpenedSession, _ bounds: SessionBounds) throws(Fault)
    /// The person signed in with this session; `nil` if it has expired. Also records the use.
    func session(
        _ digest: [UInt8], at now: Instant, _ bounds: SessionBounds
    ) throws(Fault) -> SignedIn?
    func endSession(_ digest: [UInt8]) throws(Fault)
    func endSessions(of person: PersonID) throws(Fault)
}
