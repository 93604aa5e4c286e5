import Core
import JSON
import Minting
import TestSupport
import Testing
import Threading

@testable import Service

/// The service's clock stands still in all of these tests, so no time passes that would make the service read again.
@Suite("An instance's own changes apply at once")
struct OwnChangeTests {
    private let front: Storefront
    private let app = "/v1/apps/\(Payload.bundleID)"

    init() throws {
        front = try Storefront()
    }

    private var level: Sale { Sale("1", "level2", .nonConsumable, at: front.daysAgo(1)) }

    private func news(of number: Int64?, from store: MintedStore? = nil) -> String {
        var store = store ?? front.store
        store.appleID = number
        return store.notification(
            "ONE_TIME_CHARGE", id: "5e1f6a04", at: front.daysAgo(0),
            transaction: store.transaction(level))
    }

    private func set(_ body: String, through other: TestService? = nil) {
        #expect(front.send("PUT", app, body, key: front.admin, through: other).status == 200)
    }

    @Test("A notification is checked against the app's new number, on other instances too")
    func number() throws {
        set(#"{"apple_id":7}"#)
        let refused = front.notify(news(of: 8))
        #expect(refused.status == 401 && refused.code == "foreign_app_id")
        #expect(try refused.json["retryable"]?.bool == true)
        set(#"{"apple_id":8}"#)
        #expect(front.notify(news(of: 8)).status == 200)
        #expect(front.notify(news(of: 7)).code == "foreign_app_id")
        let other = try TestService(beside: front.service)
        #expect(front.notify(news(of: 8), through: other).status == 200)
        set(#"{"apple_id":7}"#)
        // The other instance reads the apps again before it refuses.
        #expect(front.notify(news(of: 7), through: other).status == 200)
    }

    @Test("An added or removed app is recognized at once, in both ways of submitting")
    func added() throws {
        var store = front.store
        store.bundleID = "com.example.second"
        let signed = JSON.array([.string(store.transaction(level))])
        let refused = front.submit(["signed_transactions": signed])
        #expect(try refused.outcomes == ["refused"])
        let item = try #require(try refused.json["items"]?.array?.first)
        #expect(item["code"]?.string == "foreign_bundle_id" && item["retryable"]?.bool == true)
        #expect(front.notify(news(of: nil, from: store)).code == "app_unknown")
        let second = "/v1/apps/com.example.second"
        _ = front.send("PUT", second, "{}", key: front.admin)
        #expect(try front.submit(["signed_transactions": signed]).outcomes == ["recorded"])
        #expect(front.notify(news(of: nil, from: store)).status == 200)
        _ = front.send("DELETE", second, key: front.admin)
        #expect(try front.submit(["signed_transactions": signed]).outcomes == ["refused"])
        #expect(front.notify(news(of: nil, from: store)).code == "app_unknown")
    }

    @Test("Forged evidence stays refused for good")
    func forged() throws {
        let forged = front.store.transaction(level).dropLast(8) + "AAAAAAAA"
        let reply = front.submit(["signed_transactions": [.string(String(forged))]])
        #expect(try reply.json["items"]?.array?.first?["retryable"]?.bool == false)
    }

    @Test("A submission's answer includes the sandbox as soon as it counts")
    func sandbox() throws {
        let tested = JSON.string(front.sandbox.transaction(level))
        #expect(try front.submit(["signed_transactions": [tested]]).outcomes == ["recorded"])
        let coins = Sale("2", "coins.100", .consumable, at: front.daysAgo(1))
        func entitlements() throws -> JSON? { try front.submit(coins).json["entitlements"] }
        #expect(try entitlements() == [:])
        set(#"{"sandbox_access":"all"}"#)
        #expect(try entitlements()?["level2"]?["active"]?.bool == true)
        set(#"{"sandbox_access":"none"}"#)
        #expect(try entitlements() == [:])
    }

    private func patch(_ settings: String) {
        #expect(front.send("PATCH", "/v1/settings", settings, key: front.admin).status == 200)
    }

    @Test("A changed transfer rule applies to the next submission, on other instances too")
    func transfer() throws {
        let other = try TestService(beside: front.service)
        func outcome(for customer: String, through service: TestService? = nil) throws -> [String] {
            try front.submit(front.signed([level]), for: customer, through: service).outcomes
        }
        #expect(try outcome(for: "u1") == ["recorded"])
        #expect(try outcome(for: "u2") == ["held_by_another"])
        #expect(try outcome(for: "u2", through: other) == ["held_by_another"])
        patch(#"{"transfer":"transfer","cool_down":"PT1S"}"#)
        #expect(try outcome(for: "u2", through: other) == ["recorded"])
        front.service.clock.advance(byMilliseconds: 2000)
        #expect(try outcome(for: "u3") == ["recorded"])
        patch(#"{"transfer":"keep"}"#)
        #expect(try outcome(for: "u1", through: other) == ["held_by_another"])
        #expect(try outcome(for: "u1") == ["held_by_another"])
    }

    @Test("A new or removed limit applies to the next credit, on other instances too")
    func creditLimits() throws {
        let other = try TestService(beside: front.service)
        func status(_ service: TestService? = nil) -> Int {
            front.send(
                "POST", "/v1/customers/u1/balances/coins/adjust", #"{"amount":5,"reason":"won"}"#,
                through: service
            ).status
        }
        #expect(status() == 403 && status(other) == 403)
        patch(#"{"credit_limits":{"coins":{"per_call":5,"per_day":100}}}"#)
        #expect(status() == 200 && status(other) == 200)
        patch(#"{"credit_limits":{"coins":{"per_call":4,"per_day":100}}}"#)
        #expect(status() == 409 && status(other) == 409)
        patch(#"{"credit_limits":{"coins":null}}"#)
        #expect(status(other) == 403 && status() == 403)
    }

    @Test("A new key works at once, on other instances too")
    func keys() throws {
        let other = try TestService(beside: front.service)
        // Both instances have already read the keys.
        #expect(front.send("GET", "/v1/customers/u1").status == 200)
        #expect(front.send("GET", "/v1/customers/u1", through: other).status == 200)
        for service in [front.service, other] {
            let key = try front.service.key(.reader)
            #expect(front.send("GET", "/v1/customers/u1", key: key, through: service).status == 200)
            let admin = try front.service.key(.admin)
            #expect(front.send("GET", "/v1/settings", key: admin, through: service).status == 200)
        }
    }

    @Test("If two reads of the apps overlap, the later one is kept")
    func overlapping() throws {
        let stage = Monitor(0)
        let directory = front.service.ports.directory
        let tapped = TappedDirectory(directory) { () throws(Fault) in
            let listed = try directory.apps()
            let isFirst = stage.change { stage in
                stage += 1
                return stage == 1
            }
            // The first read has its list, and then waits for the second read to overtake it.
            if isFirst { _ = stage.wait(milliseconds: 500) { $0 > 10 ? true : nil } }
            return listed
        }
        let ring = AppRing(tapped, machineClock: front.service.clock.reading)
        inParallel(2) { [front, app] number in
            if number == 0 {
                try? ring.reload()
                return
            }
            _ = stage.wait { $0 > 0 ? true : nil }
            _ = front.send("PUT", app, #"{"apple_id":9}"#, key: front.admin)
            try? ring.reload()
            stage.change { $0 += 10 }
        }
        #expect(ring.apps(of: try ProjectID("default")).map(\.appleID) == [9])
    }
}
