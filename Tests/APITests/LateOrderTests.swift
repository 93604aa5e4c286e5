import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@Suite("Evidence that comes again with an order")
struct LateOrderTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
        let opened = front.send("POST", "/v1/customers/u1/orders", #"{"order":"o1"}"#)
        #expect(opened.status == 201)
    }

    private var sale: Sale { Sale("7", "level2", .nonConsumable, at: front.daysAgo(0)) }

    /// Evidence of a sale with tomorrow's signing time. It has to wait.
    private var early: JSON {
        front.signed([sale.with { $0.signedAt = front.daysAgo(-1) }])
    }

    private func naming(_ order: String, in evidence: JSON) -> JSON {
        var object = JSONObject()
        for member in evidence.object?.members ?? [] { object.append(member.name, member.value) }
        object.append("order", .string(order))
        return .object(object)
    }

    private func intake(_ reply: Reply) throws -> String {
        try #require(try reply.json["items"]?.array?.first?["intake"]?.string, "\(reply.text)")
    }

    private func order() throws -> JSON? { try front.send("GET", "/v1/orders/o1").json["order"] }

    private func expectFulfilled() throws {
        let order = try order()
        #expect(order?["state"] == "fulfilled" && order?["transaction"] == "7")
        #expect(try front.events().filter { $0 == "order.fulfilled" }.count == 1)
        #expect(try front.events().filter { $0 == "purchase.made" }.count == 1)
    }

    @Test("What was recorded without the order fulfils it")
    func recorded() throws {
        let evidence = front.signed([sale])
        #expect(try front.submit(evidence).outcomes == ["recorded"])
        #expect(try order()?["state"] == "open")
        let again = front.submit(naming("o1", in: evidence))
        #expect(again.status == 200)
        try expectFulfilled()
        #expect(front.submit(naming("o1", in: evidence)).status == 200)
        try expectFulfilled()
    }

    @Test("What waits without the order fulfils it when its time has come")
    func queued() throws {
        let evidence = early
        let first = front.submit(evidence)
        let second = front.submit(naming("o1", in: evidence))
        #expect(first.status == 202 && second.status == 202)
        #expect(try intake(first) == intake(second))
        let shown = try front.send("GET", "/v1/intake/\(try intake(first))").json
        #expect(shown["order"] == "o1")
        front.service.clock.advance(byMilliseconds: 2 * 86_400_000)
        #expect(try front.work()?.isKept == true)
        try expectFulfilled()
    }

    @Test("If the order comes while the evidence is being recorded, the next attempt fulfils it")
    func overtaken() throws {
        let evidence = early
        let id = try intake(front.submit(evidence))
        front.service.clock.advance(byMilliseconds: 2 * 86_400_000)
        #expect(try front.work()?.isKept == true)
        #expect(try order()?["state"] == "open")
        // Puts the recorded item back into the queue, as if another worker had changed it meanwhile.
        try front.service.database.run(
            """
            update deed.intake set state = 'waiting', order_id = 'o1', results = null, next_try_at = 0,
                revision = revision + 1 where id = '\(id)'
            """)
        #expect(try front.work()?.isKept == true)
        try expectFulfilled()
    }
}
