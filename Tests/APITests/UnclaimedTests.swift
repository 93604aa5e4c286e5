import Core
import Histories
import JSON
import Minting
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Purchases that no customer claimed, over the API")
struct UnclaimedTests {
    private static let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private func month(_ transaction: String, token: String? = Self.token) -> Sale {
        Sale(
            transaction, "pro.month", .autoRenewable, at: front.daysAgo(1),
            until: front.daysAgo(-29)
        ).with { $0.token = token }
    }

    private func coins(_ transaction: String, token: String? = Self.token) -> Sale {
        Sale(transaction, "coins.100", .consumable, at: front.daysAgo(1)).with { $0.token = token }
    }

    private func body(_ sale: Sale, id: String? = nil) -> String {
        front.store.notification(
            "SUBSCRIBED", id: id ?? "n-\(sale.transaction)", at: front.daysAgo(0),
            transaction: front.store.transaction(sale))
    }

    private func register(_ customer: String = "u1", key: String? = nil) -> Reply {
        front.send(
            "PUT", "/v1/customers/\(customer)/account_token", #"{"token":"\#(Self.token)"}"#,
            idempotencyKey: key)
    }

    private func count(_ table: String, _ condition: String = "true") throws -> Int64 {
        try front.service.database.number(
            "select count(*) from deed.\(table) where \(condition)")
    }

    @Test("A token that is registered late brings the purchase, in the same commit")
    func lateToken() throws {
        let sent = body(month("1"))
        #expect(front.notify(sent).status == 200)
        let reply = register(key: "k")
        #expect(reply.status == 200)
        #expect(try front.events() == ["token.registered", "purchase.attached"])
        #expect(try front.isActive("pro") == true)
        #expect(try count("holders", "customer = 'u1'") == 1)
        #expect(try count("purchases", "customer like '$unclaimed/%'") == 0)
        let events = try front.service.eventCount()
        #expect(register(key: "k").text == reply.text)
        #expect(register().status == 200)
        #expect(try front.notify(sent).json["outcome"]?.string == "already_known")
        #expect(try front.service.eventCount() == events)
    }

    @Test("Every purchase under the token comes, and its credits count once")
    func several() throws {
        for number in 1...9 { _ = front.notify(body(coins("\(number)"))) }
        _ = front.notify(body(coins("10", token: "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12")))
        _ = front.notify(body(month("11")))
        #expect(try front.coins() == nil)
        #expect(register().status == 200)
        #expect(try front.coins() == 900)
        #expect(register().status == 200)
        for number in 1...9 { _ = front.notify(body(coins("\(number)"), id: "again-\(number)")) }
        #expect(try front.coins() == 900)
        #expect(try front.isActive("pro") == true)
        #expect(try count("purchases", "customer = 'u1'") == 10)
        #expect(try count("purchases", "customer = '$unclaimed/apple:10'") == 1)
    }

    @Test("A notification meets the token that it carries, however close together they come")
    func race() throws {
        let other = try TestService(beside: front.service)
        try other.apps.reload()
        for round in 0..<40 {
            let token = AccountToken(random: [UInt8](repeating: UInt8(round), count: 16)).text
            let sent = body(coins("\(round)", token: token))
            inParallel(2) { lane in
                if lane == 0 {
                    _ = front.notify(sent, through: round % 2 == 0 ? other : nil)
                } else {
                    _ = front.send(
                        "PUT", "/v1/customers/c\(round)/account_token", #"{"token":"\#(token)"}"#)
                }
            }
            #expect(try front.coins(of: "c\(round)") == 100, "round \(round)")
        }
    }

    @Test("A command sees earlier decisions of the same batch")
    func oneBatch() throws {
        // Many purchases with one customer's token arrive at once, while the customer registers the token repeatedly.
        inParallel(24) { lane in
            if lane % 6 == 0 {
                _ = register()
            } else {
                _ = front.notify(body(coins("\(lane)")))
            }
        }
        _ = register()
        #expect(try front.coins() == 2000)
        #expect(try count("unclaimed") == 0)
        #expect(try count("unclaimed_tokens") == 0)
    }

    @Test("An order claims what waits under its token, and is fulfilled by it")
    func order() throws {
        var ports = front.service.ports
        ports.secrets.randomBytes = { [UInt8](repeating: 7, count: $0) }
        let token = AccountToken(random: [UInt8](repeating: 7, count: 16)).text
        _ = front.notify(body(coins("1", token: token)))
        _ = front.notify(body(coins("2", token: token)))
        let useCases = UseCases(ports)
        let opened = try ports.ledger.perform(
            useCases.orders.opening(
                nil, product: nil, lifetime: nil, for: .test("u1"),
                by: Sender(actor: try Actor("test"), idempotencyKey: "k")))
        #expect(opened.order.fulfilled?.purchase.description == "apple:1")
        #expect(try front.coins() == 200)
        #expect(
            try front.events() == [
                "order.opened", "purchase.attached", "order.fulfilled", "balance.credited",
                "purchase.attached", "balance.credited",
            ])
        let again = try ports.ledger.perform(
            useCases.orders.opening(
                nil, product: nil, lifetime: nil, for: .test("u1"),
                by: Sender(actor: try Actor("test"), idempotencyKey: "k")))
        #expect(again == opened)
    }

    @Test("A token with too many waiting purchases is no customer's")
    func tooMany() throws {
        let row = "'default', 'production', '\(Self.token)', 'apple', n::text, 'com.example.game'"
        try front.service.database.run(
            "insert into deed.unclaimed_tokens select \(row) from generate_series(1, 1001) as n")
        let reply = register()
        #expect(reply.status == 409)
        #expect(reply.code == "too_many_unclaimed")
        #expect(try count("tokens") == 0)
    }

    private func send(_ method: String, _ path: String, _ body: String = "") -> Reply {
        front.send(method, "/v1/unclaimed\(path)", body, key: front.admin)
    }

    @Test("Unclaimed purchases are listed page by page, and shown with all that is known")
    func listed() throws {
        for number in 1...3 { _ = front.notify(body(coins("\(number)"))) }
        _ = front.notify(body(month("4", token: nil)))
        let all = try send("GET", "").json["purchases"]?.array ?? []
        #expect(all.map { $0["purchase"]?.string } == (1...4).map { "apple:\($0)" })
        #expect(all.first?["tokens"]?.text == "[\"\(Self.token)\"]")
        #expect(all.first?["since"]?.string == "2026-11-20T19:21:00.000Z")
        #expect(all.last?["tokens"]?.text == "[]")
        let page = try send("GET", "?limit=2").json
        #expect(page["next"]?.string == "apple:2")
        let rest = try send("GET", "?limit=2&after=apple:2").json
        #expect(rest["purchases"]?.array?.map { $0["purchase"]?.string } == ["apple:3", "apple:4"])
        #expect(rest["next"]?.isNull == true)
        let shown = try send("GET", "/apple:1").json
        #expect(shown["product"]?.string == "coins.100")
        #expect(shown["history"]?.array?.first?["account_token"]?.string == Self.token)
        #expect(try send("GET", "?environment=sandbox").json["purchases"]?.array?.isEmpty == true)
        #expect(send("GET", "/apple:9").code == "not_unclaimed")
        #expect(send("GET", "/9").status == 400)
        #expect(send("GET", "?after=9").status == 400)
        #expect(front.send("GET", "/v1/unclaimed").status == 403)
    }

    @Test("An admin attaches a purchase to a customer once, and can undo that")
    func attached() throws {
        _ = front.notify(body(month("1", token: nil)))
        let wish = #"{"customer":"u1","reason":"sent the invoice","ticket":"T-1"}"#
        let attach = { (key: String) in
            front.send(
                "POST", "/v1/unclaimed/apple:1/attach", wish, key: front.admin, idempotencyKey: key)
        }
        let reply = attach("k")
        let position = try #require(reply.header("Deed-Position"))
        #expect(
            reply.text
                == #"{"purchase":"apple:1","environment":"production","customer":"u1","#
                + #""position":"\#(position)","attached_at":"2026-11-20T19:21:00.000Z","#
                + #""reason":"sent the invoice","ticket":"T-1"}"#)
        #expect(try front.isActive("pro") == true)
        #expect(try count("unclaimed") == 0)
        #expect(attach("k").text == reply.text)
        #expect(attach("other").code == "not_unclaimed")
        let undone = front.send(
            "POST", "/v1/customers/u1/purchases/apple:1/undo_transfer", #"{"reason":"wrong"}"#,
            key: front.admin)
        #expect(undone.status == 200, "\(undone.text)")
        #expect(try send("GET", "").json["purchases"]?.array?.count == 1)
        #expect(try front.isActive("pro") == false)
        #expect(
            send("POST", "/apple:1/attach", #"{"customer":"$unclaimed/x","reason":"r"}"#).status
                == 400)
    }

    @Test(
        "A purchase made unclaimed again comes by its token, unless a customer has the token")
    func backAgain() throws {
        func attach(_ number: Int) throws {
            let reply = send(
                "POST", "/apple:\(number)/attach", #"{"customer":"u1","reason":"guessed"}"#)
            #expect(reply.status == 200, "\(reply.text)")
        }
        func undo(_ number: Int) throws {
            let reply = front.send(
                "POST", "/v1/customers/u1/purchases/apple:\(number)/undo_transfer",
                #"{"reason":"wrong"}"#, key: front.admin)
            #expect(reply.status == 200, "\(reply.text)")
        }
        _ = front.notify(body(month("1")))
        try attach(1)
        #expect(try count("unclaimed_tokens") == 0)
        try undo(1)
        #expect(try count("unclaimed_tokens") == 1)
        #expect(register("u2").status == 200)
        #expect(try front.isActive("pro", for: "u2") == true)
        #expect(try count("unclaimed") == 0)
        #expect(try count("unclaimed_tokens") == 0)
        let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12"
        _ = front.notify(body(month("2", token: token)))
        try attach(2)
        let reply = front.send(
            "PUT", "/v1/customers/u1/account_token", #"{"token":"\#(token)"}"#)
        #expect(reply.status == 200, "\(reply.text)")
        try undo(2)
        #expect(try count("unclaimed") == 1)
        #expect(try count("unclaimed_tokens") == 0)
    }

    @Test("A row without a supporting event blocks no customer")
    func strayRow() throws {
        _ = front.notify(body(coins("1")))
        try front.service.database.run(
            "insert into deed.unclaimed_tokens "
                + "values ('default', 'production', '\(Self.token)', 'apple', '99', 'com.example.game')"
        )
        let reply = register()
        #expect(reply.status == 200, "\(reply.text)")
        #expect(try front.coins() == 100)
        #expect(try count("unclaimed_tokens") == 0)
    }

    @Test(
        "Whatever the order of tokens and notifications, everything arrives once")
    func anyOrder() throws {
        let seed = printedSeed(of: "tokens and notifications")
        var random = SeededGenerator(seed: seed)
        let other = try TestService(beside: front.service)
        try other.apps.reload()
        var acts: [@Sendable (TestService) -> Reply] = []
        for number in 0..<20 {
            let token = AccountToken(random: [UInt8](repeating: UInt8(number), count: 16)).text
            let sales = [
                coins("\(number)-1", token: token), coins("\(number)-2", token: token.uppercased()),
                month("\(number)-3", token: token),
            ]
            let path = "/v1/customers/c\(number)/account_token"
            let wish = #"{"token":"\#(token)"}"#
            for _ in 0..<random.number(1...2) {
                acts.append { [front] in front.send("PUT", path, wish, through: $0) }
                for sale in sales {
                    let sent = body(sale, id: "n-\(sale.transaction)-\(random.number(0...1))")
                    acts.append { [front] in front.notify(sent, through: $0) }
                }
            }
        }
        acts.shuffle(using: &random)
        inParallel(8) { [acts] lane in
            for place in stride(from: lane, to: acts.count, by: 8) {
                let reply = acts[place](place % 3 == 0 ? other : front.service)
                #expect(reply.status == 200, "seed \(seed): \(reply.text)")
            }
        }
        for number in 0..<20 {
            let customer = "c\(number)"
            #expect(try front.coins(of: customer) == 200, "seed \(seed): \(customer)")
            #expect(try front.isActive("pro", for: customer) == true, "seed \(seed): \(customer)")
        }
        #expect(try count("unclaimed") == 0, "seed \(seed)")
        #expect(try count("unclaimed_tokens") == 0, "seed \(seed)")
        #expect(try count("holders", "customer like '$unclaimed/%'") == 0, "seed \(seed)")
    }
}
