import Core
import Synchronization
import Testing

@testable import Service

/// What a try to sign in costs, without a database.
@Suite("What signing in costs")
struct SignInTests {
    /// One person, whose password is stretched to itself.
    private final class Kept: PasswordKeeping, SessionKeeping {
        let opened = Mutex<[OpenedSession]>([])

        func password(
            of email: EmailAddress
        ) throws(Fault) -> (person: PersonID, kept: KeptPassword)? {
            guard email.text == "ann@example.com" else { return nil }
            return (
                PersonID(prefix: "pe_", random: "ann"),
                KeptPassword(salt: [1], stretched: Array("right".utf8), cost: 15)
            )
        }
        func email(
            behindLink digest: [UInt8], at now: Instant
        ) throws(Fault) -> EmailAddress? { nil }
        func keep(
            _ password: KeptPassword, byLink digest: [UInt8], at now: Instant
        ) throws(Fault) -> Bool { false }
        func countTries(
            of tried: Tried, at now: Instant, since start: Instant
        ) throws(Fault) -> Int64 { 1 }
        func forgetTries(of digest: [UInt8]) throws(Fault) {}
        func open(_ session: OpenedSession, _ bounds: SessionBounds) throws(Fault) {
            opened.withLock { $0.append(session) }
        }
        func session(
            _ digest: [UInt8], at now: Instant, _ bounds: SessionBounds
        ) throws(Fault) -> SignedIn? { nil }
        func endSession(_ digest: [UInt8]) throws(Fault) {}
        func endSessions(of person: PersonID) throws(Fault) {}
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
        let signIns = SignIns(kept, kept, secrets) { Instant(milliseconds: 1) }
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
        // Without a link, nothing is stretched.
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
        let signIns = SignIns(kept, kept, secrets) { Instant(milliseconds: 1) }
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
