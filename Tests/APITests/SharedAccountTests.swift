import Core
import JSON
import Minting
import Synchronization
import TestSupport
import Testing

@Suite("A store account that several customers share", .timeLimit(.minutes(20)))
struct SharedAccountCallTests {
    private static let account = "704"
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private func installed(
        _ account: String? = Self.account, by store: MintedStore? = nil
    ) -> JSON {
        let signed = (store ?? front.store).appTransaction(
            originalVersion: "1.0", account: account, at: front.daysAgo(9))
        return ["app_transaction": .string(signed)]
    }

    private func code(_ reply: Reply) throws -> String? {
        try reply.json["items"]?.array?.first?["code"]?.string
    }

    private func forge(_ text: String) throws {
        try front.service.database.run(text, role: "deed_service")
    }

    @Test(
        "Three customers keep its benefits; a fourth is refused with advice")
    func limited() throws {
        for customer in ["u1", "u2", "u3"] {
            #expect(try front.submit(installed(), for: customer).outcomes == ["recorded"])
            #expect(try front.isActive("legacy", for: customer) == true)
        }
        let events = try front.service.eventCount()
        let refused = front.submit(installed(), for: "u4")
        #expect(refused.status == 200)
        let item = try refused.json["items"]?.array?.first
        #expect(item?["outcome"] == "refused" && item?["code"] == "account_shared")
        #expect(item?["retryable"] == .bool(false))
        #expect(item?["detail"]?.string?.contains("--customers-per-account") == true)
        #expect(try front.service.eventCount() == events)
        #expect(try front.isActive("legacy", for: "u4") == false)
        #expect(try front.isActive("legacy", for: "u1") == true)
        // The sandbox counts its accounts separately.
        let sandbox = installed(by: front.sandbox)
        #expect(try front.submit(sandbox, for: "u4").outcomes == ["recorded"])
        #expect(try front.submit(installed("705"), for: "u4").outcomes == ["recorded"])
        #expect(try front.submit(installed(), for: "u2").outcomes == ["already_known"])
    }

    @Test("The limit is a setting: more, any number, and the same for those back at three")
    func setting() throws {
        func set(_ body: String) throws {
            #expect(front.send("PATCH", "/v1/settings", body, key: front.admin).status == 200)
        }
        try set(#"{"customers_per_account":1}"#)
        #expect(try front.submit(installed(), for: "u1").outcomes == ["recorded"])
        #expect(try code(front.submit(installed(), for: "u2")) == "account_shared")
        try set(#"{"customers_per_account":2}"#)
        #expect(try front.submit(installed(), for: "u2").outcomes == ["recorded"])
        try set(#"{"customers_per_account":null}"#)
        for number in 3...6 {
            #expect(try front.submit(installed(), for: "u\(number)").outcomes == ["recorded"])
        }
        try set(#"{"customers_per_account":3}"#)
        #expect(try front.submit(installed(), for: "u6").outcomes == ["already_known"])
        #expect(try code(front.submit(installed(), for: "u7")) == "account_shared")
        let settings = try front.send("GET", "/v1/settings", key: front.admin).json["settings"]
        #expect(settings?["customers_per_account"] == .integer(3))
    }

    @Test("If two come as the last at once, from two processes, one passes")
    func race() throws {
        let other = try TestService(beside: front.service)
        for round in 0..<12 {
            let account = "9\(round)"
            for number in 1...2 {
                _ = front.submit(installed(account), for: "r\(round)-\(number)")
            }
            let piece = installed(account)
            let replies = Mutex<[Reply]>([])
            inParallel(4) { [front] lane in
                let reply = front.submit(
                    piece, for: "r\(round)-\(lane + 3)",
                    through: lane % 2 == 0 ? front.service : other)
                replies.withLock { $0.append(reply) }
            }
            let told = replies.withLock { $0 }
            #expect(told.count == 4 && told.allSatisfy { $0.status == 200 })
            let passed = try told.filter { try $0.outcomes == ["recorded"] }.count
            #expect(passed == 1, "round \(round)")
        }
    }

    @Test("Forged or missing rows neither admit anyone nor keep anyone out")
    func rows() throws {
        for customer in ["u1", "u2"] { _ = front.submit(installed(), for: customer) }
        _ = front.submit(
            front.signed([Sale("1", "level2", .nonConsumable, at: front.daysAgo(1))]), for: "thief")
        try forge(
            #"update deed.customers set app_transactions = '["704"]' where customer = 'thief'"#)
        #expect(try code(front.submit(installed(), for: "u3")) == nil)
        try forge("update deed.customers set app_transactions = null")
        #expect(try code(front.submit(installed(), for: "u4")) == "account_shared")
        #expect(try front.isActive("legacy", for: "thief") == false)
    }

    @Test("A customer to whom only a row gives an account gets none of its news")
    func news() throws {
        _ = front.submit(installed(), for: "u1")
        _ = front.submit(
            front.signed([Sale("1", "level2", .nonConsumable, at: front.daysAgo(1))]), for: "thief")
        let path = "/v1/app_transactions/\(Self.account)"
        #expect(try front.send("GET", path).json["customers"] == ["u1"])
        try forge(
            #"update deed.customers set app_transactions = '["704"]' where customer = 'thief'"#)
        let events = try front.service.eventCount()
        let found = front.send("GET", path)
        #expect(found.status == 503 && found.code == "row_unproven", "\(found.text)")
        let told = front.notify(
            front.store.rescission(of: Self.account, id: "n1", at: front.daysAgo(0)))
        #expect(told.status == 503 && told.code == "row_unproven", "\(told.text)")
        #expect(told.header("Retry-After") != nil)
        #expect(try front.service.eventCount() == events)
        try forge("update deed.customers set app_transactions = null where customer = 'thief'")
        let again = front.notify(
            front.store.rescission(of: Self.account, id: "n1", at: front.daysAgo(0)))
        #expect(again.status == 200)
        #expect(try front.events(of: "u1").contains("consent.rescinded"))
        #expect(try !front.events(of: "thief").contains("consent.rescinded"))
    }
}
