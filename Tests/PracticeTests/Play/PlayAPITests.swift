import Core
import Crypto
import JSON
import Minting
import Outbound
import Practice
import TestSupport
import Testing

@Suite("The Google Play Developer API of the practice store", .timeLimit(.minutes(20)))
struct PlayAPITests {
    @Test("An assertion with any wrong part gets no access token")
    func assertions() throws {
        let google = try PlayClient()
        let url = google.served.url
        let now = machineInstant().milliseconds / 1000
        let bad = [
            "", "a.b.c", assertion(at: url, key: MintedKey(.rsa2048)), assertion(at: url) + "A",
            assertion(at: url, head: ["alg": "none"]), assertion(at: url, head: ["kid": "other"]),
            assertion(at: url, claims: ["iss": "someone@example.com"]),
            assertion(at: url, claims: ["aud": "https://example.com/token"]),
            assertion(at: url, claims: ["scope": "https://www.googleapis.com/auth/drive"]),
            assertion(at: url, claims: ["exp": .integer(now - 120), "iat": .integer(now - 3700)]),
            assertion(at: url, claims: ["exp": .integer(now + 7200)]),
            assertion(at: url, claims: ["iat": .null]), assertion(at: url, claims: ["exp": .null]),
        ]
        for text in bad {
            let answer = try google.give(text)
            #expect(answer["error"] == "invalid_grant", "\(text)")
            #expect(answer["access_token"] == nil)
        }
        let good = try google.give(assertion(at: url))
        #expect(good["expires_in"] == 3599)
        #expect(good["token_type"] == "Bearer")
        let other = try google.give(assertion(at: url), grant: "password")
        #expect(other["error"] == "unsupported_grant_type")
        // The token is also valid by the test clock.
        let clock = opening.milliseconds / 1000
        let early = assertion(
            at: url, claims: ["iat": .integer(clock), "exp": .integer(clock + 3600)])
        #expect(try google.give(early)["access_token"] != nil)
    }

    @Test("Each refusal has Google's shape: code, status and reason")
    func errors() throws {
        let google = try PlayClient()
        let token = try google.take(.buy, "pro:monthly")
        let good = try google.take(.buy, "coins.100")
        let unknown = String(repeating: "a", count: 60)
        let subscriptions = "/purchases/subscriptionsv2/tokens"
        let rows: [(String, String, JSON?, Int, String, String)] = [
            ("GET", "\(subscriptions)/\(unknown)", nil, 404, "NOT_FOUND", "purchaseTokenNotFound"),
            ("GET", "\(subscriptions)/\(good)", nil, 404, "NOT_FOUND", "purchaseTokenNotFound"),
            ("GET", "\(subscriptions)/short", nil, 400, "INVALID_ARGUMENT", "invalid"),
            ("GET", "/purchases/moons", nil, 404, "NOT_FOUND", "notFound"),
            ("POST", "\(subscriptions)/\(token):cancel", [:], 400, "INVALID_ARGUMENT", "invalid"),
            ("POST", "\(subscriptions)/\(token):revoke", [:], 400, "INVALID_ARGUMENT", "invalid"),
            ("POST", "\(subscriptions)/\(token):defer", [:], 400, "INVALID_ARGUMENT", "invalid"),
            (
                "POST", "\(subscriptions)/\(token):defer",
                ["deferralContext": ["etag": "old", "deferDuration": "86400s"]], 409, "ABORTED",
                "aborted"
            ),
            (
                "GET", "/purchases/products/level2/tokens/\(good)", nil, 400, "INVALID_ARGUMENT",
                "purchaseTokenDoesNotMatchProductId"
            ),
            (
                "GET", "/purchases/productsv2/tokens/\(token)", nil, 404, "NOT_FOUND",
                "purchaseTokenNotFound"
            ),
            ("GET", "/orders/GPA.1", nil, 404, "NOT_FOUND", "orderNotFound"),
            ("GET", "/orders:batchGet", nil, 400, "INVALID_ARGUMENT", "invalid"),
            (
                "GET", "/purchases/voidedpurchases?startTime=1", nil, 400, "INVALID_ARGUMENT",
                "invalid"
            ),
            (
                "GET", "/purchases/voidedpurchases?maxResults=1001", nil, 400, "INVALID_ARGUMENT",
                "invalid"
            ),
        ]
        for (method, path, body, code, status, reason) in rows {
            let answer = try google.ask(method, path, body)
            #expect(answer.status == code, "\(path)")
            let error = answer.json["error"]
            #expect(error?["code"]?.integer == Int64(code), "\(path)")
            #expect(error?["status"]?.string == status, "\(path)")
            #expect(error?["errors"]?.array?.first?["reason"]?.string == reason, "\(path)")
            #expect(error?["message"]?.string?.isEmpty == false)
        }
        let target = "\(PlayClient.base)\(subscriptions)/\(token)"
        for wrong in [nil, "ya29.unknown", bearer()] {
            let answer = try google.served.send("GET", target, token: wrong)
            #expect(answer.status == 401)
            #expect(answer.header("WWW-Authenticate")?.hasPrefix("Bearer") == true)
        }
    }

    @Test("Another package is not sold here")
    func package() throws {
        let google = try PlayClient()
        let token = try google.take(.buy, "pro:monthly")
        let path =
            "/androidpublisher/v3/applications/com.example.other/purchases/subscriptionsv2/tokens/"
        let given = try google.give(assertion(at: google.served.url))["access_token"]?.string
        #expect(try google.served.send("GET", path + token, token: given).status == 400)
    }

    @Test("A subscription is read, acknowledged with its account, deferred, cancelled and revoked")
    func subscription() throws {
        let google = try PlayClient()
        let token = try google.take(.buy, "pro:monthly")
        let first = try google.subscription(token)
        #expect(first["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_PENDING")
        #expect(first["testPurchase"] == [:])
        #expect(first["externalAccountIdentifiers"] == nil)
        #expect(first["startTime"] == "2024-01-31T10:00:00Z")
        let acknowledged = try google.ask(
            "POST", "/purchases/subscriptions/pro/tokens/\(token):acknowledge",
            ["externalAccountIds": ["obfuscatedAccountId": "a-1", "obfuscatedProfileId": "p-1"]])
        #expect(acknowledged.status == 200)
        let second = try google.subscription(token)
        #expect(second["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")
        #expect(second["externalAccountIdentifiers"]?["obfuscatedExternalAccountId"] == "a-1")
        #expect(second["externalAccountIdentifiers"]?["obfuscatedExternalProfileId"] == "p-1")
        let path = "/purchases/subscriptionsv2/tokens/\(token)"
        for (isTrial, end) in [(true, "2024-02-29T10:00:00Z"), (false, "2024-03-02T10:00:00Z")] {
            let deferred = try google.ask(
                "POST", "\(path):defer",
                [
                    "deferralContext": [
                        "etag": second["etag"] ?? .null, "deferDuration": "172800s",
                        "validateOnly": .bool(isTrial),
                    ]
                ])
            #expect(deferred.status == 200, "\(deferred.json.text)")
            #expect(
                deferred.json["itemExpiryTimeDetails"]?.array?.first?["expiryTime"]
                    == "2024-03-02T10:00:00Z")
            let item = try google.subscription(token)["lineItems"]?.array?.first
            #expect(item?["expiryTime"] == .string(end))
        }
        let cancelled = try google.ask(
            "POST", "\(path):cancel",
            ["cancellationContext": ["cancellationType": "DEVELOPER_REQUESTED_STOP_PAYMENTS"]])
        #expect(cancelled.status == 200)
        #expect(
            try google.subscription(token)["canceledStateContext"]
                == ["developerInitiatedCancellation": [:]])
        let revoked = try google.ask(
            "POST", "\(path):revoke", ["revocationContext": ["proratedRefund": [:]]])
        #expect(revoked.status == 200, "\(revoked.json.text)")
        let last = try google.subscription(token)
        #expect(last["subscriptionState"] == "SUBSCRIPTION_STATE_EXPIRED")
        let order = last["lineItems"]?.array?.first?["latestSuccessfulOrderId"]?.string ?? ""
        #expect(try google.get("/orders/\(order)")["state"] == "PARTIALLY_REFUNDED")
        let again = try google.ask(
            "POST", "\(path):revoke", ["revocationContext": ["fullRefund": [:]]])
        #expect(again.json["error"]?["status"] == "FAILED_PRECONDITION")
    }

    @Test("A subscription that expired sixty days ago is gone")
    func gone() throws {
        let google = try PlayClient()
        let token = try google.take(.buy, "pro:monthly")
        try google.take(.finish)
        try google.take(.cancel)
        try google.served.store.advance(to: instant("2024-04-29T09:59:00Z"))
        let path = "/purchases/subscriptionsv2/tokens/\(token)"
        #expect(try google.ask("GET", path).status == 200)
        try google.served.store.advance(to: instant("2024-04-29T10:01:00Z"))
        #expect(try google.ask("GET", path).status == 410)
    }

    @Test("A product is read in both forms, acknowledged and consumed")
    func product() throws {
        let google = try PlayClient()
        let token = try google.take(.buy, "coins.100") { $0.quantity = 3 }
        let old = "/purchases/products/coins.100/tokens/\(token)"
        let first = try google.get(old)
        #expect(first["purchaseState"] == 0 && first["consumptionState"] == 0)
        #expect(first["purchaseType"] == 0 && first["quantity"] == 3)
        #expect(first["purchaseTimeMillis"]?.string == String(opening.milliseconds))
        #expect(try google.ask("POST", "\(old):acknowledge").status == 200)
        #expect(try google.get(old)["acknowledgementState"] == 1)
        #expect(try google.ask("POST", "\(old):consume").status == 200)
        #expect(try google.get(old)["consumptionState"] == 1)
        let new = try google.get("/purchases/productsv2/tokens/\(token)")
        let details = new["productLineItem"]?.array?.first?["productOfferDetails"]
        #expect(details?["consumptionState"] == "CONSUMPTION_STATE_CONSUMED")
        #expect(new["testPurchaseContext"] == ["fopType": "TEST"])
        let waiting = try google.take(.buy, "level2") { $0.pending = true }
        let pending = try google.ask(
            "POST", "/purchases/products/level2/tokens/\(waiting):acknowledge")
        #expect(pending.status == 400)
        let read = try google.get("/purchases/products/level2/tokens/\(waiting)")
        #expect(read["purchaseState"] == 2 && read["orderId"] == nil)
        #expect(read["quantity"] == nil)
    }

    @Test(
        "Voided purchases come page by page, those of subscriptions and parts only when asked for")
    func voided() throws {
        let google = try PlayClient()
        try google.take(.buy, "coins.100") { $0.quantity = 3 }
        try google.take(.refund, "coins.100") { $0.quantity = 1 }
        try google.take(.refund, "coins.100")
        try google.take(.buy, "level2")
        try google.take(.refund, "level2")
        try google.take(.buy, "pro:monthly")
        try google.take(.refund, "pro")
        func list(_ query: String) throws -> [JSON] {
            try google.get("/purchases/voidedpurchases?\(query)")["voidedPurchases"]?.array ?? []
        }
        #expect(try list("").count == 2)
        #expect(try list("type=1").count == 3)
        #expect(try list("type=1&includeQuantityBasedPartialRefund=true").count == 4)
        let part = try list("includeQuantityBasedPartialRefund=true").first
        #expect(part?["voidedQuantity"] == 1)
        #expect(part?["voidedSource"] == 0)
        var seen: [JSON] = []
        var next: String? = ""
        while let token = next {
            let more = token.isEmpty ? "" : "&token=\(token)"
            let page = try google.get("/purchases/voidedpurchases?type=1&maxResults=1\(more)")
            seen += page["voidedPurchases"]?.array ?? []
            next = page["tokenPagination"]?["nextPageToken"]?.string
            if seen.count > 5 { break }
        }
        #expect(try seen == list("type=1"))
        let later = google.served.store.read { $0.now.milliseconds + 1 }
        #expect(try list("startTime=\(later)&endTime=\(later)").isEmpty)
    }

    @Test("Orders are read one by one and together, and refunded with and without revoking")
    func orders() throws {
        let google = try PlayClient()
        let token = try google.take(.buy, "coins.100") { $0.quantity = 2 }
        let good = try google.get("/purchases/productsv2/tokens/\(token)")["orderId"]?.string ?? ""
        let bought = try google.take(.buy, "pro:monthly")
        let item = try google.subscription(bought)["lineItems"]?.array?.first
        let order = item?["latestSuccessfulOrderId"]?.string ?? ""
        let first = try google.get("/orders/\(order)")
        #expect(first["state"] == "PROCESSED")
        #expect(first["purchaseToken"] == .string(bought))
        #expect(
            first["lineItems"]?.array?.first?["subscriptionDetails"]?["basePlanId"] == "monthly")
        #expect(try google.get("/orders/\(good)")["total"]?["units"] == "1")
        let both = try google.get("/orders:batchGet?orderIds=\(order)&orderIds=\(good)")
        #expect(both["orders"]?.array?.map { $0["orderId"]?.string } == [order, good])
        let unknown = try google.ask("GET", "/orders:batchGet?orderIds=\(order)&orderIds=GPA.0")
        #expect(unknown.status == 404)
        #expect(try google.ask("POST", "/orders/\(good):refund").status == 200)
        #expect(try google.get("/orders/\(good)")["state"] == "REFUNDED")
        let kept = try google.get("/purchases/productsv2/tokens/\(token)")
        #expect(kept["purchaseStateContext"]?["purchaseState"] == "PURCHASED")
        #expect(try google.ask("POST", "/orders/\(order):refund?revoke=true").status == 200)
        #expect(
            try google.subscription(bought)["subscriptionState"] == "SUBSCRIPTION_STATE_EXPIRED")
        let again = try google.ask("POST", "/orders/\(order):refund?revoke=true")
        #expect(again.json["error"]?["status"] == "FAILED_PRECONDITION")
    }

    @Test("Each bucket has its own quota")
    func quotas() throws {
        let google = try PlayClient { $0.google?.quotaPercent = 0.05 }
        let token = try google.take(.buy, "pro:monthly")
        let path = "/purchases/subscriptionsv2/tokens/\(token)"
        // If a minute ends during the calls, one more call is allowed.
        let codes = try (0..<6).map { _ in try google.ask("GET", path).status }
        #expect(codes.first == 200)
        #expect(codes.contains(429))
        let refused = try google.ask("GET", path)
        if refused.status == 429 {
            #expect(refused.json["error"]?["status"] == "RESOURCE_EXHAUSTED")
        }
        #expect(try google.ask("GET", "/orders/GPA.1").status == 404)
    }

    @Test("Trouble has Google's shape")
    func trouble() throws {
        for (trouble, code) in [(#"{"internal_error":1}"#, 500), (#"{"limit":1}"#, 429)] {
            let google = try PlayClient()
            let token = try google.take(.buy, "pro:monthly")
            try google.served.store.suffer(trouble)
            let answer = try google.ask("GET", "/purchases/subscriptionsv2/tokens/\(token)")
            #expect(answer.status == code)
            #expect(answer.json["error"]?["code"]?.integer == Int64(code))
        }
    }

    @Test("The keys of pushes are served, and a store without Google serves nothing of it")
    func keys() throws {
        let google = try PlayClient()
        let keys = try JSON.read(google.served.send("GET", "/oauth2/v3/certs", token: nil).body)
        let key = keys["keys"]?.array?.first
        #expect(key?["kty"] == "RSA" && key?["alg"] == "RS256" && key?["e"] == "AQAB")
        let modulus = key?["n"]?.string.flatMap { Base64.url.decode(Array($0.utf8)) }
        #expect(modulus?.count == 256)
        let bare = PracticeStore(
            PracticeWorld(.example, from: opening, seed: 1), authority: practice,
            port: PracticePort(now: machineInstant, send: { _, _ in "SUCCESS" }))
        let server = try PracticeServer(bare, listen: "127.0.0.1:0", now: machineInstant)
        defer { server.stop() }
        var client = try HTTPClient()
        let url = "http://127.0.0.1:\(server.port)"
        for path in ["/oauth2/v3/certs", "\(PlayClient.base)/orders/1"] {
            #expect(try client.send(OutboundRequest("GET", url + path)).status == 404)
        }
    }

    @Test("A folder keeps the service account, and names the address of each start")
    func account() throws {
        let scratch = try ScratchFolder()
        let folder = try DataFolder(scratch.file("store"))
        let first = try ServiceAccount(in: folder)
        let path = try first.write(to: folder, port: 1234)
        let second = try ServiceAccount(in: folder)
        #expect(second.email == first.email && second.keyID == first.keyID)
        #expect(second.pushKeyID == first.pushKeyID)
        try second.write(to: folder, port: 4321)
        let json = try JSON.read(folder.bytes("keys/google-service-account.json"))
        #expect(json["type"] == "service_account")
        #expect(json["token_uri"] == "http://127.0.0.1:4321/token")
        #expect(json["private_key"]?.string?.hasPrefix("-----BEGIN PRIVATE KEY-----") == true)
        #expect(path.hasSuffix("google-service-account.json"))
    }

    @Test(
        "What was sold is kept from one start to the next, and a folder without sales stays as it was"
    )
    func kept() throws {
        let scratch = try ScratchFolder()
        let folder = try DataFolder(scratch.file("store"))
        func store(_ world: PracticeWorld) -> PracticeStore {
            PracticeStore(
                world, authority: practice, account: practiceAccount, folder: folder,
                port: PracticePort(now: machineInstant, send: { _, _ in "SUCCESS" }))
        }
        let first = store(PracticeWorld(.example, from: opening, seed: 1))
        try first.change { _ in }
        #expect(try JSON.read(folder.bytes("state.json"))["play"] == nil)
        var step = Step(.buy, customer: "u1", product: "pro:monthly")
        step.store = .google
        let token = try #require(try first.performInPlay(step).token)
        first.stop()
        let kept = try #require(try PracticeStore.world(in: folder))
        #expect(kept.playAnswer(token) == first.read { $0.playAnswer(token) })
        #expect(kept.customers == ["u1"])
    }
}
