import Core
import JSON
import Minting
import TestSupport
import Testing

@Suite("Store accounts and requested refunds, over the API")
struct RefundCallTests {
    private let front: Storefront
    private let account = "704000000000000001"

    init() throws {
        front = try Storefront()
    }

    private var coins: Sale {
        Sale("7", "coins.100", .consumable, at: front.daysAgo(2)).with { $0.account = account }
    }

    private func requests() throws -> [JSON] {
        try front.send("GET", "/v1/refund_requests").json["requests"]?.array ?? []
    }

    private func ask(_ id: String, of sale: Sale) -> Int {
        front.notify(
            front.store.notification(
                "CONSUMPTION_REQUEST", id: id, at: front.daysAgo(0),
                transaction: front.store.transaction(sale), reason: "UNINTENDED_PURCHASE")
        ).status
    }

    @Test("A requested refund is listed with its deadline and the used share")
    func listed() throws {
        _ = front.submit(coins)
        #expect(try requests() == [])
        #expect(ask("n1", of: coins) == 200)
        #expect(ask("n1", of: coins) == 200)
        _ = front.send(
            "POST", "/v1/customers/u1/balances/coins/spend", #"{"amount":40}"#)
        let deadline = front.daysAgo(0).advanced(byMilliseconds: 12 * 3_600_000)
        let request = try #require(try requests().first)
        #expect(try requests().count == 1)
        #expect(request["customer"] == "u1" && request["purchase"] == "apple:7")
        #expect(request["answer_by"]?.string == deadline.text)
        #expect(request["reason"] == "unintended_purchase")
        #expect(request["delivered"] == true && request["used_milli_percent"] == 40_000)
        #expect(try front.events().last == "balance.spent")
        #expect(try front.events().contains("refund.requested"))
    }

    @Test("It leaves the list once the store has decided, or its time is over")
    func over() throws {
        _ = front.submit(coins)
        _ = ask("n1", of: coins)
        let taken = coins.with {
            $0.refunded = front.daysAgo(0)
            $0.signedAt = front.daysAgo(0)
        }
        _ = front.notify(
            front.store.notification(
                "REFUND", id: "n2", at: front.daysAgo(0),
                transaction: front.store.transaction(taken)))
        #expect(try requests() == [])
        let other = Sale("8", "coins.100", .consumable, at: front.daysAgo(2))
        _ = ask("n3", of: other)
        #expect(try requests().map { $0["customer"] } == [.null])
        front.service.clock.advance(byMilliseconds: 12 * 3_600_000)
        #expect(try requests() == [])
    }

    @Test("A list continues where it ended")
    func pages() throws {
        for number in 1...5 {
            let sale = Sale("\(number)", "coins.100", .consumable, at: front.daysAgo(2))
            #expect(ask("n\(number)", of: sale) == 200)
        }
        var found: [String] = []
        var next: String? = ""
        while let after = next {
            let query = after.isEmpty ? "" : "&after=\(after)"
            let page = try front.send("GET", "/v1/refund_requests?limit=2\(query)").json
            found += (page["requests"]?.array ?? []).compactMap { $0["id"]?.string }
            next = page["next"]?.string
        }
        #expect(found.sorted() == ["n1", "n2", "n3", "n4", "n5"])
        #expect(front.send("GET", "/v1/refund_requests?after=nonsense").status == 400)
    }

    @Test("A customer is found by each account in the evidence, and by no other")
    func found() throws {
        func customers(_ account: String) throws -> JSON? {
            try front.send("GET", "/v1/app_transactions/\(account)").json["customers"]
        }
        #expect(try customers(account) == [])
        _ = front.submit(coins)
        #expect(try customers(account) == ["u1"])
        #expect(try customers("704") == [])
        let installed = front.store.appTransaction(
            originalVersion: "1.0", account: "705", at: front.daysAgo(1))
        _ = front.submit(["app_transaction": .string(installed)], for: "u2")
        #expect(try customers("705") == ["u2"])
    }

    @Test("A withdrawn consent is an event of each customer of the account")
    func consent() throws {
        _ = front.submit(coins)
        let told = front.store.rescission(of: account, id: "n9", at: front.daysAgo(0))
        #expect(front.notify(told).status == 200)
        #expect(front.notify(told).status == 200)
        #expect(try front.events().filter { $0 == "consent.rescinded" }.count == 1)
        let stranger = front.store.rescission(of: "999", id: "n10", at: front.daysAgo(0))
        #expect(front.notify(stranger).status == 200)
        #expect(
            try front.service.database.number(
                "select count(*) from deed.events where type = 'consent.rescinded'") == 2)
        #expect(try front.isActive("pro") == false)
    }
}
