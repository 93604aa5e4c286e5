import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Names that the catalog does not know, over the API")
struct NameCheckTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private static let calls = [
        ("grants", #""entitlement":"pr0","reason":"r""#, "entitlement_unknown", "pro"),
        ("balances/cions/adjust", #""amount":5,"reason":"r""#, "currency_unknown", "coins"),
        ("balances/cions/spend", #""amount":5"#, "currency_unknown", "coins"),
        ("orders", #""product":"coins.10""#, "product_unknown", "coins.100"),
    ]

    @Test("A name that the catalog does not know is refused with the nearest one", arguments: calls)
    func refused(_ call: (path: String, members: String, code: String, nearest: String)) throws {
        let events = try front.service.eventCount()
        let path = "/v1/customers/u1/\(call.path)"
        let reply = front.send("POST", path, "{\(call.members)}", key: front.admin)
        #expect(reply.status == 400, "\(reply.text)")
        #expect(reply.code == call.code)
        #expect(try reply.json["nearest"]?.string == call.nearest)
        #expect(try reply.json["detail"]?.string?.contains("\"\(call.nearest)\"") == true)
        #expect(try front.service.eventCount() == events)
        let allowed = front.send(
            "POST", path, #"{\#(call.members),"allow_unknown":true}"#, key: front.admin)
        // A currency that the customer does not have cannot be spent.
        let isSpend = call.path.hasSuffix("spend")
        #expect(allowed.code == (isSpend ? "insufficient_balance" : nil), "\(allowed.text)")
        #expect(try front.service.eventCount() == events + (isSpend ? 0 : 1))
    }

    @Test("A project without a catalog checks no names", arguments: calls)
    func withoutCatalog(
        _ call: (path: String, members: String, code: String, nearest: String)
    ) throws {
        let service = try TestService()
        let reply = service.send(
            "POST", "/v1/customers/u1/\(call.path)", key: try service.key(.admin),
            body: "{\(call.members)}")
        #expect(reply.code == (call.path.hasSuffix("spend") ? "insufficient_balance" : nil))
    }
}
