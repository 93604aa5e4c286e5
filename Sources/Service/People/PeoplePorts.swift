package import Core

/// Stores people, outside the log.
package protocol PeopleKeeping: Sendable {
    /// False if another person has the address.
    func add(_ person: PersonID, _ email: EmailAddress, at now: Instant) throws(Fault) -> Bool
    /// All people by address, or the one with this address.
    func people(_ email: EmailAddress?) throws(Fault) -> [Person]
    /// Sets the person's role in the project; `nil` removes it.
    func put(_ role: Role?, of person: PersonID, in project: ProjectID) throws(Fault)
    func remove(_ person: PersonID) throws(Fault)
    /// Replaces an earlier link, forgets the password, and ends every session.
    func putLink(_ digest: [UInt8], of person: PersonID, until end: Instant) throws(Fault)
}

/// Stores sign-in credentials.
package protocol PasswordKeeping: Sendable {
    func password(of email: EmailAddress) throws(Fault) -> (person: PersonID, kept: KeptPassword)?
    /// The address of the person with this link, if the link is valid.
    func email(behindLink digest: [UInt8], at now: Instant) throws(Fault) -> EmailAddress?
    /// Deletes the link, keeps the password and ends every session. False if there is no such link.
    func keep(
        _ password: KeptPassword, byLink digest: [UInt8], at now: Instant
    ) throws(Fault) -> Bool
    /// Counts another attempt, and returns how many there were since `start`.
    func countTries(of tried: Tried, at now: Instant, since start: Instant) throws(Fault) -> Int64
    /// Forgets the attempts under this digest. If it is a name's, also forgets those from each address.
    func forgetTries(of digest: [UInt8]) throws(Fault)
}

/// Stores sessions.
package protocol SessionKeeping: Sendable {
    /// Opens a session, and removes ended ones.
    func open(_ session: OpenedSession, _ bounds: SessionBounds) throws(Fault)
    /// The person signed in with this session, unless it has ended. Notes the use.
    func session(
        _ digest: [UInt8], at now: Instant, _ bounds: SessionBounds
    ) throws(Fault) -> SignedIn?
    func endSession(_ digest: [UInt8]) throws(Fault)
    func endSessions(of person: PersonID) throws(Fault)
}
