import Core
import JSON
import Minting
import Outbound
import Practice
import TestSupport
import Testing
import Threading

@Suite("The App Store Server API of the practice store", .timeLimit(.minutes(20)))
struct ServerAPITests {
    @Test("A token with any wrong part is answered 401 without a body")
    func tokens() throws {
        let served = try ServedStore()
        let target = "/inApps/v1/transactions/\(try served.buy("pro.month").transaction ?? "")"
        let now = machineInstant().milliseconds / 1000
        let bad: [String?] = [
            nil, "", "a.b.c", bearer(key: MintedKey(.p256)), bearer(head: ["alg": "none"]),
            bearer(head: ["kid": "ABCDEFGHIJ"]), bearer(claims: ["iss": "someone-else"]),
            bearer(claims: ["aud": "appstoreconnect-v2"]),
            bearer(claims: ["bid": "com.example.other"]), bearer(claims: ["bid": .null]),
            bearer(claims: ["exp": .integer(now - 120)]), bearer(claims: ["exp": .null]),
            bearer(claims: ["exp": .integer(now + 7200)]),
            bearer(claims: ["iat": .integer(now + 600)]), bearer() + "A",
        ]
        for token in bad {
            let answer = try served.send("GET", target, token: token)
            #expect(answer.status == 401, "\(token ?? "none")")
            #expect(answer.body.isEmpty)
        }
        #expect(try served.send("GET", target).status == 200)
        let lean = bearer(claims: ["iat": .null])
        #expect(try served.send("GET", target, token: lean).status == 200)
    }

    @Test("A token by the test clock is as good as one by the machine's")
    func testClock() throws {
        let served = try ServedStore()
        let id = try served.buy("pro.month").transaction ?? ""
        let second = opening.milliseconds / 1000
        let token = bearer(
            claims: ["iat": .integer(second), "exp": .integer(second + 1200)])
        let answer = try served.send("GET", "/inApps/v1/transactions/\(id)", token: token)
        #expect(answer.status == 200)
    }

    /// Wrong calls, each with the code of its error.
    static let mistakes: [(String, String, JSON?, Int64)] = [
        ("GET", "/inApps/v1/transactions/abc", nil, 4_000_006),
        ("GET", "/inApps/v1/transactions/123", nil, 4_040_010),
        ("GET", "/inApps/v2/history/123", nil, 4_040_010),
        ("GET", "/inApps/v2/history/ID?revision=xyz", nil, 4_000_005),
        ("GET", "/inApps/v2/history/ID?sort=UP", nil, 4_000_021),
        ("GET", "/inApps/v2/history/ID?productType=BOOK", nil, 4_000_022),
        ("GET", "/inApps/v2/history/ID?startDate=a", nil, 4_000_015),
        ("GET", "/inApps/v2/history/ID?endDate=a", nil, 4_000_016),
        ("GET", "/inApps/v2/history/ID?startDate=2&endDate=1", nil, 4_000_013),
        ("GET", "/inApps/v2/history/ID?startDate=2&endDate=2", nil, 4_000_013),
        ("GET", "/inApps/v2/history/ID?revoked=maybe", nil, 4_000_030),
        ("GET", "/inApps/v2/history/ID?inAppOwnershipType=LENT", nil, 4_000_026),
        ("GET", "/inApps/v1/subscriptions/ID?status=9", nil, 4_000_031),
        ("GET", "/inApps/v2/refund/lookup/123", nil, 4_040_010),
        ("PUT", "/inApps/v1/subscriptions/extend/abc", extending(14), 4_000_008),
        ("PUT", "/inApps/v1/subscriptions/extend/123", extending(14), 4_040_005),
        ("PUT", "/inApps/v1/subscriptions/extend/ID", extending(91), 4_000_009),
        ("PUT", "/inApps/v1/subscriptions/extend/ID", extending(14, reason: 7), 4_000_010),
        ("PUT", "/inApps/v1/subscriptions/extend/ID", extending(14, request: ""), 4_000_011),
        ("POST", "/inApps/v1/subscriptions/extend/mass", extending(14), 4_000_023),
        ("GET", "/inApps/v1/subscriptions/extend/mass/pro.month/x", nil, 4_040_009),
        ("POST", "/inApps/v1/notifications/history", ["endDate": 1], 4_000_015),
        ("POST", "/inApps/v1/notifications/history", ["startDate": 1], 4_000_016),
        ("POST", "/inApps/v1/notifications/history", ["startDate": 2, "endDate": 1], 4_000_013),
        ("POST", "/inApps/v1/notifications/history", ["startDate": 1, "endDate": 2], 4_000_012),
        ("POST", "/inApps/v1/notifications/history?paginationToken=x", reaching([:]), 4_000_014),
        (
            "POST", "/inApps/v1/notifications/history", reaching(["notificationType": "NEWS"]),
            4_000_018
        ),
        (
            "POST", "/inApps/v1/notifications/history",
            reaching(["notificationType": "REFUND", "transactionId": "1"]), 4_000_019
        ),
        (
            "POST", "/inApps/v1/notifications/history", reaching(["transactionId": "123"]),
            4_040_010
        ),
        (
            "POST", "/inApps/v1/notifications/history", reaching(["transactionId": "abc"]),
            4_000_006
        ),
        (
            "POST", "/inApps/v1/notifications/history",
            reaching(["notificationSubtype": "INITIAL_BUY"]), 4_000_018
        ),
        (
            "POST", "/inApps/v1/notifications/history",
            reaching(["endDate": .integer(opening.milliseconds)]), 4_000_013
        ),
        ("GET", "/inApps/v1/notifications/test/x", nil, 4_000_020),
        (
            "GET", "/inApps/v1/notifications/test/7f3c2f0e-6a53-4a6c-9d0d-2f6e3f7f0b11", nil,
            4_040_008
        ),
        ("PUT", "/inApps/v2/transactions/consumption/ID", consuming(consent: false), 4_000_035),
        ("PUT", "/inApps/v2/transactions/consumption/ID", consuming(delivery: "LOST"), 4_000_036),
        ("PUT", "/inApps/v2/transactions/consumption/ID", ["customerConsented": true], 4_000_041),
        ("PUT", "/inApps/v2/transactions/consumption/123", consuming(), 4_040_010),
        ("PUT", "/inApps/v1/transactions/consumption/ID", consuming(), 4_000_047),
        ("PUT", "/inApps/v1/transactions/ID/appAccountToken", ["appAccountToken": "x"], 4_000_183),
    ]

    private static func extending(
        _ days: Int64, reason: Int64 = 1, request: String = "request-1"
    ) -> JSON {
        [
            "extendByDays": .integer(days), "extendReasonCode": .integer(reason),
            "requestIdentifier": .string(request),
        ]
    }

    private static func reaching(_ more: [String: JSON]) -> JSON {
        var object = JSONObject()
        object.append("startDate", .integer(opening.milliseconds))
        if more["endDate"] == nil {
            object.append("endDate", .integer(opening.days(30).milliseconds))
        }
        for (name, value) in more { object.append(name, value) }
        return .object(object)
    }

    private static func consuming(consent: Bool = true, delivery: String = "DELIVERED") -> JSON {
        [
            "customerConsented": .bool(consent), "sampleContentProvided": false,
            "deliveryStatus": .string(delivery),
        ]
    }

    @Test("Any transaction leads to the customer's notifications, even after a renewal")
    func notificationsOfCustomer() throws {
        let served = try ServedStore()
        let subscription = try served.buy("pro.month").transaction ?? ""
        let coins = try served.buy("coins.100").transaction ?? ""
        _ = try served.buy("level2", "u2")
        _ = try served.store.advance(to: opening.days(40))
        for id in [subscription, coins] {
            let wish = Self.reaching([
                "transactionId": .string(id), "endDate": .integer(opening.days(50).milliseconds),
            ])
            let answer = try served.ask("POST", "/inApps/v1/notifications/history", wish)
            let told = try (answer.json["notificationHistory"]?.array ?? []).map { item in
                try payload(of: item["signedPayload"]?.string ?? "")
            }
            #expect(
                told.map { $0["notificationType"]?.string }
                    == ["SUBSCRIBED", "ONE_TIME_CHARGE", "DID_RENEW"])
            // As in Apple's sandbox, the app's number is missing.
            #expect(told.allSatisfy { $0["data"]?["appAppleId"] == nil })
        }
    }

    @Test(
        "A sandbox's history reaches less than thirty days, production's a little further back"
    )
    func reach() throws {
        let hour: Int64 = 3_600_000
        let reaches = [
            (Shop.Retries.sandbox, 30 * 24 * hour), (.production, (169 * 24 + 23) * hour),
        ]
        for (retries, reach) in reaches {
            let served = try ServedStore { $0.app.retries = retries }
            _ = try served.buy("pro.month")
            let now = opening.days(200)
            _ = try served.store.advance(to: now)
            for (age, status) in [(reach - 1, 200), (reach, 400)] {
                let wish: JSON = [
                    "startDate": .integer(now.milliseconds - age),
                    "endDate": .integer(now.milliseconds),
                ]
                let answer = try served.ask("POST", "/inApps/v1/notifications/history", wish)
                #expect(answer.status == status, "\(retries) \(age)")
            }
        }
    }

    @Test("Each mistake has the store's code and status")
    func errors() throws {
        let served = try ServedStore()
        let id = try served.buy("pro.month").transaction ?? ""
        for (method, target, body, code) in Self.mistakes {
            let answer = try served.ask(method, target.replacing("ID", with: id), body)
            #expect(answer.json["errorCode"] == .integer(code), "\(method) \(target)")
            #expect(answer.status == Int(code / 10_000), "\(method) \(target)")
            #expect(answer.json["errorMessage"]?.string?.isEmpty == false)
        }
    }

    @Test("A history of many pages gives every transaction once, and its last revision only news")
    func paging() throws {
        let served = try ServedStore()
        let first = try served.buy("pro.month").transaction ?? ""
        for _ in 0..<44 { _ = try served.buy("coins.100") }
        var seen: [String] = []
        var revision: String?
        var pages = 0
        repeat {
            let target = "/inApps/v2/history/\(first)" + (revision.map { "?revision=\($0)" } ?? "")
            let json = try served.ask("GET", target).json
            let signed = (json["signedTransactions"]?.array ?? []).compactMap(\.string)
            seen += try signed.compactMap { try payload(of: $0)["transactionId"]?.string }
            revision = json["revision"]?.string
            pages += 1
            if json["hasMore"] != true { break }
        } while pages < 10
        #expect(pages == 3)
        #expect(seen.count == 45)
        #expect(Set(seen).count == 45)
        let bought = try served.buy("level2").transaction
        let news = try served.ask("GET", "/inApps/v2/history/\(first)?revision=\(revision ?? "")")
            .json
        let signed = (news["signedTransactions"]?.array ?? []).compactMap(\.string)
        #expect(try signed.map { try payload(of: $0)["transactionId"]?.string } == [bought])
        let other = try served.ask(
            "GET", "/inApps/v2/history/\(first)?revision=\(revision ?? "")&revoked=false")
        #expect(other.json["errorCode"] == 4_000_005)
        let stranger = try served.buy("level2", "u2").transaction ?? ""
        for path in ["history", "refund/lookup"] {
            let foreign = try served.ask(
                "GET", "/inApps/v2/\(path)/\(stranger)?revision=\(revision ?? "")")
            #expect(foreign.json["errorCode"] == 4_000_005, "\(path)")
        }
    }

    @Test("A call is answered only after its effect was saved")
    func writtenDown() throws {
        let folder = try ScratchFolder()
        let kept = try DataFolder(folder.file("store"))
        let served = try ServedStore(keptIn: kept)
        for _ in 0..<10 {
            let id = try served.buy("coins.100").transaction ?? ""
            let target = "/inApps/v2/transactions/consumption/\(id)"
            #expect(try served.ask("PUT", target, Self.consuming()).status == 202)
            let world = try #require(try PracticeStore.world(in: kept))
            #expect(world.consumption[id] != nil)
        }
    }

    @Test("Above its limit a call is answered 429 with the instant to come back at")
    func limits() throws {
        let served = try ServedStore { $0.app.rateLimitPercent = 0.002 }
        let id = try served.buy("pro.month").transaction ?? ""
        var statuses: [Int] = []
        for _ in 0..<6 {
            let answer = try served.send("GET", "/inApps/v1/transactions/\(id)")
            statuses.append(answer.status)
            if answer.status == 429 {
                let instant = Int64(answer.header("Retry-After") ?? "") ?? 0
                #expect(instant > machineInstant().milliseconds)
                #expect(try JSON.read(answer.body)["errorCode"] == 4_290_000)
            }
        }
        #expect(statuses.filter { $0 == 200 }.count == 3)
        #expect(statuses.last == 429)
        #expect(try served.send("GET", "/inApps/v2/history/\(id)").status == 200)
    }

    @Test("A subscription is extended twice a year, alone and with all others of its product")
    func extensions() throws {
        let served = try ServedStore()
        let id = try served.buy("pro.month").transaction ?? ""
        _ = try served.buy("pro.month", "u2")
        let target = "/inApps/v1/subscriptions/extend/\(id)"
        let first = try served.ask("PUT", target, Self.extending(14))
        #expect(first.json["success"] == true)
        #expect(
            first.json["effectiveDate"] == .integer(instant("2024-03-14T10:00:00Z").milliseconds))
        var all = Self.extending(3).object ?? JSONObject()
        all.append("productId", "pro.month")
        #expect(
            try served.ask("POST", "/inApps/v1/subscriptions/extend/mass", .object(all)).status
                == 200)
        let third = try served.ask("PUT", target, Self.extending(14))
        #expect(third.json["errorCode"] == 4_030_005)
        let status = try served.ask(
            "GET", "/inApps/v1/subscriptions/extend/mass/pro.month/request-1")
        #expect(status.json["succeededCount"] == 2)
        #expect(status.json["complete"] == true)
        try waitUntil { served.bodies.count == 6 }
        let types = served.store.read { $0.postings.map(\.type) }
        #expect(types.filter { $0 == "RENEWAL_EXTENDED" }.count == 3)
        #expect(types.last == "RENEWAL_EXTENSION")
    }

    @Test("A history of notifications has every attempt, or only failures if requested")
    func notificationHistory() throws {
        let served = try ServedStore()
        _ = try served.buy("pro.month")
        served.answer(500)
        for _ in 0..<24 { _ = try served.buy("coins.100") }
        let body = Self.reaching([:])
        let page = try served.ask("POST", "/inApps/v1/notifications/history", body).json
        #expect(page["notificationHistory"]?.array?.count == 20)
        #expect(page["hasMore"] == true)
        let token = try #require(page["paginationToken"]?.string)
        let rest = try served.ask(
            "POST", "/inApps/v1/notifications/history?paginationToken=\(token)", body
        ).json
        #expect(rest["notificationHistory"]?.array?.count == 5)
        #expect(rest["hasMore"] == false)
        let other = try served.ask(
            "POST", "/inApps/v1/notifications/history?paginationToken=\(token)",
            Self.reaching(["onlyFailures": true]))
        #expect(other.json["errorCode"] == 4_000_014)
        let failures = try served.ask(
            "POST", "/inApps/v1/notifications/history", Self.reaching(["onlyFailures": true])
        ).json
        let items = failures["notificationHistory"]?.array ?? []
        #expect(items.count == 20)
        for item in items {
            let attempt = item["sendAttempts"]?.array?.first
            #expect(attempt?["sendAttemptResult"] == "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
            let signed = item["signedPayload"]?.string ?? ""
            #expect(try payload(of: signed)["notificationType"] == "ONE_TIME_CHARGE")
        }
        let refunds = Self.reaching(["notificationType": "REFUND"])
        let none = try served.ask("POST", "/inApps/v1/notifications/history", refunds).json
        #expect(none["notificationHistory"]?.array == [])
    }
}

/// Waits until the condition is true.
func waitUntil(_ condition: () -> Bool) throws {
    let end = monotonicMilliseconds() + 5000
    while !condition() {
        guard monotonicMilliseconds() < end else { throw Unreadable() }
        pause(milliseconds: 10)
    }
}
