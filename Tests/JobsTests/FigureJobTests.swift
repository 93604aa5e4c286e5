import Core
import Ledger
import TestSupport
import Testing

@testable import Jobs

@Suite("The job that counts figures", .timeLimit(.minutes(20)))
struct FigureJobTests {
    private let service: TestService
    private let ledger: Ledger

    init() throws {
        service = try TestService()
        ledger = service.database.ledger(clock: service.clock.reading)
    }

    private func run(while goesOn: @escaping @Sendable () -> Bool = { true }) throws {
        let run = Run(startedAt: service.clock.now, lease: nil, isWanted: goesOn)
        _ = try Job.figures(ledger).work(run)
    }

    private func figures() throws -> ProjectFigures? {
        try ledger.figures(FigureScope(ProjectID("default"), .production))
    }

    @Test("It is due once an hour, on one instance")
    func hourly() {
        guard case .once(let milliseconds) = Job.figures(ledger).schedule else {
            Issue.record("it runs on every instance")
            return
        }
        #expect(milliseconds == 3_600_000)
    }

    @Test("A customer whose rows are damaged is left out and named, and all others are counted")
    func damaged() throws {
        defer { ledger.close() }
        for customer in ["u1", "u2", "u3"] {
            _ = try ledger.append(.give("pro", to: .test(customer), grant: "g-\(customer)"))
        }
        try service.database.run(
            "update deed.customers set runs = '{\"pro\":\"x\"}' where customer = 'u2'")
        try run()
        #expect(try figures()?.entitlements == ["pro": .init(now: 2)])
        #expect(ledger.unreadStreams.map(\.subject.customer) == ["u2"])
    }

    @Test("It counts as of its beginning; what was interrupted is not kept")
    func interrupted() throws {
        defer { ledger.close() }
        try run { false }
        #expect(try figures() == nil)
        _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g1"))
        try run()
        let first = try #require(try figures())
        #expect(first.at == service.clock.now && first.entitlements == ["pro": .init(now: 1)])
        service.clock.advance(byMilliseconds: 3_600_000)
        try run { false }
        #expect(try figures() == first)
        try run()
        #expect(try figures()?.at == service.clock.now)
    }
}
