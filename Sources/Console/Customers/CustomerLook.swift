import API
import Core
import JSON

/// What the calls of the API say about a customer, at an instant and as known at one.
struct CustomerLook: Sendable {
    let stream: NamedStream
    let at: String?
    let known: String?
    /// Only events before this version; `nil` from the newest on.
    let before: Int64?
    /// The version after which the visitor has just done something.
    let done: Int64?
    let whole: JSON
    /// One for each entitlement that the customer ever held.
    let explanations: [JSON]
    /// The events that were read, oldest first, as far as known then.
    let events: [JSON]
    /// How many lie before those.
    let earlier: Int64
    /// What the events state about each purchase.
    private let facts: [String: [(event: JSON, fact: JSON)]]
    private let fields: Fields

    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        stream = try NamedStream(room, visit)
        let fields = Fields(visit.query)
        at = try CustomerLook.instant(fields, "at")
        known = try CustomerLook.instant(fields, "known")
        before = fields["before"].flatMap { Int64($0) }
        done = fields["done"].flatMap { Int64($0) }
        let path = stream.path("/look")
        let query = stream.query(
            ("at", at), ("known", known), ("before", before.map { String(max(1, $0)) }))
        let whole = try turning { () throws(Problem) in
            try room.send(InnerCall("GET", path, query: query))
        }
        explanations = whole["explanations"]?.array ?? []
        events = whole["events"]?.array ?? []
        earlier = whole["earlier"]?.integer ?? 0
        facts = CustomerLook.facts(in: events)
        self.whole = whole
        self.fields = fields
    }

    /// The part of a long list that the address asks for.
    func part(of list: [JSON], _ name: StaticString) -> ListPart {
        ListPart(list, name, from: fields["\(name)"].flatMap { Int($0) } ?? 0, at: place)
    }

    /// An instant of the query in UTC, as browsers send local times or as answers have it.
    private static func instant(_ fields: Fields, _ name: String) throws(Turned) -> String? {
        guard let text = fields.trimmed(name) else { return nil }
        let hasSeconds = text.count { $0 == ":" } > 1
        let whole = text.hasSuffix("Z") ? text : text + (hasSeconds ? "Z" : ":00Z")
        guard let instant = Instant(text: whole) else {
            throw .notice(
                400, "That does not work",
                "\"\(name)\" takes an instant in UTC, like 2026-11-20T19:21:00Z.")
        }
        return instant.text
    }

    /// This page with the same two instants.
    var place: Place { stream.place.with("at", at).with("known", known) }

    /// The number of the customer's newest event that was read.
    var version: Int64 { events.last?["version"]?.integer ?? 0 }

    /// The events of the purchase, in the form that names a purchase.
    func facts(about purchase: String) -> [(event: JSON, fact: JSON)] { facts[purchase] ?? [] }

    /// Each event states facts of its own, or those of the purchase that it moves.
    private static func facts(in events: [JSON]) -> [String: [(event: JSON, fact: JSON)]] {
        var facts: [String: [(event: JSON, fact: JSON)]] = [:]
        for event in events {
            guard let data = event["data"] else { continue }
            let moved = data["transactions"]?.array ?? []
            for fact in (data["transaction"] == nil ? [] : [data]) + moved {
                guard fact["purchased"] != nil, let store = fact["store"]?.string,
                    let original = fact["original"]?.string
                else { continue }
                let purchase = "\(store):\(original)"
                // What moved is called as the purchase that it came with.
                let isOwn = data["purchase"] == nil || data["purchase"]?.string == purchase
                if isOwn { facts[purchase, default: []].append((event: event, fact: fact)) }
            }
        }
        return facts
    }
}
