import Core
import Foundation
import JSON
import Testing

@testable import Ledger

@Suite("The page of events")
struct EventPageTests {
    private let page: EventPage

    init() throws {
        page = try EventPage()
    }

    private static let samples =
        EventCodingTests.payloads + EventCodingTests.furtherPayloads
        + EventCodingTests.mergePayloads

    private static let types = EventType.allCases.map(\.name)

    /// Returns the recorded events, each also under the other types with the same content.
    private static func events() throws -> [Event] {
        var payloads: [ObjectIdentifier: [String]] = [:]
        var types: [ObjectIdentifier: Set<String>] = [:]
        for sample in samples {
            let event = try Event(type: sample.type, format: sample.format, payload: sample.payload)
            guard let content = Mirror(reflecting: event).children.first?.value else { continue }
            let kind = ObjectIdentifier(type(of: content))
            payloads[kind, default: []].append(sample.payload)
            types[kind, default: []].insert(sample.type)
        }
        return try types.flatMap { kind, types in
            try types.sorted().flatMap { type in
                try (payloads[kind] ?? []).map {
                    try Event(sample: $0, of: type)
                }
            }
        }
    }

    @Test("Each type of event has a section, and each section has a type")
    func sections() throws {
        #expect(page.types.keys.sorted() == EventPageTests.types.sorted())
        for type in EventPageTests.types {
            #expect(page.text.contains("[\(type)](#"), "no link to \(type)")
        }
        let titles = page.sections.map(\.title)
        #expect(Set(titles).count == titles.count, "a section occurs twice")
    }

    @Test("The page says for each type whether customers' calls include it")
    func chapters() throws {
        let document = try JSON.read(EventPage.file("Sources/COpenAPI/openapi.json"))
        let words = document["components"]?["schemas"]?["EventType"]?["enum"]?.array
        let told = Set(try #require(words).compactMap(\.string))
        let ofCustomers = page.types.values.filter { $0.chapter != "What the feed leaves out" }
        #expect(Set(ofCustomers.map(\.title)) == told)
    }

    @Test("The page names the members that every event of the feed has")
    func items() throws {
        let document = try JSON.read(EventPage.file("Sources/COpenAPI/openapi.json"))
        let item = document["components"]?["schemas"]?["FeedItem"]?["properties"]?.object
        let table = page.text.components(separatedBy: "## What an event is\n")[1]
            .components(separatedBy: "\n## ")[0]
        let named = table.matches(of: /(?m)^\| (`[^|]+) \|/).flatMap {
            $0.1.matches(of: /`(\w+)`/).map { String($0.1) }
        }
        #expect(try named == #require(item, "no feed").members.map(\.name))
    }

    @Test("A payload has exactly the members that the page names for its type")
    func members() throws {
        var comparison = EventPageComparison(page)
        for event in try EventPageTests.events() {
            try comparison.compare(event.payload, of: event.type.name)
        }
        comparison.conclude()
        for problem in comparison.problems { Issue.record("\(problem)") }
    }

    @Test("The samples have each type, with and without each optional part")
    func samples() throws {
        let events = try EventPageTests.events()
        let missing = Set(EventPageTests.types).subtracting(events.map(\.type.name))
        #expect(missing.isEmpty, "no golden payload: \(missing.sorted())")
        var coverage = SampleCoverage()
        for event in events { coverage.look(at: event, "Event") }
        for gap in coverage.gaps { Issue.record("\(gap)") }
    }

    @Test("Each name that a coding writes is on the page, even if no sample has it")
    func names() throws {
        let named = Set(page.sections.flatMap(\.members).map(\.name))
        var found = 0
        let files = try EventPage.files(in: "Sources/Ledger/Coding")
        // This file is about kept states, which are not events.
        for file in files where !file.hasSuffix("StateCoding.swift") {
            for match in try EventPage.file(file).matches(of: /"([a-z_]+)":/) {
                #expect(named.contains(String(match.1)), "\(file) writes \(match.1)")
                found += 1
            }
        }
        #expect(found > 150)
    }

    @Test("Each example is an event of its type, in the log's form")
    func examples() throws {
        for (type, section) in page.types {
            let example = try JSON.read(try #require(section.example, "\(type) has no example"))
            let event = try Event(sample: example.text, of: type)
            #expect(event.payload.text == example.text)
        }
    }

    @Test("Lists of words on the page are those of the code")
    func words() throws {
        let known = try EventPageTests.knownWords()
        var found = 0
        for section in page.sections {
            let name = EventPage.anchor(section.title)
            for member in section.members {
                guard case .words(let words, let orUnknown) = member.kind.innermost else {
                    continue
                }
                let place = "\(name).\(member.name)"
                let (expected, mayBeUnknown) = try #require(
                    known[place] ?? known[member.name], "the words of \(place) are not checked")
                #expect(words == expected, "\(place)")
                #expect(orUnknown == mayBeUnknown, "\(place)")
                found += 1
            }
        }
        #expect(found > 30)
    }

    @Test("A link within the page leads to a heading")
    func links() {
        let headings = page.text.matches(of: /(?m)^#+ (.+)$/).map {
            EventPage.anchor(String($0.1))
        }
        for link in page.text.matches(of: /\]\(#([^)]+)\)/) {
            #expect(headings.contains(String(link.1)), "\(link.1)")
        }
    }

    /// Returns the words of each member, by member or by section and member, and whether a store
    /// may have further words.
    private static func knownWords() throws -> [String: ([String], Bool)] {
        func all<Word: CaseIterable & RawRepresentable<String>>(
            _: Word.Type
        ) -> ([String], Bool) { (Word.allCases.map(\.rawValue), false) }
        func store<Word: WordCodable>(_: Word.Type) -> ([String], Bool) {
            (Word.words.map(\.word), true)
        }
        /// Returns the cases of an enumeration that is private to the coding.
        func cases(of name: String, in file: String) throws -> ([String], Bool) {
            let text = try EventPage.file("Sources/Ledger/Coding/\(file).swift")
            let list = text.components(separatedBy: "private enum \(name): String {\n        case ")
            let line = list.dropFirst().first?.prefix { $0 != "\n" } ?? ""
            return (line.split(separator: ", ").map(String.init), false)
        }
        let sources = try EventPage.file("Sources/Core/Customers/Entitlement.swift")
            .matches(of: /case \.\w+: "(\w+)"/).map { String($0.1) }
        let ends = ["reported", "too_late", "refused"]
        return [
            "store": all(Store.self), "environment": all(Environment.self),
            "rank": (Rank.allCases.map(\.word), false),
            "transaction.kind": all(ProductKind.self), "ownership": store(Ownership.self),
            "revocation.reason": store(Revocation.Reason.self),
            "revocation.extent": store(Revocation.Extent.self),
            "offer.kind": store(Offer.Kind.self), "offer.discount": store(Offer.Discount.self),
            "expiration_intent": store(ExpirationIntent.self),
            "price_consent": store(PriceConsent.self),
            "reading.state": store(Reading.State.self), "ending": all(Reading.Ending.self),
            "refund-request.reason": store(RefundReason.self),
            "delivery": (
                ConsumptionReport.Delivery.allCases.map { $0.rawValue.lowercased() }, false
            ),
            "projectchanged.merge": all(MergePolicy.self),
            "preference": all(RefundPreference.self), "end": (ends, false),
            "why": (Array(ends.dropFirst()), false),
            "cause-of-a-move.kind": try cases(of: "Word", in: "PurchaseCoding"),
            "cause-of-a-closed-order.kind": try cases(of: "Word", in: "OrderCoding"),
            "sandbox_access": try cases(of: "Access", in: "SettingsCoding"),
            "format": all(Webhook.Format.self), "purchases": all(PurchaseTreatment.self),
            "receipts": all(ReceiptJudge.self),
            "role": all(Role.self),
            "transfer": all(TransferPolicy.Rule.self), "restore": all(TransferPolicy.Rule.self),
            "steps": all(ReconcileStep.self), "source": (sources, false),
            "state": (Entitlement.State.allCases.map(\.rawValue) + ["none"], false),
        ]
    }
}

extension EventPage.Kind {
    var innermost: EventPage.Kind {
        switch self {
        case .list(let kind), .named(let kind), .orNull(let kind): kind.innermost
        default: self
        }
    }
}

/// Finds properties that no sample of a type has. It finds them by reflection, because no test
/// compares what the samples lack.
private struct SampleCoverage {
    private var seen: [String: Set<String>] = [:]
    /// Types that are not examined further: another page describes them, or they are a single text
    /// or number in a payload.
    private static let whole: [Any.Type] = [
        Catalog.self, CalendarDuration.self, Instant.self, AccountToken.self, Position.self,
    ]

    mutating func look(at value: Any, _ place: String) {
        if SampleCoverage.whole.contains(where: { $0 == type(of: value) }) { return }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional:
            seen[place, default: ["is never there", "is always there"]]
                .remove(mirror.children.isEmpty ? "is always there" : "is never there")
            if let child = mirror.children.first { look(at: child.value, place + "?") }
        case .collection, .set, .dictionary:
            seen[place, default: ["is always empty"]].formIntersection(
                mirror.children.isEmpty ? ["is always empty"] : [])
            for child in mirror.children { look(at: child.value, place + "[]") }
        default:
            if let flag = value as? Bool {
                seen[place, default: ["is never true", "is never false"]]
                    .remove(flag ? "is never true" : "is never false")
            }
            for child in mirror.children {
                look(at: child.value, "\(type(of: value)).\(child.label ?? "")")
            }
        }
    }

    var gaps: [String] {
        seen.sorted { $0.key < $1.key }.flatMap { place, gaps in
            gaps.sorted().map { "\(place) \($0) in the samples" }
        }
    }
}

extension Event {
    /// Reads a sample in the oldest format that has its type and its members.
    fileprivate init(sample payload: String, of type: String) throws {
        let since = EventType(named: type)?.since ?? .first
        let readings = (since.number...LogFormat.own.number).map { number in
            Result { try Event(type: type, format: Int16(number), payload: payload) }
        }
        self = try (readings.first { (try? $0.get()) != nil } ?? readings[0]).get()
    }
}
