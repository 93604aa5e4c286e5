import API
import Core
import Evidence
import HTTPServer
import JSON
import Practice
import Service
import TestSupport
import Testing

@Suite("What support learns of Google Play's prices", .timeLimit(.minutes(10)))
struct PlayPriceTests {
    /// Thousandths of a unit. No other number in this test looks like this.
    private static let planted: Int64 = 48_151_623

    @Test("A price in a reading of Google's reaches admins, and no answer to a support key")
    func planted() throws {
        let play = try ServedPlay()
        let shop = try PlayShopfront(play.url)
        _ = try play.take(.raisePrice, "pro:monthly") { $0.price = Self.planted }
        let token = try play.take(.buy, "pro:monthly")
        let bought = shop.submit([token])
        #expect(bought.status == 200, "\(bought.text)")
        let purchase = "google:\(TransactionID(playToken: token))"
        let why = #""reason":"r","ticket":"T-1""#
        func send(_ key: NewKey, _ method: String, _ path: String, _ body: String = "") -> Reply {
            shop.service.send(method, path, key: key, body: body)
        }
        for path in [
            "/v1/events?environment=sandbox", "/v1/customers/u1/events?environment=sandbox",
        ] {
            let seen = send(shop.admin, "GET", path)
            #expect(seen.text.contains("\(Self.planted)"), "\(path): \(seen.text)")
        }
        let support = try shop.service.key(.support, name: "Ann's desk")
        let customer = "/v1/customers/u1"
        var calls = [
            ("GET", "/v1/events?environment=sandbox&limit=1000", ""),
            ("GET", "/v1/events?environment=sandbox&access=0", ""),
            ("GET", "/v1/products", ""),
            ("GET", "/v1/find?q=\(purchase)", ""),
            ("POST", "/v1/find", #"{"q":"\#(purchase)","ask_store":true,"ticket":"T-1"}"#),
            (
                "POST", "/v1/find",
                #"{"q":"GPA.1234-5678-9012-34567","ask_store":true,"ticket":"T-1"}"#
            ),
            (
                "POST", "\(customer)/purchases/\(purchase)/transfer?environment=sandbox&dry_run=1",
                #"{"to":"u2",\#(why)}"#
            ),
            (
                "POST", "\(customer)/purchases/\(purchase)/transfer?environment=sandbox",
                #"{"to":"u2",\#(why)}"#
            ),
            ("POST", "/v1/entitlements/query?environment=sandbox", #"{"customers":["u1","u2"]}"#),
        ]
        for customer in ["u1", "u2"] {
            for end in [
                "", "/entitlements", "/entitlements/pro", "/events", "/balances", "/explain",
            ] {
                let question = end == "/explain" ? "&entitlement=pro" : ""
                calls.append(
                    ("GET", "/v1/customers/\(customer)\(end)?environment=sandbox\(question)", ""))
            }
        }
        var answers: [Reply] = []
        for (method, path, body) in calls {
            let reply = send(support, method, path, body)
            answers.append(reply)
            for word in ["\(Self.planted)", "48151.623", #""price""#, "milliunits"] {
                #expect(!reply.text.contains(word), "\(method) \(path): \(reply.text)")
            }
        }
        #expect(answers.contains { $0.text.contains(#""type":"purchase.attached""#) })
        #expect(answers.count { $0.status == 200 } > 15)
    }
}
