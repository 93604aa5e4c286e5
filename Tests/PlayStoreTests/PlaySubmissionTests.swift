import Core
import Evidence
import HTTPServer
import JSON
import Practice
import Service
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Handing in tokens of Google Play", .timeLimit(.minutes(20)))
struct PlaySubmissionTests {
    @Test("A purchase counts at once, for the customer who hands its token in")
    func bought() throws {
        let play = try ServedPlay()
        let shop = try PlayShopfront(play.url)
        let token = try play.take(.buy, "level2")
        let reply = shop.submit([token])
        #expect(reply.status == 200, "\(reply.text)")
        let item = try #require(try shop.items(reply).first)
        #expect(item["outcome"] == "recorded" && item["environment"] == "sandbox", "\(item.text)")
        #expect(item["purchase"]?.string == "google:\(TransactionID(playToken: token))")
        #expect(try reply.json["entitlements"]?["level2"]?["active"] == true)
        // The token is sensitive.
        #expect(!reply.text.contains(token))
        let again = shop.submit([token])
        #expect(try shop.items(again).first?["outcome"] == "already_known")
        let other = shop.submit([token], of: "u2")
        #expect(try shop.items(other).first?["outcome"] == "held_by_another")
    }

    @Test(
        "Until the log has the format of such answers, a purchase is refused, and what waits goes on waiting"
    )
    func formatPending() throws {
        let play = try ServedPlay()
        let shop = try PlayShopfront(play.url)
        let database = shop.service.database
        try database.run(
            "alter table deed.format disable trigger all; update deed.format set number = 1")
        let unpaid = try play.take(.buy, "coins.100") { $0.pending = true }
        let queued = shop.submit([unpaid])
        #expect(queued.status == 202, "\(queued.text)")
        let token = try play.take(.buy, "level2")
        let count = try shop.service.eventCount()
        let refused = shop.submit([token], idempotencyKey: "once")
        #expect(refused.status == 409, "\(refused.text)")
        #expect(try refused.json["code"] == "format_pending")
        #expect(try refused.json["retryable"] == true && refused.header("Retry-After") == "60")
        _ = try play.take(.approve)
        shop.service.clock.advance(byMilliseconds: 10_000)
        let held = try #require(try shop.work()).item
        #expect(held.state.word == .waiting && held.reason?.code == "format_pending")
        #expect(try shop.service.eventCount() == count)
        try database.run("update deed.format set number = 2")
        #expect(shop.submit([token], idempotencyKey: "once").status == 200)
        shop.service.clock.advance(byMilliseconds: 86_400_000)
        #expect(try shop.work()?.item.state.word == .believed)
    }

    @Test("A state that changed since is found when the token is handed in again")
    func refunded() throws {
        let play = try ServedPlay()
        let shop = try PlayShopfront(play.url)
        let token = try play.take(.buy, "level2")
        #expect(try shop.submit([token]).json["entitlements"]?["level2"]?["active"] == true)
        _ = try play.take(.refund, "level2")
        let after = shop.submit([token])
        #expect(try shop.items(after).first?["outcome"] == "recorded", "\(after.text)")
        #expect(try after.json["entitlements"]?["level2"]?["active"] == false, "\(after.text)")
    }

    @Test("Handing the same state in again appends nothing")
    func unchanged() throws {
        let play = try ServedPlay()
        let shop = try PlayShopfront(play.url)
        let token = try play.take(.buy, "pro:monthly")
        #expect(shop.submit([token]).status == 200)
        let count = try shop.service.eventCount()
        shop.service.clock.advance(byMilliseconds: 60_000)
        for _ in 0..<3 { #expect(shop.submit([token]).status == 200) }
        #expect(try shop.service.eventCount() == count)
        #expect(try shop.service.database.number("select count(*) from deed.evidence") == 1)
    }

    @Test("Tokens of another package, unknown ones and unpaid ones have an outcome each")
    func outcomes() throws {
        let play = try ServedPlay()
        let shop = try PlayShopfront(play.url)
        let good = try play.take(.buy, "level2")
        let unpaid = try play.take(.buy, "coins.100") { $0.pending = true }
        let foreign = shop.submit([good], package: "com.example.other")
        #expect(try shop.items(foreign).first?["code"] == "foreign_package")
        #expect(try shop.items(foreign).first?["retryable"] == true)
        let mixed = shop.submit([String(repeating: "x", count: 30), good, unpaid])
        #expect(mixed.status == 202, "\(mixed.text)")
        let items = try shop.items(mixed)
        #expect(items.map { $0["outcome"]?.string } == ["refused", "recorded", "queued"])
        #expect(items.map { $0["index"]?.integer } == [0, 1, 2])
        #expect(items[0]["code"] == "token_unknown")
        let intake = try #require(items[2]["intake"]?.string)
        let waiting = shop.service.send("GET", "/v1/intake/\(intake)", key: shop.backend)
        #expect(try waiting.json["code"] == "purchase_pending", "\(waiting.text)")
        _ = try play.take(.approve)
        shop.service.clock.advance(byMilliseconds: 10_000)
        #expect(try shop.work()?.item.state.word == .believed)
        let balances = shop.service.send(
            "GET", "/v1/customers/u1/balances?environment=sandbox", key: shop.backend)
        #expect(try balances.json["balances"]?["coins"] == 100, "\(balances.text)")
    }

    @Test(
        "A store that does not answer in time is asked later by the queue, and no other app waits")
    func hangs() async throws {
        let play = try ServedPlay()
        let isOpen = Atomic(false)
        let silent = try CannedPlay(workers: 40) { path, _, _ in
            if path == "/token" { return reply(granted) }
            while !isOpen.load(ordering: .relaxed) { pause(milliseconds: 20) }
            return refusal(404)
        }
        let shop = try PlayShopfront(play.url)
        try shop.add("com.example.silent", silent.url)
        let token = try play.take(.buy, "level2")
        let waiting = Monitor<[Reply]>([])
        for number in 0..<8 {
            startThread("waiting") {
                let late = shop.submit(
                    ["t\(number)"], of: "w\(number)", package: "com.example.silent")
                waiting.change { $0.append(late) }
            }
        }
        let started = monotonicMilliseconds()
        // Calls for the other app do not wait for this one.
        for _ in 0..<5 { #expect(shop.submit([token]).status == 200) }
        // If they waited, each call would take five seconds.
        #expect(monotonicMilliseconds() - started < 20_000)
        try await aside { waiting.wait { $0.count == 8 ? () : nil } }
        let replies = waiting.change(wake: .none) { $0 }
        // Each call waits for five seconds, but other tests also use this machine.
        #expect(monotonicMilliseconds() - started < 60_000)
        for reply in replies {
            #expect(reply.status == 202, "\(reply.text)")
            #expect(try shop.items(reply).map { $0["outcome"]?.string } == ["queued"])
        }
        isOpen.store(true, ordering: .relaxed)
        shop.service.clock.advance(byMilliseconds: 10_000)
        #expect(try shop.work()?.item.state.word == .refused)
    }

    @Test("Tokens in one call share what they need, and a slow one delays no other")
    func together() async throws {
        let play = try ServedPlay()
        let shop = try PlayShopfront(play.url)
        let (one, other) = (try play.take(.buy, "level2"), try play.take(.buy, "coins.100"))
        // Neither call has an access token yet. One token occurs twice.
        let first = shop.submit([one, other, one])
        #expect(first.status == 200, "\(first.text)")
        #expect(
            try shop.items(first).map { $0["outcome"]?.string }
                == ["recorded", "recorded", "already_known"])
        let replies = Monitor<[Int]>([])
        for tokens in [[one, other], [other, one], [one, one], [other, other, one]] {
            startThread("submitting") {
                let status = shop.submit(tokens).status
                replies.change { $0.append(status) }
            }
        }
        try await aside { replies.wait { $0.count == 4 ? () : nil } }
        #expect(replies.change(wake: .none) { $0 } == [200, 200, 200, 200])
    }

    @Test("Under one key, what the first call could not tell comes with the second")
    func partly() throws {
        let isOpen = Atomic(false)
        let store = try CannedPlay(workers: 8) { path, _, _ in
            if path == "/token" { return reply(granted) }
            if path.hasSuffix("/slow"), !isOpen.load(ordering: .relaxed) { return refusal(500) }
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
        let shop = try PlayShopfront(store.url)
        let first = shop.submit(["fast", "slow"], idempotencyKey: "k")
        #expect(
            try shop.items(first).map { $0["outcome"]?.string } == ["recorded", "queued"],
            "\(first.text)")
        isOpen.store(true, ordering: .relaxed)
        let second = shop.submit(["fast", "slow"], idempotencyKey: "k")
        #expect(
            try shop.items(second).map { $0["outcome"]?.string } == ["recorded", "recorded"],
            "\(second.text)")
        #expect(shop.submit(["fast", "other"], idempotencyKey: "k").status == 422)
    }

    @Test("A tester's purchase that continues a paid one waits and counts in the sandbox alone")
    func bothEnvironments() throws {
        let isOpen = Atomic(false)
        let now = Mutex(machineInstant())
        let store = try CannedPlay { path, _, _ in
            if path == "/token" { return reply(granted) }
            if !isOpen.load(ordering: .relaxed) { return refusal(500) }
            let isNew = path.hasSuffix("/new")
            let start = now.withLock { $0 }
            let end = start.advanced(byMilliseconds: isNew ? 86_400_000 : -60_000)
            let answer: JSON = [
                "subscriptionState": isNew
                    ? "SUBSCRIPTION_STATE_ACTIVE" : "SUBSCRIPTION_STATE_EXPIRED",
                "startTime": .string(start.advanced(byMilliseconds: -120_000).text),
                "lineItems": [
                    [
                        "productId": "pro", "expiryTime": .string(end.text),
                        "latestSuccessfulOrderId": isNew ? "GPA.2" : "GPA.1",
                        "autoRenewingPlan": [:],
                    ]
                ],
            ]
            if !isNew { return reply(answer) }
            return reply(
                answer.with("linkedPurchaseToken", "old").with("testPurchase", [:]))
        }
        let shop = try PlayShopfront(store.url, onOneClock: true)
        now.withLock { $0 = shop.service.clock.now }
        let waiting = shop.submit(["new"])
        #expect(
            try shop.items(waiting).map { $0["outcome"]?.string } == ["queued"], "\(waiting.text)")
        isOpen.store(true, ordering: .relaxed)
        shop.service.clock.advance(byMilliseconds: 10_000)
        #expect(try shop.work()?.item.state.word == .believed)
        for environment in ["production", "sandbox"] {
            let rights = shop.service.send(
                "GET", "/v1/customers/u1/entitlements?environment=\(environment)",
                key: shop.backend)
            let pro = try rights.json["entitlements"]?["pro"]
            // The app lets testers keep their sandbox purchases.
            #expect(pro?["active"] == true && pro?["sandbox"] == true, "\(rights.text)")
            let count = "select count(*) from deed.purchases where environment = '\(environment)'"
            #expect(try shop.service.database.number(count) == 1)
        }
    }

    @Test("A key of one environment takes no purchase of the other, and queues nothing")
    func bound() throws {
        let play = try ServedPlay()
        let shop = try PlayShopfront(play.url)
        let token = try play.take(.buy, "level2")
        let production = try shop.service.key(.backend, only: .production)
        let refused = shop.submit([token], key: production)
        #expect(try shop.items(refused).first?["code"] == "environment_not_allowed")
        let sandbox = try shop.service.key(.backend, only: .sandbox)
        let taken = shop.submit([token], key: sandbox, in: .sandbox)
        #expect(try shop.items(taken).first?["outcome"] == "recorded", "\(taken.text)")
        let unpaid = try play.take(.buy, "coins.100") { $0.pending = true }
        let later = shop.submit([unpaid], key: sandbox, in: .sandbox)
        #expect(later.status == 200)
        #expect(try shop.items(later).first?["code"] == "purchase_pending")
        #expect(try shop.items(later).first?["retryable"] == true)
    }

    @Test("Restoring goes by the project's rule, as for other stores")
    func restore() throws {
        let play = try ServedPlay()
        let shop = try PlayShopfront(play.url)
        let token = try play.take(.buy, "level2")
        #expect(shop.submit([token]).status == 200)
        let settings = shop.service.send(
            "PATCH", "/v1/settings", key: shop.admin, body: #"{"restore":"transfer"}"#)
        #expect(settings.status == 200)
        let restored = shop.submit([token], of: "u2", as: "restore")
        #expect(try restored.json["entitlements"]?["level2"]?["active"] == true, "\(restored.text)")
    }

    @Test("The same call under one key gives the same answer, and another one is refused")
    func idempotent() throws {
        let play = try ServedPlay()
        let shop = try PlayShopfront(play.url)
        let (one, other) = (try play.take(.buy, "level2"), try play.take(.buy, "coins.100"))
        let first = shop.submit([one], idempotencyKey: "k1")
        let repeated = shop.submit([one], idempotencyKey: "k1")
        #expect(first.status == 200 && repeated.status == 200)
        #expect(try shop.items(first) == shop.items(repeated))
        #expect(shop.submit([other], idempotencyKey: "k1").status == 422)
    }

    @Test("What is no proper token is refused by its member, and no store is asked")
    func members() throws {
        let store = try CannedPlay { _, _, _ in refusal(500) }
        let shop = try PlayShopfront(store.url)
        let good: JSON = ["package": "com.example.game", "token": "t"]
        func one(_ name: String, _ value: JSON?) -> JSON {
            var object = JSONObject()
            for member in good.object?.members ?? [] where member.name != name {
                object.append(member.name, member.value)
            }
            if let value { object.append(name, value) }
            return .object(object)
        }
        let long = String(repeating: "t", count: 4097)
        let rows: [(JSON, String, String)] = [
            (.array([good, good, good, one("token", "")]), "google[3].token", "invalid_member"),
            (.array([one("token", .string(long))]), "google[0].token", "invalid_member"),
            (.array([one("token", "a\u{7}b")]), "google[0].token", "invalid_member"),
            (.array([one("token", 3)]), "google[0].token", "invalid_member"),
            (.array([one("token", nil)]), "google[0].token", "missing_member"),
            (.array([one("package", nil)]), "google[0].package", "missing_member"),
            (.array([one("package", "game")]), "google[0].package", "invalid_member"),
            (.array([one("package", "com..game")]), "google[0].package", "invalid_member"),
            (.array([one("package", "com.1game")]), "google[0].package", "invalid_member"),
            (.array([one("product", "")]), "google[0].product", "invalid_member"),
            (.array([one("kind", "x")]), "google[0].kind", "unknown_member"),
            (.array(["t"]), "google[0]", "invalid_member"),
            (.array(Array(repeating: good, count: 21)), "google", "invalid_member"),
            ("t", "google", "invalid_member"), (.array([]), "receipt", "missing_member"),
        ]
        for (value, member, code) in rows {
            let body: JSON = ["google": value]
            let reply = shop.service.send(
                "POST", "/v1/customers/u1/receipts", key: shop.backend, body: body.text)
            #expect(reply.status == 400, "\(member) \(reply.text)")
            #expect(try reply.json["member"]?.string == member)
            #expect(try reply.json["code"]?.string == code, "\(member)")
        }
        #expect(store.count() == 0)
    }
}
