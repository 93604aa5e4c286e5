import Core
import Evidence
import HTTPServer
import JSON
import Practice
import StoreAccess
import Synchronization
import TestSupport
import Testing
import Threading

@testable import PlayStore

@Suite("The client of Google Play", .timeLimit(.minutes(20)))
struct PlayStoreClientTests {
    @Test("It reads subscriptions and products from the practice store, each in its forms")
    func practice() throws {
        let play = try ServedPlay()
        let asking = try PlayAsking(play.url)
        let token = try play.take(.buy, "pro:monthly") { $0.offer = "trial" }
        let before = machineInstant()
        let reading = try asking.subscription(token)
        #expect(reading.statement.state == .active)
        #expect(reading.statement.items.map(\.product) == ["pro"])
        #expect(reading.statement.items[0].phase == .freeTrial)
        #expect(reading.statement.isTest && !reading.statement.isAcknowledged)
        #expect(reading.readAt >= before && reading.readAt <= machineInstant())
        #expect(try JSON.read(reading.bytes)["subscriptionState"] != nil)
        let coins = try play.take(.buy, "coins.100") { $0.quantity = 3 }
        let new = try asking.purchase(coins).statement
        let old = try asking.purchase(coins, of: ProductID("coins.100"))
            .statement
        for statement in [new, old] {
            #expect(statement.state == .purchased && statement.isTest)
            #expect(statement.items.map(\.quantity) == [3])
            #expect(statement.items.map(\.refundableQuantity) == [3])
            #expect(statement.purchasedAt == opening.advanced(byMilliseconds: 1))
        }
        #expect(
            throws: StoreTrouble.refused(
                code: 404, message: "No purchase has this token.", meaning: .purchaseUnknown)
        ) { try asking.subscription(coins) }
        // One access token is enough for all calls. Deed uses nine tenths of each limit.
        #expect(
            Set(asking.budgets.map { "\($0.name) \($0.pause)" }) == [
                "google_subscriptions 22222", "google_products 22222",
                "google_access_tokens 1111111",
            ])
    }

    @Test("A hundred calls at once ask for one access token, and all of them get it")
    func singleFlight() async throws {
        let isOpen = Monitor(false)
        let store = try CannedPlay(workers: 120) { path, authorization, _ in
            if path == "/token" {
                isOpen.wait { $0 ? () : nil }
                return reply(granted)
            }
            return authorization == "Bearer ya29.one" ? reply(active) : refusal(401)
        }
        let asking = try PlayAsking(store.url)
        let done = Mutex(0)
        let waiting = Monitor(0)
        for _ in 0..<100 {
            startThread("asking") {
                waiting.change { $0 += 1 }
                if (try? asking.subscription("t")) != nil {
                    done.withLock { $0 += 1 }
                }
                waiting.change { $0 += 1 }
            }
        }
        try await aside {
            waiting.wait { $0 >= 100 ? () : nil }
            isOpen.change { $0 = true }
            waiting.wait { $0 == 200 ? () : nil }
        }
        #expect(done.withLock { $0 } == 100)
        #expect(store.count("/token") == 1)
    }

    @Test("An access token is used until five minutes before its end")
    func renewal() throws {
        let store = try CannedPlay { path, _, _ in reply(path == "/token" ? granted : active) }
        let asking = try PlayAsking(store.url)
        // The margin of half a minute is longer than the test takes.
        for (seconds, tokens) in [(0, 1), (3599 - 300 - 30, 1), (31, 2), (3000, 2)]
            as [(Int64, Int)]
        {
            asking.advance(seconds: seconds)
            _ = try asking.subscription("t")
            #expect(store.count("/token") == tokens)
        }
    }

    @Test("A token that the store does not accept is replaced once, and no more")
    func unauthorized() throws {
        let store = try CannedPlay { path, authorization, count in
            if path == "/token" {
                return reply([
                    "access_token": .string("ya29.\(count)"), "expires_in": 3599,
                ])
            }
            return authorization == "Bearer ya29.1" ? refusal(401) : reply(active)
        }
        let asking = try PlayAsking(store.url)
        _ = try asking.subscription("t")
        _ = try asking.subscription("t")
        #expect(store.count("/token") == 2)
        let closed = try CannedPlay { path, _, _ in path == "/token" ? reply(granted) : refusal(401)
        }
        let other = try PlayAsking(closed.url)
        #expect(throws: StoreTrouble.rejectedKey(of: other.app.key.id)) {
            try other.subscription("t")
        }
        #expect(closed.count("/token") == 2)
    }

    @Test("A question for a token that fails is not kept")
    func failedToken() throws {
        let store = try CannedPlay { path, _, count in
            if path != "/token" { return reply(active) }
            return count == 1 ? reply(["error": "invalid_grant"], 400) : reply(granted)
        }
        let asking = try PlayAsking(store.url)
        #expect(throws: StoreTrouble.rejectedKey(of: asking.app.key.id)) {
            try asking.subscription("t")
        }
        _ = try asking.subscription("t")
        #expect(store.count("/token") == 2)
    }

    @Test("Each answer has its outcome, and only what may pass is asked again")
    func outcomes() throws {
        let unknown: StoreTrouble = .refused(
            code: 410, message: "no", meaning: .purchaseUnknown)
        let rows: [(Response, StoreTrouble?, Int)] = [
            (reply(active), nil, 1), (refusal(400), .refused(code: 400, message: "no"), 1),
            (refusal(410), unknown, 1),
            (refusal(500), .unavailable("it answered 500"), 3),
            (
                Response(status: 404),
                .unavailable("it answered 404 in a form that is not Google's"), 3
            ),
            (
                Response(status: 200, body: Array("<html>".utf8)),
                .unreadable("the payload is not JSON"), 1
            ),
        ]
        for (response, trouble, count) in rows {
            let store = try CannedPlay { path, _, _ in path == "/token" ? reply(granted) : response
            }
            let asking = try PlayAsking(store.url)
            let path =
                "/androidpublisher/v3/applications/com.example.game/purchases/subscriptionsv2/tokens/t"
            do throws(StoreTrouble) {
                _ = try asking.subscription("t")
                #expect(trouble == nil, "\(response.status)")
            } catch {
                if case .unreadable = error, case .unreadable? = trouble {
                } else {
                    #expect(error == trouble)
                }
            }
            #expect(store.count(path) == count, "\(response.status)")
        }
        for response in [refusal(429), refusal(403, "rateLimitExceeded")] {
            let store = try CannedPlay { path, _, _ in path == "/token" ? reply(granted) : response
            }
            let asking = try PlayAsking(store.url)
            let error = #expect(throws: StoreTrouble.self) {
                try asking.subscription("t")
            }
            #expect(error?.code == "store_limited")
        }
    }

    @Test("Nothing in a purchase token leads to another path")
    func paths() throws {
        let asked = Mutex<[String]>([])
        let store = try CannedPlay { path, _, _ in
            asked.withLock { $0.append(path) }
            return reply(path == "/token" ? granted : active)
        }
        let asking = try PlayAsking(store.url)
        for token in ["../../orders/1", "a?b=c", "a:cancel", "..", "a b", "a#b"] {
            _ = try asking.subscription(token)
        }
        let base =
            "/androidpublisher/v3/applications/com.example.game/purchases/subscriptionsv2/tokens/"
        #expect(
            asked.withLock { $0 }.filter { $0 != "/token" }
                == [
                    "..%2F..%2Forders%2F1", "a%3Fb%3Dc", "a%3Acancel", "%2E%2E", "a%20b", "a%23b",
                ].map { base + $0 })
    }
}

@Suite("The file of a service account")
struct ServiceAccountKeyTests {
    private func file(_ change: [String: JSON]) -> String {
        var object = JSONObject()
        for member in account.json(at: "http://127.0.0.1:9090").object?.members ?? [] {
            let value = change[member.name] ?? member.value
            if !value.isNull { object.append(member.name, value) }
        }
        return JSON.object(object).text
    }

    @Test("is refused by what is wrong with it")
    func mistakes() throws {
        let rows: [(String, ServiceAccountKey.Mistake)] = [
            ("", .notJSON), ("[]", .notJSON), ("{}", .missing("type")),
            (String(repeating: " ", count: 20_000), .notJSON),
            (file(["type": "authorized_user"]), .otherType("authorized_user")),
            (file(["client_email": .null]), .missing("client_email")),
            (file(["private_key_id": ""]), .missing("private_key_id")),
            (file(["private_key": "-----BEGIN PRIVATE KEY-----"]), .badKey),
            (file(["token_uri": "https://example.com/token"]), .foreignTokenAddress),
            (file(["token_uri": "http://127.0.0.1:80/other"]), .foreignTokenAddress),
            (file(["token_uri": "http://127.0.0.1:80@example.com/token"]), .foreignTokenAddress),
            (file(["token_uri": "http://oauth2.googleapis.com/token"]), .foreignTokenAddress),
        ]
        for (text, mistake) in rows {
            #expect(throws: mistake) { try ServiceAccountKey(file: text) }
        }
        _ = try ServiceAccountKey(file: file([:]))
        _ = try ServiceAccountKey(file: file(["token_uri": "https://oauth2.googleapis.com/token"]))
    }
}
