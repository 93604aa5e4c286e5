package import Core
import Synchronization

/// The outcome of an attempt to sign in.
package enum SignInOutcome: Hashable, Sendable {
    /// The value of the session's cookie, which cannot be retrieved again.
    case signedIn(String)
    /// The password is right, but a code is missing. The value belongs to another cookie, which leads to a session once
    /// the person enters a code.
    case needsCode(String)
    /// The address, the password or the code is wrong. The outcome does not say which.
    case wrong
    /// The password was entered too long ago, or has changed since.
    case over
    case tooManyTries
    /// Too many codes were tried for a person whose password was right.
    case tooManyCodes(PersonID)
    /// Another person is signing in at the same time.
    case busy
}

/// The outcome of choosing a password.
package enum ChoiceOutcome: Hashable, Sendable {
    case chosen
    case linkOver
    case tooShort
    case tooLong
    case busy
}

/// Signs people in and out.
package final class SignIns: Sendable {
    package static let passwordLengths = 12...256
    /// How long after the password a code is accepted, in milliseconds.
    private static let codeLife: Int64 = 5 * 60_000
    /// The cost of hashing a new password. The cost is stored with each password.
    package static let cost = 15

    private let passwords: any PasswordKeeping
    private let sessions: any SessionKeeping
    private let secrets: Secrets
    private let attempts: Attempts
    package let factors: SecondFactors
    private let machineClock: @Sendable () -> Instant
    /// Hashing a password occupies a processor for a while, so an instance hashes only one at a time.
    private let isStretching = Mutex(false)

    init(
        _ passwords: any PasswordKeeping, _ sessions: any SessionKeeping, _ secrets: Secrets,
        _ factors: SecondFactors, machineClock: @escaping @Sendable () -> Instant
    ) {
        self.passwords = passwords
        self.sessions = sessions
        self.secrets = secrets
        self.factors = factors
        self.machineClock = machineClock
        attempts = Attempts(passwords: passwords, secrets: secrets)
    }

    /// Opens a session for the person with this password, or begins a sign-in that needs a code. An
    /// unknown address takes as much work as a known one.
    package func signIn(
        _ email: String, _ password: String, from address: String
    ) throws(Fault) -> SignInOutcome {
        let known: Known
        switch try check(email, password, from: address) {
        case .refused(let outcome): return outcome
        case .right(let found): known = found
        }
        let (token, now) = (newToken(), machineClock())
        if known.hasSecondFactor, let email = EmailAddress(email) {
            let begun = BegunSignIn(
                digest: digest(token), person: known.person, email: email,
                stretched: known.stretched)
            try sessions.begin(begun, at: now, since: SignIns.codeBound(now))
            return .needsCode(token)
        }
        let session = OpenedSession(
            digest: digest(token), person: known.person, stretched: known.stretched, at: now)
        guard try sessions.open(session, SessionBounds(at: now)) else { return .wrong }
        try attempts.forget(secrets.triedName(email), from: address)
        return .signedIn(token)
    }

    /// Returns whether the sign-in with this cookie is still waiting for a code.
    package func awaitsCode(_ begun: String) throws(Fault) -> Bool {
        try sessions.begun(digest(begun), since: SignIns.codeBound(machineClock())) != nil
    }

    /// Opens a session for a person who entered the right password earlier and now enters a code.
    package func finish(
        _ begun: String, _ code: String, from address: String
    ) throws(Fault) -> SignInOutcome {
        let now = machineClock()
        guard let begun = try sessions.begun(digest(begun), since: SignIns.codeBound(now)) else {
            return .over
        }
        let name = secrets.triedName(begun.email.text)
        if let refusal = try refusal(of: code, by: begun.person, name, at: now) { return refusal }
        let token = newToken()
        let session = OpenedSession(
            digest: digest(token), person: begun.person, stretched: begun.stretched, at: now,
            begun: begun.digest)
        guard try sessions.open(session, SessionBounds(at: now)) else { return .over }
        try attempts.forget(name, from: address)
        return .signedIn(token)
    }

    /// Asks a person who is signed in for the password again, and for a code if the person has a
    /// second factor. Returns `nil` if both are right.
    package func confirm(
        _ signedIn: SignedIn, _ password: String, _ code: String, from address: String
    ) throws(Fault) -> SignInOutcome? {
        let email = signedIn.email.text
        let known: Known
        switch try check(email, password, from: address) {
        case .refused(let outcome): return outcome
        case .right(let found): known = found
        }
        let name = secrets.triedName(email)
        if known.hasSecondFactor,
            let refusal = try refusal(of: code, by: known.person, name, at: machineClock())
        {
            return refusal
        }
        try attempts.forget(name, from: address)
        return nil
    }

    private func refusal(
        of code: String, by person: PersonID, _ name: [UInt8], at now: Instant
    ) throws(Fault) -> SignInOutcome? {
        // Only short codes count as attempts. An emergency code must work even while someone else
        // is trying codes.
        if SecondFactors.isShort(code) {
            guard try attempts.permitCode(name, at: now) else { return .tooManyCodes(person) }
        }
        return try factors.accept(code, of: person) ? nil : .wrong
    }

    /// A person whose password was checked.
    private struct Known {
        let person: PersonID
        let stretched: [UInt8]
        let hasSecondFactor: Bool
    }

    private enum Checked {
        case right(Known)
        case refused(SignInOutcome)
    }

    private func check(
        _ email: String, _ password: String, from address: String
    ) throws(Fault) -> Checked {
        // Refused before it takes the only seat, which one address could otherwise keep from everyone else.
        if attempts.isExceeded(address, at: machineClock()) { return .refused(.tooManyTries) }
        // If another person is signing in right now, this attempt is not counted.
        guard begin() else { return .refused(.busy) }
        defer { end() }
        let name = secrets.triedName(email)
        guard try attempts.permit(name, from: address, at: machineClock()) else {
            return .refused(.tooManyTries)
        }
        let known = try EmailAddress(email).flatMap { email throws(Fault) in
            try passwords.password(of: email)
        }
        let kept = known?.kept
        // A password is hashed even for an unknown person, whom it can never match, so that both
        // take equally long.
        let stretched = try stretch(
            password, kept?.salt ?? Array(name.prefix(16)), kept?.cost ?? SignIns.cost)
        guard let known, fits(stretched, known.kept.stretched) else { return .refused(.wrong) }
        return .right(
            Known(
                person: known.person, stretched: stretched,
                hasSecondFactor: known.hasSecondFactor))
    }

    /// Returns the instant such that a sign-in begun at or before it has expired.
    private static func codeBound(_ now: Instant) -> Instant {
        now.advanced(byMilliseconds: -codeLife)
    }

    private func newToken() -> String { secrets.randomText(bytes: 25) }

    /// Returns the person signed in with this cookie.
    package func session(_ token: String) throws(Fault) -> SignedIn? {
        let now = machineClock()
        return try sessions.session(digest(token), at: now, SessionBounds(at: now))
    }

    package func signOut(_ token: String) throws(Fault) {
        try sessions.endSession(digest(token))
    }

    /// Returns the address of the person whose link ends with this secret, as long as the link is valid.
    package func email(behindLink secret: String) throws(Fault) -> EmailAddress? {
        try passwords.email(behindLink: digest(secret), at: machineClock())
    }

    /// Sets the password. This uses up the link and ends all of the person's sessions.
    package func choose(
        _ password: String, byLink secret: String
    ) throws(Fault) -> ChoiceOutcome {
        if password.count < SignIns.passwordLengths.lowerBound { return .tooShort }
        if password.utf8.count > SignIns.passwordLengths.upperBound { return .tooLong }
        // Strangers without a link must not be able to make Deed hash passwords.
        guard let email = try email(behindLink: secret) else { return .linkOver }
        guard begin() else { return .busy }
        defer { end() }
        let salt = secrets.randomBytes(16)
        let stretched = try stretch(password, salt, SignIns.cost)
        let isKept = try passwords.keep(
            KeptPassword(salt: salt, stretched: stretched, cost: SignIns.cost),
            byLink: digest(secret), at: machineClock())
        if !isKept { return .linkOver }
        // Failed attempts that were made with the old password must not block sign-ins with the new
        // one.
        try passwords.forgetTries(of: secrets.triedName(email.text))
        return .chosen
    }

    /// Returns a token for forms that only pages of this session know.
    package func formToken(of token: String) -> String { digest("form \(token)").hexDigits }

    /// Returns a unique string for a form that must be processed only once.
    package func newMark() -> String { secrets.randomText(bytes: 15) }

    private func digest(_ text: String) -> [UInt8] { secrets.digest(Array(text.utf8)) }

    /// Begins to hash a password. Returns false while another password is being hashed.
    private func begin() -> Bool {
        isStretching.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    private func end() { isStretching.withLock { $0 = false } }

    private func stretch(
        _ password: String, _ salt: [UInt8], _ cost: Int
    ) throws(Fault) -> [UInt8] {
        let bytes = Array(password.utf8.prefix(1024))
        guard let stretched = secrets.stretch(bytes, salt, cost) else {
            throw .broken("there is not enough memory to check a password")
        }
        return stretched
    }
}
