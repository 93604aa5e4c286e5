package import Core
import Synchronization

/// The outcome of an attempt to sign in.
package enum SignInOutcome: Hashable, Sendable {
    /// The cookie's value. It cannot be retrieved again.
    case signedIn(String)
    /// The address or the password is wrong. The outcome does not reveal which.
    case wrong
    case tooManyTries
    /// Another person is being signed in.
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
    /// Only a few attempts are allowed from one address, so that passwords cannot be guessed. More
    /// are allowed in total, so that an attacker can hardly lock a person out.
    private static let triesOfPersonFromAddress: Int64 = 10
    private static let triesOfPerson: Int64 = 100
    private static let triesOfAddress: Int64 = 50
    private static let tryLife: Int64 = 15 * 60_000
    /// The cost of hashing a new password. The cost is stored with each password.
    package static let cost = 15

    private let passwords: any PasswordKeeping
    private let sessions: any SessionKeeping
    private let secrets: Secrets
    private let machineClock: @Sendable () -> Instant
    /// Hashing a password occupies a processor for a while, so an instance hashes only one at a time.
    private let isStretching = Mutex(false)

    init(
        _ passwords: any PasswordKeeping, _ sessions: any SessionKeeping, _ secrets: Secrets,
        machineClock: @escaping @Sendable () -> Instant
    ) {
        self.passwords = passwords
        self.sessions = sessions
        self.secrets = secrets
        self.machineClock = machineClock
    }

    /// Opens a session for the person with this password. A known address takes as much work as an
    /// unknown one.
    package func signIn(
        _ email: String, _ password: String, from address: String
    ) throws(Fault) -> SignInOutcome {
        // If other people are signing in at the moment, this does not count as an attempt.
        guard begin() else { return .busy }
        defer { end() }
        let now = machineClock()
        let name = secrets.triedName(email)
        let fromHere = Tried(digest: digest("\(name.hexDigits) from \(address)"), name: name)
        // Once one limit is exceeded, the later counters are not incremented.
        guard
            try isWithin(SignIns.triesOfAddress, Tried(digest: digest("address \(address)")), now),
            try isWithin(SignIns.triesOfPersonFromAddress, fromHere, now),
            try isWithin(SignIns.triesOfPerson, Tried(digest: name), now)
        else { return .tooManyTries }
        let known = try EmailAddress(email).flatMap { email throws(Fault) in
            try passwords.password(of: email)
        }
        let kept = known?.kept
        // Even if there is no such person, a password is hashed, but it can never match.
        let stretched = try stretch(
            password, kept?.salt ?? Array(name.prefix(16)), kept?.cost ?? SignIns.cost)
        guard let known, fits(stretched, known.kept.stretched) else { return .wrong }
        let token = secrets.randomText(bytes: 25)
        try sessions.open(
            OpenedSession(
                digest: digest(token), person: known.person, stretched: stretched, at: now),
            SessionBounds(at: now))
        try passwords.forgetTries(of: fromHere.digest)
        return .signedIn(token)
    }

    /// The person signed in with this cookie.
    package func session(_ token: String) throws(Fault) -> SignedIn? {
        let now = machineClock()
        return try sessions.session(digest(token), at: now, SessionBounds(at: now))
    }

    package func signOut(_ token: String) throws(Fault) {
        try sessions.endSession(digest(token))
    }

    /// The address of the person whose link ends with this secret, as long as the link is valid.
    package func email(behindLink secret: String) throws(Fault) -> EmailAddress? {
        try passwords.email(behindLink: digest(secret), at: machineClock())
    }

    /// Sets the password, which uses up the link and ends all of the person's sessions.
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
        // Failed attempts with the previous password must not block the new one.
        try passwords.forgetTries(of: secrets.triedName(email.text))
        return .chosen
    }

    /// Counts one more attempt.
    private func isWithin(_ limit: Int64, _ tried: Tried, _ now: Instant) throws(Fault) -> Bool {
        let start = now.advanced(byMilliseconds: -SignIns.tryLife)
        return try passwords.countTries(of: tried, at: now, since: start) <= limit
    }

    /// A token for forms, which only pages of this session know.
    package func formToken(of token: String) -> String { digest("form \(token)").hexDigits }

    /// A unique text for a form that must be processed only once.
    package func newMark() -> String { secrets.randomText(bytes: 15) }

    private func digest(_ text: String) -> [UInt8] { secrets.digest(Array(text.utf8)) }

    /// Returns false while another password is being hashed.
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

extension Secrets {
    /// The digest under which attempts to sign in with a name are counted.
    func triedName(_ email: String) -> [UInt8] {
        digest(Array("person \(email.lowercased())".utf8))
    }
}

/// Compares two digests in a time that depends only on their lengths.
private func fits(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    if one.count != other.count { return false }
    var difference: UInt8 = 0
    for place in one.indices { difference |= one[place] ^ other[place] }
    return difference == 0
}
