import Core
import Evidence
import HTTPServer
import JSON
import Practice
import Synchronization
import TestSupport
import Testing
import Threading

@testable import PlayStore

@Suite("Purchase tokens that Google is asked about", .timeLimit(.minutes(20)))
struct TokenJudgingTests {
    /// Returns the judgement as text.
    private func word(_ verdict: Judgement<[ProvenEvidence], Postponement>) -> String {
        switch verdict {
        case .believed(let proven): "believed " + proven.map(\.kind.word).joined(separator: " ")
        case .refused(let refused): refused.code
        case .undecided(let wait): "later: \(wait.reason.code)"
        }
    }

    @Test("What was bought with a token is found, whatever it was")
    func kinds() throws {
        let play = try ServedPlay()
        let asking = try PlayAsking(play.url)
        let subscription = try play.take(.buy, "pro:monthly")
        let coins = try play.take(.buy, "coins.100") { $0.quantity = 3 }
        #expect(word(try asking.judge(subscription)) == "believed google_subscription")
        #expect(
            word(try asking.judge(subscription, product: "pro")) == "believed google_subscription")
        #expect(word(try asking.judge(coins)) == "believed google_purchase")
        #expect(word(try asking.judge(coins, product: "coins.100")) == "believed google_purchase")
        let unknown = String(repeating: "a", count: 40)
        #expect(word(try asking.judge(unknown)) == "token_unknown")
        #expect(word(try asking.judge(unknown, product: "coins.100")) == "token_unknown")
        #expect(word(try asking.judge("short")) == "token_unknown")
    }

    @Test("A purchase of a tester is of the sandbox, and carries what was asked")
    func sandbox() throws {
        let play = try ServedPlay()
        let asking = try PlayAsking(play.url)
        let token = try play.take(.buy, "pro:monthly")
        let before = machineInstant()
        guard case .believed(let proven) = try asking.judge(token) else {
            Issue.record("it is not believed")
            return
        }
        #expect(proven.map(\.environment) == [.sandbox])
        #expect(proven.map(\.app.text) == ["com.example.game"])
        let fact = try #require(proven[0].facts.transactions.first)
        #expect(fact.original == TransactionID(playToken: token))
        #expect(fact.signedAt >= before && fact.signedAt <= machineInstant())
        #expect(fact.reading?.token == token)
    }

    @Test("What is not paid yet waits, and what never was is refused")
    func pending() throws {
        let play = try ServedPlay()
        let asking = try PlayAsking(play.url)
        for product in ["pro:monthly", "level2"] {
            let token = try play.take(.buy, product) { $0.pending = true }
            #expect(word(try asking.judge(token)) == "later: purchase_pending", "\(product)")
            _ = try play.take(.decline)
            #expect(word(try asking.judge(token)) == "purchase_cancelled", "\(product)")
        }
    }

    @Test("A change is one purchase with what it continues, the oldest first")
    func chain() throws {
        let play = try ServedPlay()
        let asking = try PlayAsking(play.url)
        let old = try play.take(.buy, "pro:monthly")
        let new = try play.take(.change, "premium:monthly") { $0.when = .now }
        #expect(old != new)
        guard case .believed(let proven) = try asking.judge(new) else {
            Issue.record("it is not believed")
            return
        }
        #expect(proven.flatMap(\.facts.transactions).compactMap(\.reading?.token) == [old, new])
        let originals = Set(proven.flatMap(\.facts.transactions).map(\.original))
        #expect(originals == [TransactionID(playToken: old)])
        // Deed does not ask about purchases that it already knows.
        let known = try PlayAsking(play.url) { token, _ in
            token == old ? TransactionID(digits: "ab") : nil
        }
        guard case .believed(let rest) = try known.judge(new) else {
            Issue.record("it is not believed")
            return
        }
        let facts = rest.flatMap(\.facts.transactions)
        #expect(facts.compactMap(\.reading?.token) == [new])
        #expect(facts.map(\.original.text) == ["ab"])
    }

    @Test(
        "Who comes back in Play's own screens continues what expired, also when Google names it no more"
    )
    func comesBack() throws {
        let isAcknowledged = Atomic(false)
        let store = try CannedPlay { path, _, _ in
            if path == "/token" { return reply(granted) }
            let context: JSON = ["expiredPurchaseToken": "old"]
            let isNamed = path.hasSuffix("/new") && !isAcknowledged.load(ordering: .relaxed)
            let isOld = path.hasSuffix("/old")
            let state = "SUBSCRIPTION_STATE_" + (isOld ? "EXPIRED" : "ACTIVE")
            let answer: JSON = [
                "subscriptionState": .string(state), "startTime": "2026-01-01T00:00:00Z",
                "lineItems": [
                    [
                        "productId": "pro",
                        "expiryTime": isOld ? "2026-02-01T00:00:00Z" : "2027-01-01T00:00:00Z",
                        "latestSuccessfulOrderId": isOld ? "GPA.1" : "GPA.2",
                        "autoRenewingPlan": [:],
                    ]
                ],
            ]
            return reply(answer.with("outOfAppPurchaseContext", isNamed ? context : nil))
        }
        let old = TransactionID(playToken: "old")
        let facts = try PlayAsking(store.url).judge("new").belief?.flatMap(\.facts.transactions)
        #expect(facts?.compactMap(\.reading?.token) == ["old", "new"])
        #expect(facts?.map(\.original) == [old, old])
        // From now on, Google no longer names the earlier purchase, so only Deed knows it.
        isAcknowledged.store(true, ordering: .relaxed)
        let knowing = try PlayAsking(store.url) { token, _ in token == "new" ? old : nil }
        let later = try knowing.judge("new").belief?.flatMap(\.facts.transactions)
        #expect(later?.compactMap(\.reading?.token) == ["new"])
        #expect(later?.map(\.original) == [old])
    }

    @Test("Tokens that name each other end, and so does a chain without end")
    func cycles() throws {
        let store = try CannedPlay { path, _, _ in
            if path == "/token" { return reply(granted) }
            let number = path.split(separator: "/").last.flatMap { Int($0) } ?? 0
            let next = path.hasSuffix("/900") ? 901 : path.hasSuffix("/901") ? 900 : number + 1
            return reply([
                "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE",
                "startTime": "2026-01-01T00:00:00Z",
                "linkedPurchaseToken": .string(String(next)),
                "lineItems": [
                    [
                        "productId": "pro", "expiryTime": "2027-01-01T00:00:00Z",
                        "latestSuccessfulOrderId": .string("GPA.\(number)"),
                        "autoRenewingPlan": ["autoRenewEnabled": true],
                    ]
                ],
            ])
        }
        let asking = try PlayAsking(store.url)
        // Both tokens lead to the same name.
        let name = ["900", "901"].map { TransactionID(playToken: $0) }.min()
        for token in ["900", "901"] {
            guard case .believed(let proven) = try asking.judge(token) else {
                Issue.record("it is not believed")
                return
            }
            #expect(proven.count == 2)
            #expect(Set(proven.flatMap(\.facts.transactions).map(\.original)) == [name])
        }
        #expect(word(try asking.judge("1")) == "later: store_answer_unreadable")
    }

    @Test(
        "An older token that Google forgot still names the purchase; one that it cannot tell of now waits"
    )
    func forgotten() throws {
        for (response, expected) in [
            (refusal(410), "believed google_subscription"),
            (refusal(404), "believed google_subscription"),
            (refusal(500), "later: store_unavailable"),
            (refusal(429), "later: store_limited"),
        ] {
            let store = try CannedPlay { path, _, _ in
                if path == "/token" { return reply(granted) }
                return path.hasSuffix("/new") ? reply(active("old")) : response
            }
            let asking = try PlayAsking(store.url)
            let verdict = try asking.judge("new")
            #expect(word(verdict) == expected)
            for proven in verdict.belief ?? [] {
                #expect(
                    proven.facts.transactions.map(\.original) == [TransactionID(playToken: "old")])
            }
        }
    }

    private func active(_ linked: String) -> JSON {
        [
            "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE", "startTime": "2026-01-01T00:00:00Z",
            "linkedPurchaseToken": .string(linked),
            "lineItems": [
                [
                    "productId": "pro", "expiryTime": "2027-01-01T00:00:00Z",
                    "latestSuccessfulOrderId": "GPA.1",
                    "autoRenewingPlan": ["autoRenewEnabled": true],
                ]
            ],
        ]
    }

    @Test("What Google answers badly gives no right, and says why")
    func troubles() throws {
        let html = Response(status: 200, body: Array("<html>".utf8))
        let half = Response(status: 200, body: Array(active("").bytes.dropLast(9)))
        let rows: [(String, Response, String, String)] = [
            ("401", refusal(401), "later: store_unauthorized", "IAM & Admin"),
            (
                "403", refusal(403, "permissionDenied"), "later: store_unauthorized",
                "Users and permissions"
            ),
            ("off", refusal(403, "accessNotConfigured"), "later: store_unauthorized", "enable"),
            (
                "app", refusal(404, "applicationNotFound"), "later: store_unauthorized",
                "package name"
            ),
            ("400", refusal(400, "invalid"), "token_unknown", ""),
            ("odd 400", refusal(400), "later: store_refused", "400"),
            (
                "401 of a new account", refusal(401, "permissionDenied"),
                "later: store_unauthorized", "Users and permissions"
            ), ("404", refusal(404), "token_unknown", ""),
            ("410", refusal(410), "token_unknown", ""),
            ("429", refusal(429), "later: store_limited", "ask again after"),
            ("500", refusal(500), "later: store_unavailable", "500"),
            ("html", html, "later: store_answer_unreadable", ""),
            ("half a body", half, "later: store_answer_unreadable", ""),
            ("list", reply([]), "later: store_answer_unreadable", ""),
            ("other form", reply(["purchases": []]), "later: store_answer_unreadable", ""),
            ("number", reply(["subscriptionState": 3]), "later: store_answer_unreadable", ""),
        ]
        for (name, response, expected, cure) in rows {
            let store = try CannedPlay { path, _, _ in
                path == "/token" ? reply(granted) : response
            }
            let asking = try PlayAsking(store.url)
            let verdict = try asking.judge("t")
            #expect(word(verdict) == expected, "\(name)")
            if case .undecided(let wait) = verdict {
                #expect(wait.reason.sentence.contains(cure), "\(name): \(wait.reason.sentence)")
            }
        }
    }

    @Test("A key that Google rejects is named before any purchase is asked about")
    func rejectedKey() throws {
        let store = try CannedPlay { _, _, _ in reply(["error": "invalid_grant"], 400) }
        let asking = try PlayAsking(store.url)
        guard case .undecided(let wait) = try asking.judge("t") else {
            Issue.record("it is decided")
            return
        }
        #expect(wait.reason.code == "store_unauthorized")
        #expect(wait.reason.sentence.contains("--service-account-file"))
        #expect(store.count() == store.count("/token"))
    }

    @Test(
        "Where somebody waits, a store that hangs is given up in time, and one question is shared")
    func single() async throws {
        let isOpen = Monitor(false)
        let store = try CannedPlay(workers: 40) { path, _, _ in
            if path == "/token" { return reply(granted) }
            isOpen.wait { $0 ? () : nil }
            return refusal(404)
        }
        let asking = try PlayAsking(store.url)
        let started = monotonicMilliseconds()
        let words = Monitor<[String]>([])
        for _ in 0..<30 {
            startThread("asking") {
                let verdict = (try? asking.judge("t", within: 700)).map { self.word($0) } ?? "?"
                words.change { $0.append(verdict) }
            }
        }
        try await aside { words.wait { $0.count == 30 ? () : nil } }
        let all = words.change(wake: .none) { $0 }
        let passed = monotonicMilliseconds() - started
        isOpen.change { $0 = true }
        #expect(Set(all) == ["later: store_unavailable"])
        // Without a time limit, the call would wait for the store.
        #expect((600...20_000).contains(passed), "\(passed) ms")
        #expect(store.count() <= 4)
    }

    @Test("Numbers may be texts, in tokens for access and in purchases")
    func numbers() throws {
        let store = try CannedPlay { path, _, _ in
            if path == "/token" { return reply(["access_token": "ya29", "expires_in": "3599"]) }
            if path.contains("subscriptionsv2") || path.contains("productsv2") {
                return refusal(404)
            }
            return reply([
                "purchaseState": "0", "purchaseTimeMillis": "1767225600000", "quantity": "2",
                "orderId": "GPA.5", "consumptionState": "0",
            ])
        }
        let asking = try PlayAsking(store.url)
        guard case .believed(let proven) = try asking.judge("t", product: "coins") else {
            Issue.record("it is not believed")
            return
        }
        #expect(proven.flatMap(\.facts.transactions).map(\.quantity) == [2])
    }

    @Test(
        "An order leads to its purchase, many orders come at once, and one that is unknown fails all"
    )
    func orders() throws {
        let play = try ServedPlay()
        let asking = try PlayAsking(play.url)
        let token = try play.take(.buy, "coins.100")
        let statement = try asking.purchase(token).statement
        let id = try #require(statement.order)
        let answer = try asking.client.ask(.order(id), about: asking.app, in: nil)
        #expect(answer.remark == .order(isFound: true))
        #expect(answer.environment == .sandbox)
        #expect(answer.vouched.flatMap(\.facts.transactions).map(\.lineItem) == [id])
        let missing = try asking.client.ask(.order("GPA.1"), about: asking.app, in: nil)
        #expect(missing.remark == .order(isFound: false) && missing.vouched.isEmpty)
        #expect(try asking.client.orders([id], of: asking.app).map(\.token) == [token])
        #expect(throws: StoreTrouble.self) {
            try asking.client.orders([id, "GPA.1"], of: asking.app)
        }
        #expect(asking.budgets.contains { $0.name == "google_orders" && $0.pause == 22_222 })
    }

    @Test("A call that Google does not have says what to do instead")
    func unsupported() throws {
        let play = try ServedPlay()
        let asking = try PlayAsking(play.url)
        let calls: [StoreCall] = [
            .test, .finish(try TransactionID("1")), .refunds(of: try TransactionID("1")),
        ]
        for call in calls {
            let trouble = #expect(throws: StoreTrouble.self) {
                try asking.client.ask(call, about: asking.app, in: nil)
            }
            #expect(trouble?.code == "store_call_unsupported")
            #expect(trouble?.sentence.hasPrefix("This store does not support that. ") == true)
        }
    }

    @Test("A probe tells whether the key may read, and nothing else")
    func probe() throws {
        let play = try ServedPlay()
        let asking = try PlayAsking(play.url)
        for probe in StoreProbe.allCases {
            _ = try asking.client.ask(.probe(probe), about: asking.app, in: nil)
        }
        let stranger = try PlayAsking(play.url, package: "com.example.other")
        let trouble = #expect(throws: StoreTrouble.self) {
            try stranger.client.ask(.probe(.purchases), about: stranger.app, in: nil)
        }
        #expect(trouble?.sentence.contains("com.example.other") == true)
    }
}
