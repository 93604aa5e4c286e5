import Core
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Balances over the API")
struct BalanceCallTests {
    private let service: TestService
    private let admin: NewKey
    private let coins = "/v1/customers/u1/balances/coins"

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
    }

    private func send(
        _ method: String, _ target: String, _ body: String = "", idempotencyKey: String? = nil
    ) -> Reply {
        service.send(method, target, key: admin, body: body, idempotencyKey: idempotencyKey)
    }

    private func spend(_ amount: Int64, key: String? = nil) -> Reply {
        send("POST", "\(coins)/spend", #"{"amount":\#(amount)}"#, idempotencyKey: key)
    }

    private func give(_ amount: Int64) -> Reply {
        send("POST", "\(coins)/adjust", #"{"amount":\#(amount),"reason":"r"}"#)
    }

    private func balance() throws -> Int64? {
        try send("GET", "/v1/customers/u1/balances").json["balances"]?["coins"]?.integer
    }

    @Test("Spending and adjusting report the movement and the new balance")
    func moved() throws {
        let adjusted = send(
            "POST", "\(coins)/adjust", #"{"amount":100,"reason":"sorry","ticket":"T-1"}"#)
        let first = try #require(adjusted.header("Deed-Position"))
        #expect(adjusted.status == 200)
        #expect(
            adjusted.text
                == #"{"customer":"u1","environment":"production","position":"\#(first)","#
                + #""currency":"coins","version":1,"type":"balance.adjusted","amount":100,"#
                + #""balance":100,"recorded_at":"2026-11-20T19:21:00.000Z","purchase":null,"#
                + #""transaction":null,"reason":"sorry","ticket":"T-1"}"#)
        let spent = send("POST", "\(coins)/spend", #"{"amount":30,"reason":"sword"}"#)
        let second = try #require(spent.header("Deed-Position"))
        #expect(spent.status == 200)
        #expect(
            spent.text
                == #"{"customer":"u1","environment":"production","position":"\#(second)","#
                + #""currency":"coins","version":2,"type":"balance.spent","amount":-30,"#
                + #""balance":70,"recorded_at":"2026-11-20T19:21:00.000Z","purchase":null,"#
                + #""transaction":null,"reason":"sword","ticket":null}"#)
        #expect(try balance() == 70)
    }

    @Test("A spend beyond the balance is refused, and the answer shows the balance")
    func insufficient() throws {
        _ = give(10)
        let reply = spend(11)
        #expect(
            reply.text
                == #"{"type":"about:blank","title":"Conflict","status":409,"#
                + #""code":"insufficient_balance","detail":"The balance of \"coins\" is 10, which is less "#
                + #"than 11; nothing was spent.","retryable":false,"currency":"coins","balance":10}"#
        )
        #expect(try balance() == 10)
        #expect(spend(10).status == 200)
        #expect(
            try send("POST", "/v1/customers/u2/balances/gems/spend", #"{"amount":1}"#)
                .json["balance"]?.integer == 0)
    }

    @Test(
        "Spending starts at one; an adjustment may go below zero, but not beyond the bounds"
    )
    func bounds() throws {
        for amount in [0, -1, Balances.limit + 1] as [Int64] {
            #expect(try spend(amount).json["code"]?.string == "amount_out_of_range")
        }
        #expect(try give(0).json["code"]?.string == "amount_out_of_range")
        #expect(give(-5).status == 200)
        #expect(try balance() == -5)
        #expect(try give(-Balances.limit).json["code"]?.string == "balance_out_of_bounds")
        #expect(try balance() == -5)
    }

    @Test("The same key and body give the same bytes, however the balance has changed since")
    func repetition() throws {
        _ = give(10)
        let first = spend(4, key: "k")
        #expect(spend(4, key: "k").text == first.text)
        _ = give(100)
        _ = spend(1)
        let again = spend(4, key: "k")
        #expect(again.text == first.text)
        #expect(again.header("Deed-Position") == first.header("Deed-Position"))
        #expect(try spend(5, key: "k").json["code"]?.string == "idempotency_mismatch")
        #expect(try balance() == 105)
    }

    @Test("A repetition has its first bytes, and a page its own balance, near either end")
    func repetitions() throws {
        let first = (1...40).map { number in
            number % 3 == 0 ? spend(Int64(number), key: "k\(number)") : giveOnce(number)
        }
        #expect(first.allSatisfy { $0.status == 200 })
        // Merges in another customer's coins between these writes.
        _ = send(
            "POST", "/v1/customers/u2/balances/coins/adjust", #"{"amount":1000,"reason":"r"}"#)
        let merging = send("POST", "/v1/customers/u2/merge", #"{"into":"u1","reason":"r"}"#)
        #expect(merging.status == 200)
        let last = (41...60).map { giveOnce($0) }
        for (index, reply) in (first + last).enumerated() {
            let number = index + 1
            let again =
                number % 3 == 0 && number <= 40
                ? spend(Int64(number), key: "k\(number)") : giveOnce(number)
            #expect(again.text == reply.text, "call \(number)")
        }
        try expectPages()
    }

    @Test("Pages of a balance that was erased begin with its own balance")
    func erasedPages() throws {
        for number in 1...20 { _ = giveOnce(number) }
        let erasing = #""reason":"r","purchases":"forget""#
        let look = send("POST", "/v1/customers/u1/erase", "{\(erasing)}")
        let intent = try #require(try look.json["intent"]?.string)
        #expect(
            send("POST", "/v1/customers/u1/erase", "{\(erasing),\"intent\":\"\(intent)\"}").status
                == 200)
        for number in 21...50 { _ = giveOnce(number) }
        #expect(try balance() == Int64((21...50).reduce(0, +)))
        try expectPages()
    }

    private func giveOnce(_ number: Int) -> Reply {
        send(
            "POST", "\(coins)/adjust", #"{"amount":\#(number),"reason":"r"}"#,
            idempotencyKey: "k\(number)")
    }

    /// Compares the page after each movement with the whole history.
    private func expectPages() throws {
        let whole = try #require(
            try send("GET", "\(coins)/history?limit=500").json["movements"]?.array)
        #expect(whole.count > 20)
        for (index, movement) in whole.enumerated() {
            let after = try #require(movement["version"]?.integer)
            let page = try send("GET", "\(coins)/history?after=\(after)&limit=3").json["movements"]
            #expect(page?.array == Array(whole.dropFirst(index + 1).prefix(3)), "after \(after)")
        }
    }

    @Test("When 64 callers spend one of ten at once, ten succeed", .timeLimit(.minutes(20)))
    func race() throws {
        _ = give(10)
        let replies = Mutex<[Reply]>([])
        inParallel(64) { _ in
            let reply = spend(1)
            replies.withLock { $0.append(reply) }
        }
        let all = replies.withLock { $0 }
        let spent = all.filter { $0.status == 200 }
        #expect(all.count == 64)
        #expect(spent.count == 10)
        let left = Set(try spent.map { try #require(try $0.json["balance"]?.integer) })
        #expect(left == Set(0..<10))
        for reply in all where reply.status != 200 {
            #expect(reply.status == 409)
            #expect(try reply.json["balance"]?.integer == 0)
        }
        #expect(try balance() == 0)
    }

    @Test("A balance lists its movements page by page, whatever else happened to the customer")
    func history() throws {
        let catalog = #"{"products":[{"id":"chest","kind":"consumable","credits":{"coins":100}}]}"#
        #expect(send("PUT", "/v1/catalog", catalog).status == 200)
        let fact = try TransactionFact.bought(
            "chest", .consumable, transaction: "7", at: service.clock.now)
        _ = try service.ledger.append(.record([fact], for: .test("u1"), key: "buy"))
        _ = spend(30)
        _ = send(
            "POST", "/v1/customers/u1/grants",
            #"{"entitlement":"pro","reason":"r","allow_unknown":true}"#)
        _ = send(
            "POST", "/v1/customers/u1/balances/gems/adjust",
            #"{"amount":9,"reason":"r","allow_unknown":true}"#)
        _ = give(-80)
        #expect(
            send("GET", "\(coins)/history").text
                == #"{"customer":"u1","environment":"production","currency":"coins","movements":["#
                + #"{"version":2,"type":"balance.credited","amount":100,"balance":100,"#
                + #""recorded_at":"2026-11-20T19:21:00.000Z","purchase":"apple:7","#
                + #""transaction":"7","reason":null,"ticket":null},"#
                + #"{"version":3,"type":"balance.spent","amount":-30,"balance":70,"#
                + #""recorded_at":"2026-11-20T19:21:00.000Z","purchase":null,"#
                + #""transaction":null,"reason":null,"ticket":null},"#
                + #"{"version":6,"type":"balance.adjusted","amount":-80,"balance":-10,"#
                + #""recorded_at":"2026-11-20T19:21:00.000Z","purchase":null,"#
                + #""transaction":null,"reason":"r","ticket":null}],"next":null}"#)
        #expect(try page("?limit=1") == ([2], 2))
        #expect(try page("?limit=1&after=2") == ([3], 3))
        #expect(try page("?limit=1&after=3") == ([6], nil))
        #expect(try page("?after=6") == ([], nil))
        #expect(try page("", of: "silver") == ([], nil))
    }

    private func page(_ query: String, of currency: String = "coins") throws -> ([Int64], Int64?) {
        let json = try send("GET", "/v1/customers/u1/balances/\(currency)/history\(query)").json
        let versions = json["movements"]?.array?.compactMap { $0["version"]?.integer } ?? []
        return (versions, json["next"]?.integer)
    }

    @Test(
        "A history longer than one read is listed completely and adds up",
        .timeLimit(.minutes(20)))
    func longHistory() throws {
        inParallel(30) { _ in for _ in 0..<80 { _ = give(1) } }
        var versions: [Int64] = []
        var next: Int64? = 0
        while let after = next {
            let (page, following) = try page("?limit=1000&after=\(after)")
            versions += page
            next = following
        }
        #expect(versions == Array(1...2400))
        let last = try send("GET", "\(coins)/history?after=2399").json["movements"]?.array?.first
        #expect(last?["balance"]?.integer == 2400)
        #expect(try balance() == 2400)
    }
}
