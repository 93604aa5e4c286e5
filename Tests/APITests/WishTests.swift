import API
import Core
import HTTPServer
import Service
import TestSupport
import Testing

@Suite("Wishes, and who waits for them")
struct WishTests {
    private let service: TestService
    private let keys: (backend: NewKey, admin: NewKey)

    init() throws {
        service = try TestService()
        keys = (try service.key(.backend), try service.key(.admin))
        try service.keys.reload()
    }

    /// Returns the router's immediate answer to a call whose key is in memory.
    private func begin(_ method: String, _ path: String, _ body: String) -> Answer {
        service.router.answer(
            Request(
                method: method, path: path,
                headers: [("Authorization", "Bearer \(keys.admin.text)")],
                body: Array(body.utf8)))
    }

    @Test(
        "A wish without a lookup is under way before anyone waits",
        arguments: [
            (
                "POST", "/v1/customers/u1/grants",
                #"{"entitlement":"pro","reason":"r","allow_unknown":true}"#
            ),
            ("POST", "/v1/customers/u1/orders", "{}"),
            (
                "PUT", "/v1/customers/u1/account_token",
                #"{"token":"6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"}"#
            ),
            (
                "POST", "/v1/customers/u1/balances/coins/adjust",
                #"{"amount":5,"reason":"r","allow_unknown":true}"#
            ),
            ("PATCH", "/v1/settings", #"{"transfer":"keep"}"#),
        ])
    func underway(_ method: String, _ path: String, _ body: String) {
        guard case .underway = begin(method, path, body) else {
            Issue.record("\(method) \(path) waits")
            return
        }
    }

    @Test("A worker starts a wish with a lookup, and does not wait for the commit")
    func eventually() {
        for (method, path) in [
            ("PUT", "/v1/catalog"), ("PUT", "/v1/apps/com.example.game"),
            ("POST", "/v1/customers/u1/purchases/apple:1/transfer"),
        ] {
            guard case .eventually(.known, _) = begin(method, path, "{}") else {
                Issue.record("\(method) \(path) is begun by the thread that serves it")
                continue
            }
        }
    }

    @Test("A wish can be followed by another, even if a lookup failed")
    func following() throws {
        let failing = Wish<Int>.look { () throws(CommandError) in throw .fault(.busy) }
        let again = failing.then { result in
            result == .failure(.fault(.busy)) ? Wish<Int>.answered(.success(7)) : .answered(result)
        }
        #expect(try service.ledger.perform(again) == 7)
    }

    @Test("A repetition gets its first answer by a lookup after the commit")
    func repetition() throws {
        let spend = "/v1/customers/u1/balances/coins"
        func adjust(_ amount: Int, key: String) -> String {
            service.send(
                "POST", "\(spend)/adjust", key: keys.admin, headers: [("Idempotency-Key", key)],
                body: #"{"amount":\#(amount),"reason":"r","allow_unknown":true}"#
            ).text
        }
        let first = adjust(5, key: "one")
        _ = adjust(6, key: "two")
        #expect(first.contains(#""balance":5"#))
        #expect(adjust(5, key: "one") == first)
    }
}
