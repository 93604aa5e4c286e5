import Core
import Histories
import JSON
import Minting
import TestSupport
import Testing

/// The life of one subscription in twelve steps, each with the evidence that tells of it.
private struct Life {
    /// How a piece of evidence reaches the service.
    enum Way { case transaction, notification }

    let customer: String
    let steps: [(sale: Sale, renewal: RenewalPlan?)]

    init(_ number: Int, from start: Instant) {
        customer = "c\(number)"
        let day = { (count: Int64) in start.advanced(byMilliseconds: count * 86_400_000) }
        let original = "\(number)-1"
        func period(_ name: Int, _ first: Int64, signed: Int64? = nil) -> Sale {
            Sale(
                "\(number)-\(name)", of: original, "pro.month", .autoRenewable, at: day(first),
                until: day(first + 30)
            ).with { $0.signedAt = day(signed ?? first) }
        }
        func plan(_ signed: Int64, _ change: (inout RenewalPlan) -> Void = { _ in }) -> RenewalPlan
        {
            var plan = RenewalPlan(of: original, "pro.month", signed: day(signed))
            change(&plan)
            return plan
        }
        steps = [
            (period(1, 0), plan(0)),
            (period(2, 30), plan(30)),
            (period(2, 30, signed: 35), plan(35) { $0.isOn = false }),
            (period(2, 30, signed: 40), plan(40)),
            (
                period(2, 30, signed: 60),
                plan(60) {
                    $0.isInRetry = true
                    $0.graceUntil = day(76)
                }
            ),
            (period(3, 66), plan(66)),
            (period(3, 66, signed: 70).with { $0.refunded = day(70) }, plan(70)),
            (period(3, 66, signed: 72), plan(72)),
            (period(4, 96), plan(96)),
            (period(4, 96, signed: 126), plan(126) { $0.isInRetry = true }),
            (period(5, 140), plan(140)),
            (period(5, 140, signed: 150), plan(150) { $0.isOn = false }),
        ]
    }
}

@Suite("Deliveries in any order")
struct DeliveryOrderTests {
    private struct Delivery: Sendable {
        let customer: String?
        let body: String
    }

    @Test(
        "A life in twelve steps, shuffled, repeated and through two instances at once, ends the same"
    )
    func anyOrder() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed of deliveries: \(seed)")
        var random = SeededGenerator(seed: seed)
        let front = try Storefront()
        let other = try TestService(beside: front.service)
        let start = front.daysAgo(200)
        // The first is told in order, once each; it is what the others are compared with.
        let lives = (0..<7).map { Life($0, from: start) }
        for delivery in deliveries(of: lives[0], front) { send(delivery, front, nil) }
        var shuffled: [Delivery] = []
        for life in lives.dropFirst() {
            for delivery in deliveries(of: life, front) {
                for _ in 0..<random.number(1...3) { shuffled.append(delivery) }
            }
        }
        shuffled.shuffle(using: &random)
        let sent = shuffled
        inParallel(8) { index in
            for place in stride(from: index, to: sent.count, by: 8) {
                send(sent[place], front, place % 3 == 0 ? other : nil)
            }
        }
        let days = (0...210).filter { $0 % 7 == 0 }.map {
            start.advanced(byMilliseconds: Int64($0) * 86_400_000)
        }
        let expected = try days.map { try answer(of: lives[0], at: $0, front) }
        for life in lives.dropFirst() {
            let found = try days.map { try answer(of: life, at: $0, front) }
            #expect(found == expected, "\(life.customer), seed \(seed)")
            try expectDistinctFacts(of: life, front, seed)
        }
    }

    /// Each step once by the client and once by the store, of the bytes that each was signed as.
    private func deliveries(of life: Life, _ front: Storefront) -> [Delivery] {
        life.steps.enumerated().flatMap { number, step in
            let signed = front.store.transaction(step.sale)
            let told = front.store.notification(
                "DID_RENEW", id: "\(life.customer)-\(number)", at: step.sale.signedAt,
                transaction: signed, renewal: step.renewal.map(front.store.renewal))
            let evidence: JSON = ["signed_transactions": [.string(signed)]]
            return [
                Delivery(customer: life.customer, body: evidence.text),
                Delivery(customer: nil, body: told),
            ]
        }
    }

    private func send(_ delivery: Delivery, _ front: Storefront, _ other: TestService?) {
        let reply: Reply
        if let customer = delivery.customer {
            reply = front.send(
                "POST", "/v1/customers/\(customer)/receipts", delivery.body, through: other)
        } else {
            reply = front.notify(delivery.body, through: other)
        }
        #expect(reply.status == 200, "\(reply.text)")
    }

    /// The answer without names that differ from life to life.
    private func answer(of life: Life, at instant: Instant, _ front: Storefront) throws -> [String]
    {
        let path = "/v1/customers/\(life.customer)/entitlements/pro?at=\(instant.text)"
        let json = try front.send("GET", path).json
        let members = ["active", "since", "until", "state", "code", "will_renew", "product"]
        return members.map { json[$0]?.text ?? "" }
    }

    /// No two events tell the same fact, and each transaction is made or renewed once.
    private func expectDistinctFacts(of life: Life, _ front: Storefront, _ seed: UInt64) throws {
        let reply = front.send("GET", "/v1/customers/\(life.customer)/events?limit=1000")
        let events = try #require(try reply.json["events"]?.array)
        let told = events.filter { $0["type"]?.string != "purchase.attached" }
            .compactMap { $0["data"]?.text }
        #expect(Set(told).count == told.count, "\(life.customer), seed \(seed)")
        let attached = events.flatMap { event in
            event["type"]?.string == "purchase.attached"
                ? event["data"]?["transactions"]?.array ?? [] : []
        }
        let new = events.filter {
            ["purchase.made", "subscription.renewed"].contains($0["type"]?.string)
        }
        let names = (attached + new.compactMap { $0["data"] })
            .compactMap { $0["transaction"]?.string }
        #expect(names.count == 5 && Set(names).count == 5, "\(names), seed \(seed)")
    }
}
