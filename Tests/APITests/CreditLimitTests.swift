import Core
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Limits on credits by back ends, over the API")
struct CreditLimitTests {
    private static let limits = #"{"credit_limits":{"coins":{"per_call":100,"per_day":250}}}"#
    private let front: Storefront

    init() throws {
        front = try Storefront(settings: Self.limits)
    }

    private func credit(
        _ amount: Int64, to customer: String = "u1", _ currency: String = "coins",
        key: NewKey? = nil, idempotencyKey: String? = nil
    ) -> Reply {
        front.send(
            "POST", "/v1/customers/\(customer)/balances/\(currency)/adjust",
            #"{"amount":\#(amount),"reason":"won a match"}"#, key: key,
            idempotencyKey: idempotencyKey)
    }

    @Test("A back end adds up to the limits for a call and for a customer's day")
    func limited() throws {
        let first = credit(100, idempotencyKey: "k")
        #expect(first.status == 200, "\(first.text)")
        #expect(credit(100, idempotencyKey: "k").text == first.text)
        let tooMuch = credit(101)
        #expect(tooMuch.status == 409)
        #expect(tooMuch.code == "credit_limit_reached")
        #expect(try tooMuch.json["left"]?.integer == 100)
        #expect(credit(100).status == 200)
        #expect(try credit(51).json["left"]?.integer == 50)
        #expect(credit(50).status == 200)
        #expect(try credit(1).json["left"]?.integer == 0)
        #expect(credit(100, to: "u2").status == 200)
        // 19:21 plus four hours is the same day, and plus five hours is the next day.
        front.service.clock.advance(byMilliseconds: 4 * 3_600_000)
        #expect(credit(1).code == "credit_limit_reached")
        front.service.clock.advance(byMilliseconds: 3_600_000)
        #expect(credit(100).status == 200)
        #expect(try front.coins() == 350)
    }

    @Test("An admin is not limited, and does not use up the back ends' allowance")
    func admin() throws {
        #expect(credit(10_000, key: front.admin).status == 200)
        #expect(credit(-5000, key: front.admin).status == 200)
        #expect(credit(100).status == 200)
        #expect(try front.coins() == 5100)
    }

    @Test("A back end subtracts nothing, and adds nothing to a currency without a limit")
    func refused() throws {
        #expect(credit(-1).code == "role_insufficient")
        #expect(credit(0).code == "amount_out_of_range")
        let reader = credit(1, key: try front.service.key(.reader))
        #expect(reader.code == "role_insufficient")
        let nothing = try credit(0).json["detail"]?.string
        #expect(nothing?.contains("Back ends may add 1 to 100; an admin's key may take.") == true)
        let change =
            #"{"credit_limits":{"coins":null,"gems":{"per_call":1,"per_day":1}},"allow_unknown":true}"#
        let changed = front.send("PATCH", "/v1/settings", change, key: front.admin)
        #expect(
            try changed.json["settings"]?["credit_limits"]?.text
                == #"{"gems":{"per_call":1,"per_day":1}}"#)
        let reply = credit(1)
        #expect(reply.status == 403)
        #expect(reply.code == "credit_not_allowed")
        // The catalog does not know the currency.
        #expect(credit(1, "gems").code == "currency_unknown")
    }

    @Test(
        "A limit for an unknown currency is refused, but an existing one can be changed"
    )
    func unknownCurrency() throws {
        func change(_ limits: String, _ more: String = "") -> Reply {
            front.send(
                "PATCH", "/v1/settings", #"{"credit_limits":\#(limits)\#(more)}"#, key: front.admin)
        }
        let refused = change(#"{"cions":{"per_call":1,"per_day":1}}"#)
        #expect(refused.status == 400 && refused.code == "currency_unknown")
        #expect(try refused.json["nearest"]?.string == "coins")
        let odd = #"{"gem\u200bs":{"per_call":1,"per_day":1}}"#
        #expect(change(odd, #","allow_unknown":true"#).code == "id_improper")
        let cions = #"{"cions":{"per_call":1,"per_day":1}}"#
        #expect(change(cions, #","allow_unknown":true"#).status == 200)
        #expect(change(#"{"cions":{"per_call":2,"per_day":2}}"#).status == 200)
        #expect(change(#"{"cions":null,"never":null}"#).status == 200)
        #expect(change(cions).code == "currency_unknown")
    }

    @Test("Many concurrent calls through two instances never exceed a day's limit")
    func race() throws {
        let other = try TestService(beside: front.service)
        let statuses = Mutex<[Int]>([])
        inParallel(16) { lane in
            let reply = front.send(
                "POST", "/v1/customers/u1/balances/coins/adjust",
                #"{"amount":50,"reason":"won a match"}"#, through: lane % 2 == 0 ? other : nil)
            statuses.withLock { $0.append(reply.status) }
        }
        #expect(statuses.withLock { $0.count { $0 == 200 } } == 5)
        #expect(try front.coins() == 250)
    }

    @Test(
        "An invalid limit is refused by its path",
        arguments: [
            (#"{"coins":5}"#, "credit_limits.coins"), (#"{"coins":{"per_call":1}}"#, "per_day"),
            (#"{"coins":{"per_call":0,"per_day":1}}"#, "per_call"),
            (#"{"coins":{"per_call":2,"per_day":1}}"#, "per_call"),
            (#"{"coins":{"per_call":1,"per_day":1,"per_week":1}}"#, "per_week"),
            ("[]", "credit_limits"), (#"{"":{"per_call":1,"per_day":1}}"#, "credit_limits."),
        ])
    func invalid(_ limits: String, _ member: String) throws {
        let reply = front.send(
            "PATCH", "/v1/settings", #"{"credit_limits":\#(limits)}"#, key: front.admin)
        #expect(reply.status == 400)
        #expect(try reply.json["member"]?.string == member)
    }
}
