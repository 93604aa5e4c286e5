import Core
import Synchronization
import Testing

@testable import Service

/// Tests how expensive an attempt to sign in is, without a database.
@Suite("What signing in costs")
struct SignInTests {
    /// One person. The hash of the person's password is the password itself.
    private final class Kept: PasswordKeeping, SessionKeeping, SecondFactorKeeping,
        SecondFactorSealing
    {
        let opened = Mutex<[OpenedSession]>([])

        func password(of email: EmailAddress) throws(Fault) -> KnownPassword? {
            guard email.text == "ann@example.com" else { return nil }
            return KnownPassword(
                person: PersonID(prefix: "pe_", random: "ann"),
                kept: KeptPassword(salt: [1], stretched: Array("right".utf8), cost: 15),
                hasSecondFactor: false)
        }
        func email(
            behindLink digest: [UInt8], at now: Instant
        ) throws(Fault) -> EmailAddress? { nil }
        func keep(
            _ password: KeptPassword, byLink digest: [UInt8], at now: Instant
        ) throws(Fault) -> Bool { false }
        func countTries(
            of tried: Tried, at now: Instant, since start: Instant
        ) throws(Fault) -> Tries { Tries(count: 1, since: now) }
        func forgetTries(of digest: [UInt8]) throws(Fault) {}
        func begin(
            _ begun: BegunSignIn, at now: Instant, since bound: Instant
        ) throws(Fault) {}
        func begun(_ digest: [UInt8], since bound: Instant) throws(Fault) -> BegunSignIn? { nil }
        func open(_ session: OpenedSession, _ bounds: SessionBounds) throws(Fault) -> Bool {
            opened.withLock { $0.append(session) }
            return true
        }
        func session(
            _ digest: [UInt8], at now: Instant, _ bounds: SessionBounds
        ) throws(Fault) -> SignedIn? { nil }
        func endSession(_ digest: [UInt8]) throws(Fault) {}
        func endSessions(of person: PersonID) throws(Fault) {}

        // The person has no second factor.
        func secondFactors(of person: PersonID?) throws(Fault) -> [SealedFactor] { [] }
        func put(
            _ factor: SealedFactor, emergencyCodes: [[UInt8]], in session: [UInt8]
        ) throws(Fault) -> Bool { false }
        func putEmergencyCodes(_ digests: [[UInt8]], of person: PersonID) throws(Fault) {}
        func forgetSecondFactor(
            of person: PersonID, in session: [UInt8]?
        ) throws(Fault) -> Bool { false }
        func useCode(of step: Int64, _ factor: SealedFactor) throws(Fault) -> Bool { false }
        func useEmergencyCode(
            _ digest: [UInt8], of person: PersonID
        ) throws(Fault) -> Bool { false }
        func seal(_ secret: [UInt8], for place: String) throws(Fault) -> SealedSecret {
            SealedSecret(bytes: secret, keyName: [])
        }
        func open(_ sealed: [UInt8], for place: String) throws(Fault) -> [UInt8]? { sealed }
        func code(of step: Int64, _ secret: [UInt8]) -> String { "" }

        func signIns(_ secrets: Secrets) -> SignIns {
            let now: @Sendable () -> Instant = { Instant(milliseconds: 1) }
            let factors = SecondFactors(
                keeping: self, sealing: self, secrets: secrets, machineClock: now)
            return SignIns(self, self, secrets, factors, machineClock: now)
        }
    }

    @Test("An unknown address costs one stretching, as a known one does")
    func cost() throws {
        let kept = Kept()
        let count = Atomic(0)
        let secrets = Secrets(
            randomBytes: { Array(repeating: 7, count: $0) },
            digest: { bytes in Array((bytes + Array(repeating: 0, count: 32)).prefix(32)) },
            stretch: { password, _, _ in
                count.add(1, ordering: .relaxed)
                return password
            })
        let signIns = kept.signIns(secrets)
        for (email, password, outcome) in [
            ("ann@example.com", "wrong", SignInOutcome.wrong),
            ("bob@example.com", "right", .wrong), ("no address", "right", .wrong),
            ("", "", .wrong),
        ] {
            count.store(0, ordering: .relaxed)
            #expect(try signIns.signIn(email, password, from: "") == outcome)
            #expect(count.load(ordering: .relaxed) == 1, "\(email)")
        }
        guard case .signedIn = try signIns.signIn("ANN@example.com", "right", from: "") else {
            Issue.record("the right password was refused")
            return
        }
        #expect(kept.opened.withLock { $0.count } == 1)
        // Without a valid link, Deed does not hash the password.
        count.store(0, ordering: .relaxed)
        #expect(try signIns.choose("a long password", byLink: "x") == .linkOver)
        #expect(count.load(ordering: .relaxed) == 0)
    }

    @Test("Without memory to check a password, signing in fails and can be tried again")
    func memory() throws {
        let kept = Kept()
        let hasMemory = Mutex(false)
        let secrets = Secrets(
            randomBytes: { Array(repeating: 7, count: $0) },
            digest: { bytes in Array((bytes + Array(repeating: 0, count: 32)).prefix(32)) },
            stretch: { password, _, _ in hasMemory.withLock { $0 } ? password : nil })
        let signIns = kept.signIns(secrets)
        #expect(throws: Fault.broken("there is not enough memory to check a password")) {
            try signIns.signIn("ann@example.com", "right", from: "")
        }
        hasMemory.withLock { $0 = true }
        guard case .signedIn = try signIns.signIn("ann@example.com", "right", from: "") else {
            Issue.record("the right password was refused")
            return
        }
    }

    @Test("An address is one that can receive mail, in lower case")
    func addresses() {
        #expect(EmailAddress("Ann@Example.COM")?.text == "ann@example.com")
        for text in ["", "ann", "@", "a@", "@b", "a@b@c", "a b@c", "a@b\n", "a@\u{202E}b c"] {
            #expect(EmailAddress(text) == nil, "\(text)")
        }
        #expect(EmailAddress(String(repeating: "a", count: 250) + "@b.de") == nil)
    }
}
