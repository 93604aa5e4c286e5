import AppStore
import Core
import Evidence
import HTTPServer
import JSON
import Minting
import Practice
import TestSupport
import Testing

@Suite("Asking the App Store Server API", .timeLimit(.minutes(20)))
struct AskingTests {
    @Test("Every call is answered, and signed parts are proven")
    func calls() throws {
        let served = try ServedPractice {
            $0.app.notificationURL = "http://127.0.0.1:1/"
        }
        let asking = try Asking(served.url)
        let id = try TransactionID(try served.buy("pro.month").transaction ?? "")
        let extending = RenewalExtension(days: 3, why: .outage, request: "r-1")
        let product = try ProductID("pro.month")
        let token = try #require(AccountToken("7f3c2f0e-6a53-4a6c-9d0d-2f6e3f7f0b11"))
        #expect(try proven(asking.ask(.transaction(id)), asking) == 1)
        #expect(try proven(asking.ask(.installation(of: id)), asking) == 1)
        let statuses = try asking.ask(.standings(of: id))
        #expect(
            statuses.remark
                == .standings([StandingTold(purchase: "apple:\(id.text)", text: "active")]))
        #expect(statuses.evidence.map(\.kind) == [.signedTransaction, .renewalInfo])
        #expect(try proven(asking.ask(.history(of: id)), asking) == 1)
        #expect(try asking.ask(.refunds(of: id)).evidence.isEmpty)
        #expect(try asking.ask(.order("none")).remark == .order(isFound: false))
        #expect(try asking.ask(.finish(id)).remark == .nothing)
        #expect(try asking.ask(.setToken(token, of: id)).remark == .nothing)
        guard case .extended(.some) = try asking.ask(.extend(id, extending)).remark else {
            Issue.record("nothing was extended")
            return
        }
        let all = try asking.ask(.extendAll(product, extending, countries: ["USA"]))
        #expect(all.remark == .extendingAll(request: "r-1"))
        guard
            case .extendedAll(true, _, _) = try asking.ask(
                .extendAllResult(product, request: "r-1")
            ).remark
        else {
            Issue.record("the extension is not done")
            return
        }
        let report = ConsumptionReport(
            delivery: .delivered, hasSample: false, used: 40_000, preference: .decline)
        let coins = try TransactionID(try served.buy("coins.100").transaction ?? "")
        #expect(try asking.ask(.consumption(report, of: coins)).remark == .nothing)
        guard case .testSent(let test) = try asking.ask(.test).remark else {
            Issue.record("no test was sent")
            return
        }
        _ = try served.store.advance(to: opening.advanced(byMilliseconds: 60_000))
        #expect(try proven(asking.ask(.testResult(test)), asking) == 1)
        let filter = NotificationFilter(
            start: opening, end: opening.advanced(byMilliseconds: 86_400_000))
        let told = try asking.ask(.notifications(filter))
        #expect(try proven(told, asking) >= 2)
    }

    /// Expects each piece of evidence in an answer to be proven. Returns their number.
    private func proven(_ answer: StoreAnswer, _ asking: Asking) throws -> Int {
        let app = TrustedApp(
            id: asking.app.key.id, appleID: nil, environments: [.sandbox, .production])
        for raw in answer.evidence where raw.kind != .renewalInfo {
            _ = try asking.prover.prove(raw, for: [app], now: machineInstant())
        }
        return answer.evidence.count
    }

    @Test("A refusal has its code, and is not repeated")
    func refusals() throws {
        let served = try ServedPractice()
        let asking = try Asking(served.url)
        let unknown = try TransactionID("123")
        let none = RenewalExtension(days: 3, why: .other, request: "r")
        let wrong: [(StoreCall, Int64)] = [
            (.transaction(unknown), 4_040_010), (.history(of: unknown), 4_040_010),
            (.transaction(try TransactionID("abc")), 4_000_006),
            (.standings(of: unknown), 4_040_010), (.refunds(of: unknown), 4_040_010),
            (.extend(unknown, none), 4_040_005), (.test, 4_040_007),
            (.testResult("x"), 4_000_020),
            (.extendAllResult(try ProductID("x"), request: "y"), 4_040_009),
            (.history(of: unknown, after: "%&/"), 4_040_010),
        ]
        for (call, code) in wrong {
            guard case .refused(code, _, _)? = asking.trouble(call) else {
                Issue.record("\(call): \(String(describing: asking.trouble(call)))")
                continue
            }
        }
    }

    @Test("A key that is not the store's is rejected")
    func wrongKey() throws {
        let served = try ServedPractice()
        let asking = try Asking(
            hosts: StoreHosts(api: [.sandbox: served.url], receipts: [:], order: [.sandbox]),
            key: MintedKey(.p256))
        #expect(asking.trouble(.test) == .unauthorized)
    }

    @Test("Production is asked first, then the sandbox about what production does not know")
    func environments() throws {
        let production = try CannedStore { _, _ in
            Response(
                status: 404, body: Array(#"{"errorCode":4040010,"errorMessage":"none"}"#.utf8))
        }
        let sandbox = try ServedPractice()
        let asking = try Asking(
            hosts: StoreHosts(
                api: [.production: production.url, .sandbox: sandbox.url], receipts: [:],
                order: [.production, .sandbox]))
        let id = try TransactionID(try sandbox.buy("pro.month").transaction ?? "")
        let answer = try asking.ask(.transaction(id))
        #expect(answer.environment == .sandbox && production.count == 1)
        _ = try asking.ask(.transaction(id), in: .sandbox)
        #expect(production.count == 1)
        guard case .refused(4_040_010, _, _)? = asking.trouble(.transaction(try TransactionID("1")))
        else {
            Issue.record("an unknown transaction was known")
            return
        }
        // A call without a transaction is about production unless it names an environment.
        #expect(throws: StoreTrouble.self) { try asking.ask(.test) }
        #expect(production.count == 3)
    }

    @Test("An app that was never released is asked about in the sandbox")
    func unreleased() throws {
        let production = try CannedStore { _, _ in Response(status: 401) }
        let sandbox = try ServedPractice()
        let asking = try Asking(
            hosts: StoreHosts(
                api: [.production: production.url, .sandbox: sandbox.url], receipts: [:],
                order: [.production, .sandbox]))
        let id = try TransactionID(try sandbox.buy("pro.month").transaction ?? "")
        #expect(try asking.ask(.transaction(id)).environment == .sandbox)
    }

    @Test(
        "A purchase that the sandbox does not know is not unknown if production rejected the key",
        arguments: [401, 403])
    func refusedProduction(status: Int) throws {
        let production = try CannedStore { _, _ in Response(status: status) }
        let sandbox = try ServedPractice()
        let asking = try Asking(
            hosts: StoreHosts(
                api: [.production: production.url, .sandbox: sandbox.url], receipts: [:],
                order: [.production, .sandbox]))
        #expect(asking.trouble(.transaction(try TransactionID("1"))) == .unauthorized)
    }
}
