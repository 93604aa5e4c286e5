import Core
import Histories
import Testing

/// Tests `at`, the time that a read asks about, and `known`, the time of the knowledge that it uses.
@Suite("Two clocks")
struct TwoClockTests {
    /// Returns a month from day 0, recorded on day 1; its refund on day 10, recorded on day 12; a
    /// renewal on day 30, recorded late on day 33; and a grant from day 40 to day 50, recorded on
    /// day 40.
    private func history() throws -> [RecordedEvent] {
        var state = CustomerState()
        var history: [RecordedEvent] = []
        func record(_ events: [Event], on day: Int64) throws {
            for event in events {
                state.apply(event)
                history.append(try recorded(event, version: state.version, on: day))
            }
        }
        func record(_ facts: [TransactionFact], on day: Int64) throws {
            try record(
                state.decide(RecordFacts(Histories.facts(facts), catalog: shop)), on: day)
        }
        try record([transaction("1", "pro", .autoRenewable, at(0), to: at(30))], on: 1)
        try record(
            [
                transaction("1", "pro", .autoRenewable, at(0), to: at(30), signed: at(12)) {
                    $0.revocation = refund(at: at(10))
                }
            ], on: 12)
        try record([transaction("2", of: "1", "pro", .autoRenewable, at(30), to: at(60))], on: 33)
        try record(
            state.decide(
                GiveGrant(
                    grant: id("g"), entitlement: id("season"),
                    time: .from(at(40), until: .at(at(50))), reason: id("sorry"), ticket: nil),
                by: shop, now: at(40)), on: 40)
        return history
    }

    private func recorded(_ event: Event, version: Int64, on day: Int64) throws -> RecordedEvent {
        RecordedEvent(
            stream: Stream(
                project: id("default"), environment: .production, customer: id("anna")),
            version: version,
            position: Position(shard: Shard(number: 0), sequence: version), event: event,
            record: EventRecord(
                occurredAt: at(day), recordedAt: at(day), actor: id("test"), cause: "",
                catalogVersion: 1))
    }

    @Test(
        "What was believed then, and what is right by later knowledge",
        arguments: [
            // `at`, `known`, the entitlement, and the answer.
            (5, 0, "pro", "-"), (5, 1, "pro", "yes active 5.0"),
            (11, 11, "pro", "yes active 5.0"), (11, 12, "pro", "no revoked -8.0"),
            (9, 12, "pro", "yes active 5.0"), (31, 32, "pro", "no revoked -8.0"),
            (31, 33, "pro", "yes active 5.0"), (11, 99, "pro", "no upcoming 0.0"),
            (59, 40, "pro", "yes active 5.0"), (60, 99, "pro", "no expired 0.0"),
            (45, 39, "season", "-"), (45, 40, "season", "yes active 2.0"),
            (39, 40, "season", "no upcoming 0.0"), (50, 40, "season", "no expired -5.0"),
        ] as [(Int64, Int64, String, String)])
    func clocks(_ atDay: Int64, _ knownDay: Int64, _ entitlement: String, _ expected: String) throws
    {
        let state = CustomerState(folding: try history(), known: at(knownDay))
        let answer = state.entitlements(at: at(atDay), catalog: shop)[id(entitlement)]
        #expect(WorkedExample.text(answer) == expected)
    }

    @Test("A record at exactly that moment is known, and 1 ms earlier it is not")
    func boundary() throws {
        let history = try history()
        #expect(CustomerState(folding: history, known: at(1, -1)).version == 0)
        #expect(CustomerState(folding: history, known: at(1)).version == 1)
        #expect(CustomerState(folding: history).version == 4)
    }

    @Test("The catalog is that of the moment")
    func catalogOfThen() throws {
        let history = [
            try recorded(
                .projectCreated(ProjectCreated(project: id("default"))), version: 1, on: 0),
            try recorded(
                .catalogChanged(CatalogChanged(version: 1, catalog: shop)), version: 2, on: 3),
        ]
        #expect(ProjectState(folding: history, known: at(3, -1)).catalog == Catalog())
        let project = ProjectState(folding: history, known: at(3))
        #expect(project.catalog == shop)
        #expect(project.catalogVersion == 1)
    }
}
