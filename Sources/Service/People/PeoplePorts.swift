package import Core

/// Stores people, outside the log.
package protocol PeopleKeeping: Sendable {
    /// Adds the person. Returns false if another person already has the address.
    func add(_ person: PersonID, _ email: EmailAddress, at now: Instant) throws(Fault) -> Bool
    /// Returns all people, sorted by address, or only the person with this address.
    func people(_ email: EmailAddress?) throws(Fault) -> [Person]
    /// Sets the person's role in the project; `nil` removes it.
    func put(_ role: Role?, of person: PersonID, in project: ProjectID) throws(Fault)
    func remove(_ person: PersonID) throws(Fault)
    /// Stores a link, which replaces any earlier one. Deletes the password and ends all sessions.
    func putLink(_ digest: [UInt8], of person: PersonID, until end: Instant) throws(Fault)
}

/// Stores sign-in credentials.
package protocol PasswordKeeping: Sendable {
    func password(of email: EmailAddress) throws(Fault) -> KnownPassword?
    /// Returns the address of the person with this link, as long as the link is valid.
    func email(behindLink digest: [UInt8], at now: Instant) throws(Fault) -> EmailAddress?
    /// Deletes the link, stores the password and ends all sessions. Returns false if the link does not exist.
    func keep(
        _ password: KeptPassword, byLink digest: [UInt8], at now: Instant
    ) throws(Fault) -> Bool
    /// Counts another attempt, and returns the attempts since `start`.
    func countTries(of tried: Tried, at now: Instant, since start: Instant) throws(Fault) -> Tries
    /// Deletes the attempts counted under this digest. If the digest stands for a name, also
    /// deletes the attempts counted for that name from each address.
    func forgetTries(of digest: [UInt8]) throws(Fault)
}

/// Stores sessions, and sign-ins that have begun.
package protocol SessionKeeping: Sendable {
    /// Begins a sign-in, and removes sign-ins that began at `bound` or earlier.
    func begin(_ begun: BegunSignIn, at now: Instant, since bound: Instant) throws(Fault)
    /// Returns the begun sign-in with this digest, unless it began at `bound` or earlier.
    func begun(_ digest: [UInt8], since bound: Instant) throws(Fault) -> BegunSignIn?
    /// Opens a session, and removes expired ones. Returns false if the password has changed, or if
    /// a person with a second factor gave no code.
    func open(_ session: OpenedSession, _ bounds: SessionBounds) throws(Fault) -> Bool
    /// Returns the person signed in with this session; `nil` if it has expired. Also records the use of the session.
    func session(
        _ digest: [UInt8], at now: Instant, _ bounds: SessionBounds
    ) throws(Fault) -> SignedIn?
    func endSession(_ digest: [UInt8]) throws(Fault)
    func endSessions(of person: PersonID) throws(Fault)
}

/// Stores second factors.
package protocol SecondFactorKeeping: Sendable {
    /// Returns one person's second factor, or everyone's.
    func secondFactors(of person: PersonID?) throws(Fault) -> [SealedFactor]
    /// Replaces the person's second factor and emergency codes, and ends all sessions except the given one. Returns
    /// false if that session is over, or if a code of this step or a later one was already accepted.
    func put(
        _ factor: SealedFactor, emergencyCodes: [[UInt8]], in session: [UInt8]
    ) throws(Fault) -> Bool
    /// Replaces the emergency codes of a person with a second factor. The codes are given as digests.
    func putEmergencyCodes(_ digests: [[UInt8]], of person: PersonID) throws(Fault)
    /// Removes the second factor with its emergency codes. Returns false, and keeps it, if the requesting session was
    /// opened without a code.
    func forgetSecondFactor(of person: PersonID, in session: [UInt8]?) throws(Fault) -> Bool
    /// Records that a code of the step was accepted. Returns false if the second factor has
    /// changed, or if a code of this step or a later one was already accepted.
    func useCode(of step: Int64, _ factor: SealedFactor) throws(Fault) -> Bool
    /// Removes the emergency code with this digest. Returns false if no such code exists.
    func useEmergencyCode(_ digest: [UInt8], of person: PersonID) throws(Fault) -> Bool
}

/// Seals the secrets of second factors, and derives codes from them.
package protocol SecondFactorSealing: Sendable {
    /// Seals a secret for a place. Only a call for the same place can open it.
    func seal(_ secret: [UInt8], for place: String) throws(Fault) -> SealedSecret
    /// Returns the opened secret; `nil` if none of the installation's keys opens it for the place.
    func open(_ sealed: [UInt8], for place: String) throws(Fault) -> [UInt8]?
    /// Returns the code for a time step, as defined in RFC 6238.
    func code(of step: Int64, _ secret: [UInt8]) -> String
}
