import Core
import Histories
import JSON
import Service
import TestSupport
import Testing

@Suite("The feed in the course of random histories", .timeLimit(.minutes(20)))
struct FeedHistoryTests {
    private let services: [TestService]
    private let key: NewKey
    private let streams: [Core.Stream]

    init() throws {
        // Instants in the log never go back, so the clock starts before the histories.
        let first = try TestService(startingAt: at(-1))
        services = [first, try TestService(beside: first)]
        key = try first.key(.admin)
        try first.openBazaar()
        streams = try (0..<6).map { try Stream.test("customer \($0)") }
    }

    @Test("The changes of all events, joined from the start, equal the answers of reads")
    func joined() throws {
        let seed = printedSeed(of: "joined access")
        var random = SeededGenerator(seed: seed)
        let changes = try live(&random, seed: seed)
        let limit = random.number(1...200)
        let events = try pages(limit: limit)
        #expect(events.count > 60, "seed \(seed)")
        var compared = 0
        for (customer, events) in Dictionary(grouping: events, by: { $0["customer"]?.string }) {
            compared += try follow(
                try #require(customer), events, changes: changes, "seed \(seed)")
        }
        #expect(compared > 40, "seed \(seed)")
        // The feed reports the same events whatever the page size, and whatever an instance has in memory.
        for service in [services[1], try TestService(beside: services[0])] {
            let others = try pages(limit: 1000, of: service)
            let ids = { (event: JSON) in event["id"]?.string ?? "" }
            #expect(
                others.sorted { ids($0) < ids($1) }.map(\.text)
                    == events.sorted { ids($0) < ids($1) }.map(\.text), "seed \(seed)")
        }
    }

    /// Lets customers buy, get, lose and move things while the clock and the catalog change.
    /// Returns the times of the catalog changes.
    private func live(_ random: inout SeededGenerator, seed: UInt64) throws -> [Instant] {
        let clock = services[0].clock
        var changes: [Instant] = []
        var lives = streams.enumerated().map { index, stream in
            var history = (0..<3).flatMap { part in
                RandomHistory(
                    seed: seed &+ UInt64(4 * index + part), prefix: "\(index)-\(part)-"
                ).facts
            }
            if random.chance(50) { history.shuffle(using: &random) }
            return (stream: stream, facts: history)
        }
        var number = 0
        while lives.contains(where: { !$0.facts.isEmpty }) {
            number += 1
            clock.advance(byMilliseconds: random.number(1...2 * day))
            let place = Int(random.number(0...Int64(lives.count - 1)))
            let (service, stream) = (services[number % 2], lives[place].stream)
            if !lives[place].facts.isEmpty {
                let fact = lives[place].facts.removeFirst()
                // The append fails if the purchase has moved to another customer.
                _ = Result {
                    try service.ledger.append(
                        .record(AnyFact.facts([fact]), for: stream, key: "f\(number)"))
                }
            }
            clock.advance(byMilliseconds: 1)
            if random.chance(15) {
                _ = try service.ledger.append(
                    .give("vip\(number % 3)", to: stream, grant: "g\(number)"))
            } else if random.chance(10) {
                move(from: stream, to: streams[(place + 1) % streams.count])
            } else if random.chance(10) {
                try change(number)
                changes.append(clock.now)
            }
            clock.advance(byMilliseconds: 1)
            if random.chance(40) { try service.publishBoundaries() }
        }
        clock.advance(byMilliseconds: 400 * day)
        try services[0].publishBoundaries()
        return changes
    }

    private func change(_ number: Int) throws {
        let products = Array(shop.products.dropFirst(number % 4))
        let next = number % 2 == 0 ? bazaar : catalog(products, rules: shop.originalVersionRules)
        try services[0].changeProject("catalog \(number)") { state, project throws(Refusal) in
            try state.change(to: next, of: project)
        }
    }

    private func path(_ stream: String) -> String {
        "/v1/customers/\(stream.replacing(" ", with: "%20"))"
    }

    /// Moves one of the customer's purchases, if there is one.
    private func move(from stream: Core.Stream, to other: Core.Stream) {
        let held = services[0].send("GET", path(stream.customer.text), key: key)
        guard let purchases = (try? held.json)?["purchases"]?.array,
            let id = purchases.first?["purchase"]?.string
        else { return }
        _ = services[0].send(
            "POST", path(stream.customer.text) + "/purchases/\(id)/transfer", key: key,
            body: #"{"to":"\#(other.customer.text)","reason":"r"}"#)
    }

    private func pages(limit: Int64, of service: TestService? = nil) throws -> [JSON] {
        var (events, next) = ([JSON](), "")
        while true {
            let reply = (service ?? services[0]).send(
                "GET", "/v1/events?limit=\(limit)" + next, key: key)
            let page = try reply.json
            events += try #require(page["events"]?.array, "\(reply.text)")
            next = "&after=\(page["next"]?.string ?? "")"
            if page["more"] != true { return events }
        }
    }

    /// Builds a customer's answers from the feed. Returns how often they were compared with reads.
    private func follow(
        _ customer: String, _ events: [JSON], changes: [Instant], _ context: String
    ) throws -> Int {
        var answers: [String: String] = [:]
        var compared = 0
        for (place, event) in events.enumerated() {
            #expect(event["version"]?.integer == Int64(place + 1))
            for change in try #require(event["access"]?.array) {
                let name = try #require(change["entitlement"]?.string)
                #expect((change["before"] == .null ? nil : change["before"]?.text) == answers[name])
                answers[name] = change["after"] == .null ? nil : change["after"]?.text
            }
            let recorded = try #require(event["recorded_at"]?.string)
            if place + 1 < events.count, events[place + 1]["recorded_at"]?.string == recorded {
                continue
            }
            let cause = event["cause"]?.string ?? ""
            let isNotice = cause.hasPrefix("clock:") || cause.hasPrefix("catalog:")
            let at = isNotice ? try #require(event["occurred_at"]?.string) : recorded
            let (from, to) = (
                try #require(Instant(text: at)), try #require(Instant(text: recorded))
            )
            // A read of that instant would use the later catalog.
            if changes.contains(where: { from <= $0 && $0 <= to && from < to }) { continue }
            let reply = services[0].send(
                "GET", path(customer) + "/entitlements?at=\(at)&known=\(recorded)", key: key)
            let read = try #require(try reply.json["entitlements"]?.object).members
            let expected = Dictionary(uniqueKeysWithValues: read.map { ($0.name, $0.value.text) })
            #expect(answers == expected, "\(context), \(customer) at \(place + 1): \(event.text)")
            compared += 1
        }
        return compared
    }
}
