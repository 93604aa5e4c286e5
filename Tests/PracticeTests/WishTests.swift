import Core
import JSON
import Outbound
import Practice
import Testing

@Suite("Requests that the practice store refuses, and shared purchases", .timeLimit(.minutes(20)))
struct WishTests {
    private func store() throws -> PracticeStore {
        let store = PractisedStore(PracticeWorld(.example, from: opening, seed: 9)).store
        for product in ["level2", "coins.100", "pro.month"] {
            _ = try store.perform(Step(.buy, customer: "ada", product: product))
        }
        return store
    }

    @Test("A back end is asked about a refund with the customer's reason")
    func reasons() throws {
        let store = try store()
        for (reason, word) in [(nil, "UNINTENDED_PURCHASE"), (Step.Reason.legal, "LEGAL")] {
            let step = Step(.requestRefund, customer: "ada", product: "level2")
            _ = try store.perform(step.changed { $0.reason = reason })
            let data = store.read { world in
                world.postings.last.map { world.payload(of: $0) { _ in "" } }?["data"]
            }
            #expect(data?["consumptionRequestReason"]?.string == word)
        }
    }

    @Test("Notifications beyond the history's reach are deleted, above some thousand")
    func oldNotifications() throws {
        var world = PracticeWorld(.example, from: opening, seed: 9)
        for _ in 0..<2100 { _ = try world.perform(Step(.testNotification)) }
        _ = world.doNext(by: opening.days(180))
        _ = world.doNext(by: opening.days(180))
        #expect(world.postings.count == 2100)
        let last = world.postings.last?.id
        _ = world.doNext(by: opening.days(183))
        _ = world.doNext(by: opening.days(183))
        #expect(world.postings.count == 2000 && world.forgottenPostings == 100)
        #expect(world.postings.last?.id == last)
    }

    private func standings(_ store: PracticeStore, _ customer: String) -> [String: [String]] {
        store.read { world in
            Dictionary(grouping: world.standings(of: customer), by: \.product)
                .mapValues { $0.map(\.word) }
        }
    }

    private func step(
        _ act: Step.Act, _ product: String, with member: String? = nil
    ) -> Step {
        Step(act, customer: "ada", product: product).changed { $0.with = member }
    }

    @Test(
        "A step about one product affects no other one",
        arguments: [
            (Step.Act.cancel, "coins.100"), (.cancel, "nonsense"), (.resume, "nonsense"),
            (.refund, "nonsense"), (.unshare, "nonsense"), (.unshare, "level2"),
            (.change, "level2"),
        ])
    func otherProduct(act: Step.Act, product: String) throws {
        let store = try store()
        _ = try store.perform(step(.share, "pro.month", with: "ben"))
        let before = store.read { $0.sales(of: "ada").map(\.changed) }
        #expect(throws: PracticeError.self) {
            try store.perform(step(act, product, with: act == .unshare ? "ben" : nil))
        }
        #expect(store.read { $0.sales(of: "ada").map(\.changed) } == before)
        #expect(standings(store, "ben") == ["pro.month": ["active"]])
        #expect(store.read { $0.subscriptions(of: "ada").map(\.willRenew) } == [true])
    }

    @Test(
        "Shared access ends with a refund and returns with its reversal",
        arguments: ["level2", "pro.month"])
    func shared(_ product: String) throws {
        let store = try store()
        _ = try store.perform(step(.share, product, with: "ben"))
        #expect(throws: PracticeError.self) {
            try store.perform(step(.share, product, with: "ben"))
        }
        #expect(standings(store, "ben") == [product: ["active"]])
        _ = try store.perform(step(.refund, product))
        #expect(standings(store, "ben") == [product: ["revoked"]])
        _ = try store.perform(step(.reverse, product))
        #expect(standings(store, "ben") == [product: ["active"]])
        let types = store.read { world in
            world.postings.filter { $0.customer == "ben" }.map(\.type)
        }
        #expect(types.suffix(2) == ["REVOKE", "REFUND_REVERSED"])
        _ = try store.perform(step(.unshare, product, with: "ben"))
        #expect(standings(store, "ben") == [product: ["revoked"]])
        #expect(standings(store, "ada")[product] == ["active"])
        // The customer may share the purchase again. This counts as a new share.
        _ = try store.perform(step(.share, product, with: "ben"))
        #expect(standings(store, "ben")[product]?.sorted() == ["active", "revoked"])
    }

    @Test("A request that is refused half-way leaves no trace")
    func halfWay() throws {
        let store = try store()
        for product in ["coins.100", "pro.year"] {
            let ask = Step(.buy, customer: "eve", product: product).changed { $0.ask = true }
            _ = try store.perform(ask)
        }
        _ = try store.perform(Step(.withdraw, product: "pro.year"))
        #expect(throws: PracticeError.self) { try store.perform(Step(.approve, customer: "eve")) }
        #expect(store.read { $0.sales(of: "eve") }.isEmpty)
        _ = try store.perform(Step(.decline, customer: "eve"))
        #expect(throws: PracticeError.self) {
            try store.perform(Step(.buy, customer: "new", product: "pro.year"))
        }
        #expect(store.read { !$0.customers.contains("new") })
    }

    @Test("No web page controls the store, whatever host name leads to it")
    func webPages() throws {
        let served = try ServedStore()
        func state(_ headers: [(String, String)]) throws -> Int {
            var client = try HTTPClient()
            return try client.send(
                OutboundRequest("GET", "\(served.url)/practice/state", headers: headers)
            ).status
        }
        #expect(try state([]) == 200)
        #expect(try state([("Host", "localhost:9090")]) == 200)
        #expect(try state([("Host", "[::1]:9090")]) == 200)
        #expect(try state([("Host", "evil.example")]) == 403)
        #expect(try state([("Host", "127.0.0.1.evil.example")]) == 403)
        #expect(try state([("Origin", "https://evil.example")]) == 403)
    }

    @Test(
        "Numbers that no store has are refused, and the store continues",
        arguments: [
            #"{"do":"buy","customer":"u1","product":"coins.100","quantity":9223372036854775807}"#,
            #"{"do":"refund","customer":"ada","product":"level2","percent":1e300}"#,
            #"{"do":"refund","customer":"ada","product":"level2","percent":0.0001}"#,
            #"{"do":"raise_price","product":"pro.commitment","price":9223372036854775000}"#,
            #"{"do":"extend","customer":"ada","days":9223372036854775807}"#,
        ])
    func numbers(_ text: String) throws {
        let served = try ServedStore()
        for product in ["level2", "pro.month"] { _ = try served.buy(product, "ada") }
        let answer = try served.ask("POST", "/practice/steps", JSON.read(text))
        #expect([400, 409].contains(answer.status), "\(answer.json)")
        #expect(try served.ask("GET", "/practice/state").status == 200)
        _ = try served.buy("pro.commitment", "eve")
    }

    @Test(
        "Trouble and shops with such numbers are refused, too",
        arguments: [
            #"{"skew_seconds":9223372036854775807}"#, #"{"skew_seconds":-9223372036854775808}"#,
            #"{"slow":1,"slow_ms":9223372036854775807}"#, #"{"slow":1,"slow_ms":-1}"#,
        ])
    func troubleNumbers(_ text: String) throws {
        #expect(throws: PracticeError.self) { try Trouble(Array(text.utf8)) }
        let dear = Shop.example.text.replacing(
            "\"price\" : 990", with: "\"price\" : 990000000000000000")
        #expect(dear != Shop.example.text)
        #expect(throws: PracticeError.self) { try Shop(Array(dear.utf8)) }
        let scenario = """
            {"title":"t","until":"1d","trouble":\(text),"lives":[]}
            """
        #expect(throws: PracticeError.self) { try Scenario(Array(scenario.utf8)) }
    }
}
