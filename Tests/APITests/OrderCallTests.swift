import Core
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Orders and account tokens over the API")
struct OrderCallTests {
    private let service: TestService
    private let admin: NewKey
    private let orders = "/v1/customers/u1/orders"

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
    }

    private func send(
        _ method: String, _ target: String, _ body: String = "", idempotencyKey: String? = nil
    ) -> Reply {
        service.send(method, target, key: admin, body: body, idempotencyKey: idempotencyKey)
    }

    private func token(_ reply: Reply) throws -> String {
        try #require(try reply.json["order"]?["token"]?.string)
    }

    private func code(_ reply: Reply) throws -> String? { try reply.json["code"]?.string }

    /// Reports a purchase with the token, as the store does.
    private func pay(_ token: String, as transaction: String = "1", by customer: String) throws {
        var fact = try TransactionFact.bought(
            "coins", .consumable, transaction: transaction, at: service.clock.now)
        fact.accountToken = token.uppercased()
        _ = try service.ledger.append(
            .record([fact], for: .test(customer), key: "pay \(transaction)"))
    }

    @Test("An order is opened with an id, a token for the store and an end")
    func opened() throws {
        let reply = send(
            "POST", orders, #"{"order":"o1","product":"com.example.coins.100","lifetime":"PT1H"}"#)
        let token = try token(reply)
        let position = try #require(reply.header("Deed-Position"))
        let json =
            #"{"id":"o1","token":"\#(token)","product":"com.example.coins.100","state":"open","#
            + #""opened_at":"2026-11-20T19:21:00.000Z","expires_at":"2026-11-20T20:21:00.000Z","#
            + #""purchase":null,"transaction":null,"closed_at":null,"reason":null,"ticket":null}"#
        let answer =
            #"{"customer":"u1","environment":"production","position":"\#(position)","#
            + #""order":\#(json)}"#
        #expect(reply.status == 201)
        #expect(reply.text == answer)
        #expect(AccountToken(token)?.text == token)
        #expect(send("GET", "/v1/orders/o1").text == answer)
        #expect(
            send("GET", orders).text
                == #"{"customer":"u1","environment":"production","position":"\#(position)","#
                + #""orders":[\#(json)],"next":null}"#)
    }

    @Test("Without a body an order gets an id of its own and the project's lifetime")
    func bare() throws {
        _ = send("PATCH", "/v1/settings", #"{"order_lifetime":"P2D"}"#)
        let first = try send("POST", orders).json["order"]
        let second = try send("POST", orders, "{}").json["order"]
        #expect(first?["expires_at"]?.string == "2026-11-22T19:21:00.000Z")
        #expect(first?["id"]?.string?.hasPrefix("o_") == true)
        #expect(first?["id"] != second?["id"])
        #expect(first?["token"] != second?["token"])
    }

    @Test("The same key and body give the same token and one order, whatever happened to it")
    func repetition() throws {
        let first = send("POST", orders, #"{"product":"coins"}"#, idempotencyKey: "k")
        let id = try #require(try first.json["order"]?["id"]?.string)
        let closing = #"{"because":"cancelled","reason":"r"}"#
        let closed = send("POST", "\(orders)/\(id)/close", closing, idempotencyKey: "c")
        _ = send("POST", "\(orders)/\(id)/close", #"{"because":"settled","reason":"s"}"#)
        service.clock.advance(byMilliseconds: 86_400_000 * 30)
        let again = send("POST", orders, #"{"product":"coins"}"#, idempotencyKey: "k")
        #expect(again.text == first.text)
        #expect(again.status == 201)
        let closedAgain = send("POST", "\(orders)/\(id)/close", closing, idempotencyKey: "c")
        #expect(closedAgain.text == closed.text)
        #expect(
            try code(send("POST", orders, #"{"product":"gems"}"#, idempotencyKey: "k"))
                == "idempotency_mismatch")
        #expect(try send("GET", orders).json["orders"]?.array?.count == 1)
    }

    @Test("An id can be used once per project and environment, by whichever customer")
    func taken() throws {
        #expect(send("POST", orders, #"{"order":"o1"}"#).status == 201)
        for customer in ["u1", "u2", "u3"] {
            let reply = send("POST", "/v1/customers/\(customer)/orders", #"{"order":"o1"}"#)
            #expect(reply.status == 409)
            #expect(try code(reply) == "order_exists")
        }
        let sandbox = send(
            "POST", "/v1/customers/u2/orders", #"{"order":"o1","environment":"sandbox"}"#)
        #expect(sandbox.status == 201)
        #expect(try send("GET", "/v1/orders/o1").json["customer"]?.string == "u1")
        #expect(
            try send("GET", "/v1/orders/o1?environment=sandbox").json["customer"]?.string == "u2")
        try service.createProject("other")
        let other = try service.key(.backend, project: "other")
        #expect(service.send("GET", "/v1/orders/o1", key: other).status == 404)
        #expect(
            service.send("POST", orders, key: other, body: #"{"order":"o1"}"#).status == 201)
    }

    @Test("If many customers open an order with one id at once, one gets it")
    func race() throws {
        let statuses = Mutex<[Int]>([])
        inParallel(24) { index in
            let reply = send("POST", "/v1/customers/c\(index)/orders", #"{"order":"o1"}"#)
            statuses.withLock { $0.append(reply.status) }
        }
        let all = statuses.withLock { $0 }
        #expect(all.count == 24)
        #expect(all.count { $0 == 201 } == 1)
        #expect(all.count { $0 == 409 } == 23)
        #expect(try service.database.number("select count(*) from deed.orders") == 1)
    }

    @Test("A purchase that carries the token fulfils the order")
    func fulfilled() throws {
        let order = send("POST", orders, #"{"order":"o1"}"#)
        try pay(try token(order), by: "u1")
        let shown = try send("GET", "/v1/orders/o1").json["order"]
        #expect(shown?["state"]?.string == "fulfilled")
        #expect(shown?["purchase"]?.string == "apple:1")
        #expect(shown?["transaction"]?.string == "1")
        let late = send("POST", "\(orders)/o1/close", #"{"because":"cancelled","reason":"r"}"#)
        #expect(late.status == 409)
        #expect(try code(late) == "order_fulfilled")
    }

    @Test("An unclosed order expires at its end, and its token is still the customer's")
    func stale() throws {
        let order = send("POST", orders, #"{"order":"o1","lifetime":"PT1S"}"#)
        service.clock.advance(byMilliseconds: 999)
        #expect(try send("GET", "/v1/orders/o1").json["order"]?["state"]?.string == "open")
        service.clock.advance(byMilliseconds: 1)
        #expect(try send("GET", "/v1/orders/o1").json["order"]?["state"]?.string == "stale")
        #expect(try owner(of: try token(order)) == "u1")
    }

    @Test("An admin closes an order with a reason, once; another close changes nothing")
    func closed() throws {
        let order = send("POST", orders, #"{"order":"o1"}"#)
        let reply = send(
            "POST", "\(orders)/o1/close",
            #"{"because":"settled","reason":"gave coins by hand","ticket":"T-1"}"#)
        let position = try #require(reply.header("Deed-Position"))
        #expect(
            reply.text
                == #"{"customer":"u1","environment":"production","position":"\#(position)","#
                + #""order":{"id":"o1","token":"\#(try token(order))","product":null,"#
                + #""state":"settled","opened_at":"2026-11-20T19:21:00.000Z","#
                + #""expires_at":"2026-11-27T19:21:00.000Z","purchase":null,"transaction":null,"#
                + #""closed_at":"2026-11-20T19:21:00.000Z","reason":"gave coins by hand","#
                + #""ticket":"T-1"}}"#)
        let events = try service.eventCount()
        let again = send("POST", "\(orders)/o1/close", #"{"because":"settled","reason":"more"}"#)
        #expect(again.status == 200)
        #expect(try again.json["order"]?["reason"]?.string == "gave coins by hand")
        #expect(try service.eventCount() == events)
    }

    @Test("Orders are listed oldest first, page by page")
    func pages() throws {
        for number in 1...5 { _ = send("POST", orders, #"{"order":"o\#(number)"}"#) }
        func page(_ query: String) throws -> ([String], Int64?) {
            let json = try send("GET", orders + query).json
            let ids = json["orders"]?.array?.compactMap { $0["id"]?.string } ?? []
            return (ids, json["next"]?.integer)
        }
        #expect(try page("?limit=2") == (["o1", "o2"], 2))
        #expect(try page("?limit=2&after=2") == (["o3", "o4"], 4))
        #expect(try page("?limit=2&after=4") == (["o5"], nil))
        #expect(try page("?after=5") == ([], nil))
    }

    private let uuid = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"

    private func register(_ customer: String, _ token: String, _ query: String = "") -> Reply {
        send("PUT", "/v1/customers/\(customer)/account_token\(query)", #"{"token":"\#(token)"}"#)
    }

    private func owner(of token: String) throws -> String? {
        let found = ["u1", "u2"].filter { customer in
            let count = try? service.database.number(
                "select count(*) from deed.tokens where environment = 'production' and token = '"
                    + "\(token)' and customer = '\(customer)'")
            return count == 1
        }
        return found.first
    }

    @Test("A token is stored in lower case, and registering it again makes no event")
    func registered() throws {
        let reply = register("u1", uuid.uppercased())
        let position = try #require(reply.header("Deed-Position"))
        #expect(reply.status == 200)
        #expect(
            reply.text
                == #"{"customer":"u1","environment":"production","position":"\#(position)","#
                + #""token":"\#(uuid)"}"#)
        let events = try service.eventCount()
        #expect(register("u1", uuid).text == reply.text)
        #expect(try service.eventCount() == events)
        #expect(try owner(of: uuid) == "u1")
    }

    @Test("A token has one customer per environment, whether registered or from an order")
    func tokenTaken() throws {
        let ordered = try token(send("POST", orders))
        _ = register("u1", uuid)
        for token in [uuid, ordered] {
            let reply = register("u2", token)
            #expect(reply.status == 409)
            #expect(try code(reply) == "token_taken")
            #expect(try owner(of: token) == "u1")
            #expect(register("u1", token).status == 200)
        }
        #expect(register("u2", uuid, "?environment=sandbox").status == 200)
        #expect(try owner(of: uuid) == "u1")
    }

    @Test("If many customers register one token at once, one gets it")
    func tokenRace() throws {
        let statuses = Mutex<[Int]>([])
        inParallel(24) { index in
            let reply = register("c\(index)", uuid)
            statuses.withLock { $0.append(reply.status) }
        }
        #expect(statuses.withLock { $0.count { $0 == 200 } } == 1)
        #expect(statuses.withLock { $0.count { $0 == 409 } } == 23)
        #expect(try service.database.number("select count(*) from deed.tokens") == 1)
    }
}
