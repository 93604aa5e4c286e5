import JSON
import TestSupport
import Testing

@Suite("Erasures that are asked for twice under one key", .timeLimit(.minutes(20)))
struct RepeatedErasureTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private func erase(intent: String? = nil, key: String? = nil) -> Reply {
        let intent = intent.map { #","intent":"\#($0)""# } ?? ""
        return front.send(
            "POST", "/v1/customers/u1/erase", #"{"reason":"asked","purchases":"forget"\#(intent)}"#,
            key: front.admin, idempotencyKey: key)
    }

    private func intent() throws -> String {
        let look = erase()
        return try #require(try look.json["intent"]?.string, "\(look.text)")
    }

    private func give(in environment: String) {
        let reply = front.send(
            "POST", "/v1/customers/u1/grants",
            #"{"entitlement":"level2","reason":"r","environment":"\#(environment)"}"#,
            key: front.admin)
        #expect(reply.status == 201, "\(reply.text)")
    }

    @Test(
        "A new life in either environment does not hide the first answer",
        arguments: ["production", "sandbox"])
    func newLife(_ environment: String) throws {
        for each in ["production", "sandbox"] { give(in: each) }
        let intent = try intent()
        let first = erase(intent: intent, key: "k")
        #expect(first.status == 200, "\(first.text)")
        give(in: environment)
        let again = erase(intent: intent, key: "k")
        #expect(again.text == first.text)
        let path = "/v1/customers/u1/entitlements/level2?environment=\(environment)"
        #expect(try front.send("GET", path).json["active"] == true)
    }

    @Test(
        "A later erasure of either environment does not hide that the first one was done",
        arguments: ["production", "sandbox"])
    func erasedAgain(_ environment: String) throws {
        for each in ["production", "sandbox"] { give(in: each) }
        let intent = try intent()
        #expect(erase(intent: intent, key: "k").status == 200)
        front.service.clock.advance(byMilliseconds: 60_000)
        give(in: environment)
        #expect(erase(intent: try self.intent(), key: "l").status == 200)
        for key in ["k", "l"] {
            let again = erase(intent: intent, key: key)
            // The second key belongs to a call with a different intent.
            #expect(again.status == (key == "k" ? 200 : 422), "\(again.text)")
        }
    }
}
