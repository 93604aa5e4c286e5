import Core
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Moving purchases by hand over the API")
struct MoveCallTests {
    private let service: TestService
    private let admin: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
        let catalog = """
            {"products":[{"id":"level2","kind":"non_consumable","entitlements":["level2"]},
                {"id":"chest","kind":"consumable","credits":{"coins":100}}]}
            """
        #expect(send("PUT", "/v1/catalog", catalog).status == 200)
        try buy("level2", .nonConsumable, "1", for: "anna")
    }

    private func send(
        _ method: String, _ target: String, _ body: String = "", idempotencyKey: String? = nil
    ) -> Reply {
        service.send(method, target, key: admin, body: body, idempotencyKey: idempotencyKey)
    }

    private func buy(
        _ product: String, _ kind: ProductKind, _ transaction: String, for customer: String
    ) throws {
        let fact = try TransactionFact.bought(
            product, kind, transaction: transaction, at: service.clock.now)
        _ = try service.ledger.append(
            .record([fact], for: .test(customer), key: "buy \(transaction)"))
    }

    private func transfer(
        _ purchase: String = "apple:1", from holder: String = "anna", to receiver: String,
        key: String? = nil
    ) -> Reply {
        send(
            "POST", "/v1/customers/\(holder)/purchases/\(purchase)/transfer",
            #"{"to":"\#(receiver)","reason":"new phone","ticket":"T-1"}"#, idempotencyKey: key)
    }

    private func undo(of holder: String, key: String? = nil) -> Reply {
        send(
            "POST", "/v1/customers/\(holder)/purchases/apple:1/undo_transfer",
            #"{"reason":"wrong person"}"#, idempotencyKey: key)
    }

    private func code(_ reply: Reply) throws -> String? { try reply.json["code"]?.string }

    private func mayUse(_ customer: String) throws -> Bool? {
        try send("GET", "/v1/customers/\(customer)/entitlements/level2").json["active"]?.bool
    }

    private func types(of customer: String) throws -> [String] {
        let events = try send("GET", "/v1/customers/\(customer)/events").json["events"]?.array
        return events?.compactMap { $0["type"]?.string } ?? []
    }

    @Test("A whole purchase moves: both streams record it, and access follows")
    func moved() throws {
        let reply = transfer(to: "ben")
        let position = try #require(reply.header("Deed-Position"))
        #expect(reply.status == 200)
        #expect(
            reply.text
                == #"{"purchase":"apple:1","environment":"production","from":"anna","to":"ben","#
                + #""position":"\#(position)","moved_at":"2026-11-20T19:21:00.000Z","#
                + #""reason":"new phone","ticket":"T-1"}"#)
        #expect(try types(of: "anna") == ["purchase.made", "purchase.detached"])
        #expect(try types(of: "ben") == ["purchase.attached"])
        #expect(try mayUse("anna") == false)
        #expect(try mayUse("ben") == true)
        #expect(
            try service.database.number(
                "select count(*) from deed.holders where customer = 'ben'") == 1)
        #expect(
            try service.database.number(
                "select count(*) from deed.purchases where customer = 'anna'") == 0)
    }

    @Test("A move can be undone once; a purchase with its first holder was never moved")
    func undone() throws {
        #expect(try code(undo(of: "anna")) == "never_moved")
        _ = transfer(to: "ben")
        let reply = undo(of: "ben")
        #expect(reply.status == 200)
        #expect(try reply.json["to"]?.string == "anna")
        #expect(try reply.json["reason"]?.string == "wrong person")
        #expect(try mayUse("anna") == true)
        #expect(try mayUse("ben") == false)
        #expect(try undo(of: "anna").json["to"]?.string == "ben")
        #expect(try mayUse("ben") == true)
    }

    private func merge(_ customer: String, into other: String) -> Reply {
        send(
            "POST", "/v1/customers/\(customer)/merge",
            #"{"into":"\#(other)","reason":"one person"}"#)
    }

    @Test("The undoing of a move reaches the customer of whom the former holder became a part")
    func undoneTowardsMerged() throws {
        _ = transfer(to: "ben")
        #expect(merge("anna", into: "carl").status == 200)
        #expect(merge("carl", into: "dora").status == 200)
        let reply = undo(of: "ben", key: "u")
        #expect(reply.status == 200, "\(reply.text)")
        #expect(try reply.json["to"]?.string == "dora")
        #expect(try mayUse("dora") == true)
        #expect(try mayUse("anna") == false && mayUse("ben") == false)
        #expect(undo(of: "ben", key: "u").text == reply.text)
        #expect(try types(of: "dora").last == "purchase.attached")
    }

    @Test("Where the former holder became a part of the present one, the refusal says what to undo")
    func undoneTowardsItself() throws {
        _ = transfer(to: "ben")
        #expect(merge("anna", into: "ben").status == 200)
        let events = try service.eventCount()
        let reply = undo(of: "ben")
        #expect(reply.status == 409)
        #expect(try code(reply) == "already_held")
        let detail = try reply.json["detail"]?.string ?? ""
        #expect(detail.contains("\"anna\"") && detail.contains("undo that merge"), "\(detail)")
        #expect(try service.eventCount() == events)
    }

    @Test("The same key and body give the same bytes and one move, wherever the purchase is now")
    func repetition() throws {
        let first = transfer(to: "ben", key: "k")
        let undone = undo(of: "ben", key: "u")
        let onward = transfer(to: "carl")
        #expect(onward.status == 200)
        let events = try service.eventCount()
        #expect(transfer(to: "ben", key: "k").text == first.text)
        #expect(undo(of: "ben", key: "u").text == undone.text)
        #expect(try code(transfer(to: "dora", key: "k")) == "idempotency_mismatch")
        #expect(try service.eventCount() == events)
        #expect(try mayUse("carl") == true)
    }

    @Test("A move that is not possible is refused, and nothing is written")
    func refused() throws {
        try buy("chest", .consumable, "7", for: "anna")
        let events = try service.eventCount()
        #expect(try code(transfer("apple:2", to: "ben")) == "purchase_unknown")
        #expect(try code(transfer(from: "ben", to: "carl")) == "purchase_unknown")
        #expect(try code(transfer(to: "anna")) == "already_held")
        #expect(try code(transfer("apple:7", to: "ben")) == "bound_by_balance")
        #expect(try code(undo(of: "ben")) == "purchase_unknown")
        #expect(try service.eventCount() == events)
    }

    @Test("If many admins move one purchase to different customers at once, one succeeds")
    func race() throws {
        let statuses = Mutex<[Int: Int]>([:])
        inParallel(16) { index in
            let reply = transfer(to: "c\(index)")
            statuses.withLock { $0[reply.status, default: 0] += 1 }
        }
        #expect(statuses.withLock { $0[200] } == 1)
        #expect(statuses.withLock { $0.values.reduce(0, +) } == 16)
        #expect(statuses.withLock { $0[500] } == nil)
        let users = try (0..<16).filter { try mayUse("c\($0)") == true }
        #expect(users.count == 1)
        #expect(try mayUse("anna") == false)
    }

    /// Returns a command with the store's statement, signed a little later in each round.
    private func news(_ round: Int, for holder: String) throws -> Command {
        var fact = try TransactionFact.bought(
            "level2", .nonConsumable, transaction: "1", at: service.clock.now)
        fact.signedAt = fact.signedAt.advanced(byMilliseconds: Int64(round))
        return try .record([fact], for: .test(holder), key: "news \(round)")
    }

    @Test("Moves back and forth while the store sends news of the purchase lose nothing")
    func pingPong() throws {
        inParallel(3) { lane in
            for round in 0..<15 {
                switch lane {
                case 0: _ = transfer(to: "ben")
                case 1: _ = undo(of: "ben")
                default:
                    for holder in ["anna", "ben"] {
                        if let news = try? news(round, for: holder) {
                            _ = try? service.ledger.append(news)
                        }
                    }
                }
            }
        }
        let users = try ["anna", "ben"].filter { try mayUse($0) == true }
        #expect(users.count == 1)
        let holder = try #require(users.first)
        #expect(
            try service.database.number(
                "select count(*) from deed.holders where customer = '\(holder)'") == 1)
        let attached = try types(of: "anna") + types(of: "ben")
        let count = attached.count { $0 == "purchase.attached" }
        #expect(attached.count { $0 == "purchase.detached" } == count)
    }
}
