import Core
import HTTPServer
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Idempotency keys of calls with tokens", .timeLimit(.minutes(20)))
final class PlayKeyTests: Sendable {
    private let shop: PlayShopfront
    private let store: CannedPlay

    /// The store answers about the token `slow` only once it has been opened.
    private final class Door: Sendable {
        let isOpen = Atomic(false)
    }
    private let door: Door

    init() throws {
        let door = Door()
        self.door = door
        let store = try CannedPlay(workers: 8) { path, _, _ in
            if path == "/token" { return reply(granted) }
            if path.hasSuffix("/slow"), !door.isOpen.load(ordering: .relaxed) {
                return refusal(500)
            }
            let word = path.split(separator: "/").last.map(String.init) ?? ""
            if path.contains("subscriptionsv2") { return refusal(404) }
            return reply([
                "purchaseStateContext": ["purchaseState": "PURCHASED"],
                "purchaseCompletionTime": "2026-01-01T00:00:00Z",
                "orderId": .string("GPA.\(word)"),
                "productLineItem": [
                    ["productId": "level2", "productOfferDetails": ["quantity": 1]]
                ],
            ])
        }
        self.store = store
        shop = try PlayShopfront(store.url)
    }

    private func act(_ path: String, _ body: String, idempotencyKey: String? = nil) -> Reply {
        shop.service.send(
            "POST", "/v1/customers/u1/\(path)", key: shop.admin, body: body,
            idempotencyKey: idempotencyKey)
    }

    /// Erases the customer, whose purchases the next customer may have.
    private func erase() throws {
        let wish = #"{"purchases":"free","reason":"asked""#
        let look = act("erase", wish + "}")
        let intent = try #require(try look.json["intent"]?.string, "\(look.text)")
        let erased = act("erase", wish + #","intent":"\#(intent)"}"#)
        #expect(erased.status == 200, "\(erased.text)")
    }

    private func outcomes(_ reply: Reply) throws -> [String] {
        try shop.items(reply).compactMap { $0["outcome"]?.string }
    }

    @Test("A call that comes again after an erasure records nothing, and a new call does")
    func erased() throws {
        let first = shop.submit(["one"], idempotencyKey: "k")
        #expect(try outcomes(first) == ["recorded"], "\(first.text)")
        try erase()
        let count = try shop.service.eventCount()
        let late = shop.submit(["one"], idempotencyKey: "k")
        #expect(late.status == 422, "\(late.text)")
        #expect(try late.json["code"] == "done_before_erasure", "\(late.text)")
        #expect(try shop.service.eventCount() == count)
        let new = shop.submit(["one"], idempotencyKey: "l")
        #expect(try outcomes(new) == ["recorded"], "\(new.text)")
        let again = shop.submit(["one"], idempotencyKey: "l")
        #expect(again.status == 200, "\(again.text)")
    }

    @Test(
        "A token that waited in the first call begins no new life in the second one",
        arguments: [["fast", "slow"], ["slow", "fast"]])
    func partlyErased(_ tokens: [String]) throws {
        let first = shop.submit(tokens, idempotencyKey: "k")
        #expect(
            try outcomes(first) == tokens.map { $0 == "fast" ? "recorded" : "queued" },
            "\(first.text)")
        try erase()
        let count = try shop.service.eventCount()
        door.isOpen.store(true, ordering: .relaxed)
        let late = shop.submit(tokens, idempotencyKey: "k")
        #expect(late.status == 422, "\(late.text)")
        #expect(try late.json["code"] == "done_before_erasure", "\(late.text)")
        #expect(try shop.service.eventCount() == count)
    }

    @Test("A key under which a token was recorded serves no other call, and the other way round")
    func otherCall() throws {
        #expect(shop.submit(["one"], idempotencyKey: "k").status == 200)
        let grant = #"{"entitlement":"pro","reason":"r"}"#
        let other = act("grants", grant, idempotencyKey: "k")
        #expect(other.status == 422, "\(other.text)")
        #expect(try other.json["code"] == "idempotency_mismatch", "\(other.text)")
        #expect(act("grants", grant, idempotencyKey: "g").status == 201)
        let token = shop.submit(["two"], idempotencyKey: "g")
        #expect(token.status == 422, "\(token.text)")
        #expect(try token.json["code"] == "idempotency_mismatch", "\(token.text)")
    }
}
