import Core
import Ledger
import Postgres
import SQL
import TestSupport
import Testing

@Suite("People and the test clock over a connection that loses commits")
struct PeopleLossTests {
    private let database: ScratchDatabase
    private let proxy: PostgresProxy
    private let ledger: Ledger
    private let now = Instant(milliseconds: 1_795_202_460_000)
    private let person = PersonID(prefix: "pe_", random: "ann")
    private let email: EmailAddress
    private let link: [UInt8]
    private let session: [UInt8]
    private let password: KeptPassword
    private let factor: SealedFactor

    init() throws {
        database = try ScratchDatabase()
        proxy = try PostgresProxy(database.url)
        let url = proxy.url
        ledger = database.ledger(change: { $0.connection.url = url })
        email = try #require(EmailAddress("ann@example.com"))
        (link, session) = (Self.bytes(1), Self.bytes(2))
        password = KeptPassword(salt: Self.bytes(3, 16), stretched: Self.bytes(4), cost: 15)
        factor = SealedFactor(
            person: person,
            secret: SealedSecret(bytes: Self.bytes(5, 40), keyName: Self.bytes(6, 8)), step: 7)
    }

    private static func bytes(_ byte: UInt8, _ count: Int = 32) -> [UInt8] {
        [UInt8](repeating: byte, count: count)
    }

    private var later: Instant { now.advanced(byMilliseconds: 60_000) }

    private func putLink() throws { try ledger.putLink(link, of: person, until: later) }

    private func open(_ digest: [UInt8], begun: [UInt8]? = nil) throws -> Bool {
        try ledger.open(
            OpenedSession(
                digest: digest, person: person, stretched: password.stretched, at: now,
                begun: begun), SessionBounds(at: now))
    }

    /// Carries out what changes something, and loses its statement once. Expects its author to learn that it was done.
    private func lose(
        _ loss: PostgresProxy.Loss, of statement: Statement, by act: () throws -> Bool
    ) throws {
        proxy.lose(loss, of: statement)
        let isDone = try act()
        #expect(isDone, "\(statement.name)")
        #expect(proxy.left == 0, "\(statement.name)")
    }

    private func count(_ table: String) throws -> Int64 {
        try database.number("select count(*) from deed.\(table)")
    }

    @Test(
        "What was done before the reply was lost is done once, and counts as done",
        arguments: PostgresProxy.Loss.allCases)
    func repeated(_ loss: PostgresProxy.Loss) throws {
        try lose(loss, of: .addPerson) { try ledger.add(person, email, at: now) }
        try putLink()
        try lose(loss, of: .usePersonLink) {
            try ledger.keep(password, byLink: link, at: now)
        }
        #expect(try ledger.password(of: email)?.kept == password)
        try lose(loss, of: .openSession) { try open(session) }
        let codes = [Self.bytes(10), Self.bytes(11)]
        try lose(loss, of: .putSecondFactor) {
            try ledger.put(factor, emergencyCodes: codes, in: session)
        }
        #expect(try ledger.secondFactors(of: person).first?.emergencyCodes == 2)
        try lose(loss, of: .putEmergencyCodes) {
            try ledger.putEmergencyCodes([Self.bytes(12)], of: person)
            return try count("emergency_codes") == 1
        }
        let begun = BegunSignIn(
            digest: Self.bytes(13), person: person, email: email, stretched: password.stretched)
        let bound = now.advanced(byMilliseconds: -60_000)
        try lose(loss, of: .beginSignIn) {
            try ledger.begin(begun, at: now, since: bound)
            return try count("begun_sign_ins") == 1
        }
        try lose(loss, of: .openSession) { try open(Self.bytes(14), begun: begun.digest) }
        let sealed = SealedSecret(bytes: Self.bytes(15, 40), keyName: Self.bytes(16, 8))
        try lose(loss, of: .resealSecondFactor) { try ledger.reseal(factor, as: sealed) }
        #expect(try ledger.secondFactors(of: person).map(\.secret) == [sealed])
        #expect(try count("people") == 1 && count("sessions") == 2)
    }

    /// Gives the person a password, a session, and a second factor with one emergency code.
    private func prepare() throws {
        #expect(try ledger.add(person, email, at: now))
        try putLink()
        #expect(try ledger.keep(password, byLink: link, at: now))
        #expect(try open(session))
        #expect(try ledger.put(factor, emergencyCodes: [Self.bytes(10)], in: session))
    }

    @Test("What someone else did in the meantime is not mistaken for one's own")
    func others() throws {
        try prepare()
        #expect(try !ledger.add(PersonID(prefix: "pe_", random: "bob"), email, at: now))
        let other = KeptPassword(salt: Self.bytes(30, 16), stretched: password.stretched, cost: 15)
        #expect(try !ledger.keep(other, byLink: link, at: now))
        let sameStep = SealedFactor(
            person: person,
            secret: SealedSecret(bytes: Self.bytes(31, 40), keyName: Self.bytes(6, 8)),
            step: factor.step)
        #expect(try !ledger.put(sameStep, emergencyCodes: [], in: session))
        #expect(try ledger.secondFactors(of: person).first?.emergencyCodes == 1)
        #expect(try !ledger.reseal(sameStep, as: SealedSecret(bytes: [], keyName: [])))
    }

    @Test(
        "A code whose use was lost counts as neither right nor wrong",
        arguments: PostgresProxy.Loss.allCases)
    func unknown(_ loss: PostgresProxy.Loss) throws {
        try prepare()
        let (isLeft, code) = (loss == .command, Self.bytes(10))
        proxy.lose(loss, of: .useCode)
        #expect(throws: Fault.unavailable) { try ledger.useCode(of: 8, factor) }
        #expect(try ledger.useCode(of: 8, factor) == isLeft)
        proxy.lose(loss, of: .useEmergencyCode)
        #expect(throws: Fault.unavailable) { try ledger.useEmergencyCode(code, of: person) }
        #expect(try ledger.useEmergencyCode(code, of: person) == isLeft)
        proxy.lose(loss, of: .forgetSecondFactor)
        #expect(throws: Fault.unavailable) {
            try ledger.forgetSecondFactor(of: person, in: session)
        }
        #expect(try ledger.forgetSecondFactor(of: person, in: session) == isLeft)
        #expect(proxy.left == 0)
    }

    @Test(
        "The test clock does not advance twice, and its target is reached once",
        arguments: PostgresProxy.Loss.allCases)
    func clock(_ loss: PostgresProxy.Loss) throws {
        var settings = database.settings()
        settings.url = proxy.url
        let clock = TestClockTable(settings)
        try clock.mark(at: now)
        proxy.lose(loss, of: .moveTestClock)
        #expect(throws: Fault.unavailable) { try clock.move(to: later, from: now) }
        #expect(try clock.read() == (loss == .reply ? later : now))
        proxy.lose(loss, of: .moveTestClock)
        let isMoved = try clock.move(to: later.advanced(byMilliseconds: 1), from: nil)
        #expect(isMoved && proxy.left == 0)
    }
}
