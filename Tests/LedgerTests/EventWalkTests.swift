import API
import Core
import Testing

@testable import Ledger

/// Walks the golden payloads of every type. `EventCodingTests` reads them back, `EventPageTests` finds each
/// type described.
@Suite("What is said of each type of event")
struct EventWalkTests {
    private static let samples =
        EventCodingTests.payloads + EventCodingTests.furtherPayloads
        + EventCodingTests.mergePayloads

    private func events(of type: EventType) throws -> [Event] {
        try EventWalkTests.samples.filter { $0.type == type.name }.map {
            try Event(type: $0.type, format: $0.format, payload: $0.payload)
        }
    }

    private func recorded(_ event: Event) throws -> RecordedEvent {
        let now = Instant(milliseconds: 1_795_202_460_000)
        let shard = try #require(Position("0:1")).shard
        return RecordedEvent(
            stream: Stream(
                project: try ProjectID("default"), environment: .production,
                customer: try CustomerID("u1")),
            version: 1, position: Position(shard: shard, sequence: 1), event: event,
            record: EventRecord(
                occurredAt: now, recordedAt: now, actor: try Actor("ann"), cause: "key:k",
                catalogVersion: 1))
    }

    @Test("An explanation has words for what it puts into words", arguments: EventType.allCases)
    func words(_ type: EventType) throws {
        let events = try events(of: type)
        try #require(!events.isEmpty, "\(type.name) has no golden payload")
        let words = try events.compactMap { try recorded($0).words }
        #expect(words.isEmpty == (type.telling != .inWords), "\(words)")
        #expect(words.allSatisfy { $0.hasSuffix(".") && $0.contains("2026-") })
    }

    @Test("An explanation tells only of events about a source", arguments: EventType.allCases)
    func sources(_ type: EventType) throws {
        for event in try events(of: type) {
            let source: Entitlement.Source? =
                switch event.subject {
                case .purchase(let id): .purchase(id)
                case .grant(let id): .grant(id)
                case .installation(let app): .originalAppVersion(app)
                case .project, .customer, .key, .app, .account, .balance, .order, .token,
                    .entitlement:
                    nil
                }
            let isTold = source.map { event.isAbout($0) } ?? false
            #expect(isTold == (type.telling != .leftOut))
        }
    }

    @Test("Evidence states a fact, and nothing else does", arguments: EventType.allCases)
    func facts(_ type: EventType) throws {
        for event in try events(of: type) {
            #expect((event.fact != nil) == type.isFact)
            if type.isFact { #expect(event.statedAt != nil) }
        }
    }

    @Test("An event is told by the kind of its subject", arguments: EventType.allCases)
    func subjects(_ type: EventType) throws {
        for event in try events(of: type) {
            if case .balance = event.subject {
                #expect(event.movement != nil)
            } else {
                #expect(event.movement == nil)
            }
            if case .entitlement = event.subject {
                #expect(event.notice?.at == event.statedAt)
            } else {
                #expect(event.notice == nil)
            }
        }
    }
}
