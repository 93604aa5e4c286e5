import API
import Core
import JSON

/// The API's answers about a customer at one instant, based on what was known at the same or
/// another instant.
struct CustomerLook: Sendable {
    let stream: NamedStream
    let at: String?
    let known: String?
    /// The version before which the page shows events; `nil` to show the newest ones.
    let before: Int64?
    /// The customer's version before the visitor's latest act.
    let done: Int64?
    let whole: JSON
    /// An explanation of each entitlement that the customer has ever held.
    let explanations: [JSON]
    /// The events that were read, up to the `known` instant, oldest first.
    let events: [JSON]
    /// The number of earlier events.
    let earlier: Int64
    /// The facts that the events state about each purchase.
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

    /// Returns the part of a long list that the address selects.
    func part(of list: [JSON], _ name: StaticString) -> ListPart {
        ListPart(list, name, from: fields["\(name)"].flatMap { Int($0) } ?? 0, at: place)
    }

    /// Returns an instant from the query in UTC, in the format of a browser's time field or of an answer.
    private static func instant(_ fields: Fields, _ name: String) throws(Turned) -> String? {
        guard let text = fields.trimmed(name) else { return nil }
        let hasSeconds = text.count { $0 == ":" } > 1
        let whole = text.hasSuffix("Z") ? text : text + (hasSeconds ? "Z" : ":00Z")
        guard let instant = Instant(text: whole) else {
            throw .notice(
                400, "That did not work",
                "\"\(name)\" must be an instant in UTC, like 2026-11-20T19:21:00Z.")
        }
        return instant.text
    }

    /// The address of this page, with the same two instants.
    var place: Place { stream.place.with("at", at).with("known", known) }

    /// The version of the newest event that was read.
    var version: Int64 { events.last?["version"]?.integer ?? 0 }

    /// Returns the facts about the purchase, which is named as in answers.
    func facts(about purchase: String) -> [(event: JSON, fact: JSON)] { facts[purchase] ?? [] }

    /// Returns the facts that each event states: new facts, or those of the purchase that the event
    /// moves.
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
                // Facts in an event that names a purchase apply only to that purchase.
                let isOwn = data["purchase"] == nil || data["purchase"]?.string == purchase
                if isOwn { facts[purchase, default: []].append((event: event, fact: fact)) }
            }
        }
        return facts
    }
}
