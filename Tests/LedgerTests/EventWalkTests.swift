import API
import Core
import JSON
import Testing

@testable import Ledger

/// Reports what a new type of events still needs. Uses the recorded payloads of every type:
/// `EventCodingTests` reads them back, and `EventPageTests` compares them with the page.
@Suite("What is said of each type of event")
struct EventWalkTests {
    private static let samples =
        EventCodingTests.payloads + EventCodingTests.furtherPayloads
        + EventCodingTests.mergePayloads

    /// The page that describes the event types, and the types that the API's document lists.
    private let page: EventPage
    private let listed: Set<String>

    init() throws {
        page = try EventPage()
        let document = try JSON.read(EventPage.file("Sources/COpenAPI/openapi.json"))
        let words = document["components"]?["schemas"]?["EventType"]?["enum"]?.array
        listed = Set(try #require(words).compactMap(\.string))
    }

    private func events(of type: EventType) throws -> [Event] {
        let events = try EventWalkTests.samples.filter { $0.type == type.name }.map {
            try Event(type: $0.type, format: $0.format, payload: $0.payload)
        }
        try #require(
            !events.isEmpty,
            "\(type.name) has no golden payload; add one for each form to FurtherPayloads.swift")
        return events
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

    @Test("A type is described for those who read its events", arguments: EventType.allCases)
    func described(_ type: EventType) throws {
        #expect(
            page.types[type.name]?.example != nil,
            "docs/events.md has no section \(type.name) with an example")
        #expect(
            listed.contains(type.name) == type.isOfCustomer,
            "docs/events.md, from which the API's description takes its types, differs in \(type.name)"
        )
    }

    @Test("A state takes in each type of event", arguments: EventType.allCases)
    func folded(_ type: EventType) throws {
        for event in try events(of: type) {
            // If an event has no case of its own, the program stops here.
            if type.isOfProject {
                var project = ProjectState()
                project.apply(event, recordedAt: Instant(milliseconds: 1_795_202_460_000))
                #expect(project.version == 1)
            } else {
                var customer = CustomerState()
                customer.apply(event)
                #expect(customer.version == 1)
            }
        }
    }

    /// An act that gives something must be checked by `require(within:)`.
    @Test("Each act of staff about a customer is held to support's limits, or gives nothing")
    func bounded() {
        let giving: Set = ["grant.given", "grant.changed", "grant.revoked", "customer.joined"]
        let others: Set = [
            "purchase.attached", "purchase.detached", "purchase.blocked", "purchase.unblocked",
            "note.added", "note.removed", "balance.adjusted", "order.closed", "customer.merged",
            "customer.parted", "customer.unmerged", "customer.erased",
        ]
        let acts = EventType.allCases.filter { $0.isAct && $0.isOfCustomer }.map(\.name)
        #expect(Set(acts) == giving.union(others))
    }

    @Test("A customer's page has a sentence for each event", arguments: EventType.allCases)
    func sentences(_ type: EventType) throws {
        #expect((type.sentence != nil) == type.isOfCustomer)
        guard let sentence = type.sentence else { return }
        let members = try page.shape(of: type.name).section.members
        for event in try events(of: type) {
            let asked = AskedMembers(of: event.payload)
            #expect(!sentence.text(of: asked).contains { "{}".contains($0) })
            for name in asked.names {
                #expect(members.contains { $0.name == name }, "\(type.name) has no \(name)")
            }
        }
    }

    /// Types that no person decides, and that are too rare to need a new index without them.
    private static let indexed: Set<String> = []

    @Test("The trail's index leaves out exactly what people cannot decide")
    func acts() throws {
        let (query, index) = (
            try leftOut("sql/queries/list_acts.sql"), try leftOut("sql/migrations/0020_acts.sql")
        )
        #expect(query == index)
        let others = EventType.allCases.filter { !$0.isAct }.map(\.name)
        #expect(Set(query).union(Self.indexed) == Set(others))
        #expect(query.count + Self.indexed.count == others.count)
    }

    private func leftOut(_ file: String) throws -> [String] {
        try EventPage.file(file).matches(of: /'([a-z]+\.[a-z_]+)'/).map { String($0.1) }
    }

    @Test("An explanation has words for what it puts into words", arguments: EventType.allCases)
    func words(_ type: EventType) throws {
        let words = try events(of: type).compactMap { try recorded($0).words }
        #expect(words.isEmpty != type.isInWords, "\(words)")
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
            #expect(isTold == type.isExplained)
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

extension EventType {
    fileprivate var isInWords: Bool {
        if case .inWords = explanation { true } else { false }
    }
}

/// The members of a payload, and the members that a sentence used.
private final class AskedMembers: EventMembers {
    private let payload: JSON
    private(set) var names: Set<String> = []

    init(of payload: JSON) {
        self.payload = payload
    }

    private func member(_ name: String) -> JSON? {
        names.insert(name)
        return payload[name]
    }

    func text(_ name: String) -> String? { member(name)?.string }
    func flag(_ name: String) -> Bool { member(name)?.bool == true }
    func integer(_ name: String) -> Int64 { member(name)?.integer ?? 0 }
}
