import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@Suite("Keys of one environment")
struct BoundKeyTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    @Test(
        "Evidence of the other environment is refused as an item, and nothing of it is recorded",
        arguments: Environment.allCases)
    func evidence(_ environment: Environment) throws {
        let key = try front.service.key(.backend, only: environment)
        let sale = Sale("1", "level2", .nonConsumable, at: front.daysAgo(1))
        let body: JSON = [
            "signed_transactions": [
                .string(front.store.transaction(sale)), .string(front.sandbox.transaction(sale)),
            ]
        ]
        let reply = front.send(
            "POST", "/v1/customers/u1/receipts?environment=\(environment.rawValue)", body.text,
            key: key)
        let items = try #require(try reply.json["items"]?.array, "\(reply.text)")
        let own = environment == .production ? 0 : 1
        #expect(items[own]["outcome"] == "recorded")
        #expect(items[1 - own]["outcome"] == "refused")
        #expect(items[1 - own]["code"] == "environment_not_allowed")
        let sandbox = environment == .production ? "&environment=sandbox" : ""
        #expect(try front.events(of: "u1", sandbox) == [])
        // A key for both environments may make the call.
        #expect(
            try front.submit(body).outcomes.sorted() == ["already_known", "recorded"])
    }

    @Test("Evidence of the other environment does not wait in the queue either")
    func queue() throws {
        let key = try front.service.key(.backend, only: .sandbox)
        let early = Sale("10", "level2", .nonConsumable, at: front.daysAgo(1)).with {
            $0.signedAt = front.daysAgo(-1)
        }
        let body = front.signed([early]).text
        let reply = front.send(
            "POST", "/v1/customers/u1/receipts?environment=sandbox", body, key: key)
        #expect(reply.status == 200, "\(reply.text)")
        let item = try #require(try reply.json["items"]?.array?.first)
        #expect(item["code"] == "environment_not_allowed")
        #expect(try front.service.database.number("select count(*) from deed.intake") == 0)
        #expect(front.send("POST", "/v1/customers/u1/receipts", body).status == 202)
    }

    @Test("It sees and changes the webhooks of its environment alone")
    func webhooks() throws {
        func make(_ environment: String) throws -> String {
            let body = #"{"url":"https://example.com/","environment":"\#(environment)"}"#
            let reply = front.send("POST", "/v1/webhooks", body, key: front.admin)
            return try #require(try reply.json["id"]?.string, "\(reply.text)")
        }
        let (live, test) = (try make("production"), try make("sandbox"))
        let key = try front.service.key(.admin, only: .sandbox)
        let list = try front.send("GET", "/v1/webhooks", key: key).json["webhooks"]?.array
        #expect(list?.map { $0["id"]?.string } == [test])
        let calls = [
            ("GET", ""), ("PATCH", ""), ("POST", "/pause"), ("POST", "/resume"),
            ("POST", "/rotate"), ("POST", "/test"), ("POST", "/replay"), ("GET", "/deliveries"),
            ("DELETE", ""),
        ]
        let range = #"{"since":"2026-01-01T00:00:00Z","until":"2026-01-02T00:00:00Z"}"#
        for (method, end) in calls {
            let body = method == "PATCH" ? #"{"concurrency":8}"# : end == "/replay" ? range : ""
            let refused = front.send(method, "/v1/webhooks/\(live)\(end)", body, key: key)
            #expect(refused.code == "environment_not_allowed", "\(method) \(end)")
            if end == "/test" { continue }
            let done = front.send(method, "/v1/webhooks/\(test)\(end)", body, key: key)
            #expect((200..<300).contains(done.status), "\(method) \(end): \(done.text)")
        }
        #expect(front.send("GET", "/v1/webhooks/\(live)", key: front.admin).status == 200)
    }

    @Test("A name that is looked for in both environments must be looked for in one")
    func finding() throws {
        let key = try front.service.key(.reader, only: .production)
        #expect(front.send("GET", "/v1/find?q=u1", key: key).code == "environment_not_allowed")
        let reply = front.send("GET", "/v1/find?q=u1&environment=production", key: key)
        #expect(reply.status == 200)
    }
}
