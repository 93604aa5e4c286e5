import AppStore
import Core
import Crypto
import Evidence
import Foundation
import HTTPServer
import JSON
import Minting
import Practice
import TestSupport
import Testing

@Suite("Having the store judge receipts", .timeLimit(.minutes(20)))
struct ReceiptClientTests {
    private let secret = "practice-shared-secret"

    private func inquiry(
        _ receipt: String, _ asking: Asking, tries: Int64 = 1, after former: IntakeReason? = nil,
        environment: Environment = .sandbox
    ) throws -> StoreInquiry {
        StoreInquiry(
            evidence: RawEvidence(.appReceipt, Array(receipt.utf8), rank: .offlineReceipt),
            project: asking.app.project, app: App(asking.app.key, receipts: .store),
            environment: environment, tries: tries, formerReason: former, now: machineInstant())
    }

    /// Returns the code of a refusal, or `later:` and the code of the reason to wait.
    private func word(_ judgement: Judgement<ProvenEvidence, Postponement>) -> String {
        switch judgement {
        case .believed(let proven): "believed \(proven.facts.transactions.count)"
        case .refused(let reason): reason.code
        case .undecided(let wait): "later: \(wait.reason.code)"
        }
    }

    private func judge(_ status: Int64, tries: Int64 = 1, more: String = "") throws -> String {
        let store = try CannedStore { _, _ in
            Response(status: 200, body: Array(#"{"status":\#(status)\#(more)}"#.utf8))
        }
        let asking = try Asking(store.url, secret: secret)
        return word(asking.client.judge(try inquiry("AAAA", asking, tries: tries)))
    }

    @Test("A receipt that the store believes counts with everything in its reply")
    func believed() throws {
        let served = try ServedPractice()
        let asking = try Asking(served.url, secret: secret)
        let receipt = try served.buy("pro.month").receipt
        _ = try served.buy("level2")
        // The reply also contains the purchase made after the receipt.
        #expect(word(asking.client.judge(try inquiry(receipt, asking))) == "believed 2")
    }

    @Test("Each status has its outcome")
    func statuses() throws {
        #expect(try judge(21_000) == "later: reply_later")
        #expect(try judge(21_000, tries: 50) == "later: reply_later")
        #expect(try judge(21_002) == "later: reply_later")
        #expect(try judge(21_003) == "reply_refused")
        #expect(try judge(21_004) == "later: store_secret_wrong")
        #expect(try judge(21_005, tries: 50) == "later: reply_later")
        #expect(try judge(21_009) == "later: reply_later")
        #expect(try judge(21_010) == "reply_refused")
        #expect(try judge(21_150) == "reply_refused")
        #expect(try judge(21_150, more: #","is-retryable":true"#) == "later: reply_later")
        #expect(try judge(21_150, more: #","is-retryable":"1""#) == "later: reply_later")
        #expect(try judge(99_999) == "later: reply_later")
    }

    @Test("A receipt counts as malformed only if the store says so again after half an hour")
    func malformed() throws {
        let store = try CannedStore { _, _ in
            Response(status: 200, body: Array(#"{"status":21002}"#.utf8))
        }
        let asking = try Asking(store.url, secret: secret)
        func judge(_ tries: Int64, after former: IntakeReason?) throws -> String {
            word(asking.client.judge(try inquiry("AAAA", asking, tries: tries, after: former)))
        }
        guard case .undecided(let first) = asking.client.judge(try inquiry("AAAA", asking)) else {
            Issue.record("it was judged at once")
            return
        }
        #expect(try judge(5, after: first.reason) == "later: reply_later")
        #expect(try judge(6, after: first.reason) == "reply_later")
        // Tries that failed for other reasons do not count, such as an unavailable store or a missing secret.
        let away = StoreTrouble.unavailable("it answered 500")
        let other = IntakeReason(code: away.code, sentence: away.sentence)
        #expect(try judge(50, after: other) == "later: reply_later")
        #expect(try judge(50, after: nil) == "later: reply_later")
    }

    /// A reply of the store with one member missing or wrong.
    private static let mutilated: [String] = {
        let reply = #"""
            {"status":0,"environment":"Sandbox","receipt":{"receipt_type":"ProductionSandbox",
             "bundle_id":"com.example.game","request_date_ms":"1706695200000","in_app":[
             {"quantity":"1","product_id":"level2","transaction_id":"7",
              "original_transaction_id":"7","purchase_date_ms":"1706695100000"}]}}
            """#
        let changes = [
            ("\"receipt\":", "\"recept\":"), ("\"com.example.game\"", "7"),
            ("\"bundle_id\"", "\"bid_\""),
            ("\"Sandbox\"", "\"Sandpit\""), ("request_date_ms", "request_date_"),
            ("\"1706695200000\"", "\"x\""), ("\"transaction_id\":\"7\"", "\"transaction_id\":[]"),
            ("purchase_date_ms", "purchase_d"), ("\"level2\"", "\"\""), ("\"1\"", "\"-1\""),
        ]
        return [#"{"status":0}"#, #"{"status":0,"receipt":null}"#, #"{"status":"none"}"#]
            + changes.map { reply.replacingOccurrences(of: $0.0, with: $0.1) }
    }()

    @Test(
        "A reply that vouches for a receipt but is unreadable is never a verdict",
        arguments: mutilated)
    func mutilation(_ reply: String) throws {
        let store = try CannedStore { _, _ in Response(status: 200, body: Array(reply.utf8)) }
        let asking = try Asking(store.url, secret: secret)
        guard case .undecided(let wait) = asking.client.judge(try inquiry("AAAA", asking)) else {
            Issue.record("it was judged: \(reply)")
            return
        }
        #expect(
            word(
                asking.client.judge(try inquiry("AAAA", asking, tries: 50, after: wait.reason))
            ).hasPrefix("later: "))
    }

    @Test(
        "Another app's receipt is refused once the store said so twice, half an hour apart")
    func otherApp() throws {
        let reply = #"""
            {"status":0,"environment":"Sandbox","receipt":{"receipt_type":"ProductionSandbox",
             "bundle_id":"com.example.other","request_date_ms":"1706695200000","in_app":[]}}
            """#
        let store = try CannedStore { _, _ in Response(status: 200, body: Array(reply.utf8)) }
        let asking = try Asking(store.url, secret: secret)
        guard case .undecided(let wait) = asking.client.judge(try inquiry("AAAA", asking)) else {
            Issue.record("it was judged at once")
            return
        }
        #expect(
            word(asking.client.judge(try inquiry("AAAA", asking, tries: 6, after: wait.reason)))
                == "foreign_bundle_id")
    }

    @Test(
        "An answer from something other than the store leaves a receipt waiting",
        arguments: ["", "<html>Sign in to continue</html>"])
    func inItsPlace(_ body: String) throws {
        let store = try CannedStore { _, _ in Response(status: 200, body: Array(body.utf8)) }
        let asking = try Asking(store.url, secret: secret)
        #expect(
            word(asking.client.judge(try inquiry("AAAA", asking, tries: 50)))
                == "later: store_unavailable")
    }

    @Test("Each host sends a receipt of the other environment there, and never in circles")
    func environments() throws {
        let served = try ServedPractice()
        let receipt = try served.buy("pro.month").receipt
        let production = try CannedStore { _, _ in
            Response(status: 200, body: Array(#"{"status":21007}"#.utf8))
        }
        let circling = try CannedStore { _, _ in
            Response(status: 200, body: Array(#"{"status":21008}"#.utf8))
        }
        func asking(_ sandbox: String) throws -> Asking {
            try Asking(
                hosts: StoreHosts(
                    api: [:], receipts: [.production: production.url, .sandbox: sandbox],
                    order: [.production, .sandbox]), secret: secret)
        }
        let good = try asking("\(served.url)/verifyReceipt")
        let inquiry = try inquiry(receipt, good, environment: .production)
        #expect(word(good.client.judge(inquiry)) == "believed 1")
        let bad = try asking(circling.url)
        #expect(word(bad.client.judge(inquiry)) == "later: store_answer_foreign")
        #expect(production.count == 2 && circling.count == 1)
    }

    @Test("A reply from one environment's host about the other environment is not believed")
    func foreignEnvironment() throws {
        let reply = #"""
            {"status":0,"environment":"Production","receipt":{"receipt_type":"Production",
             "bundle_id":"com.example.game","request_date_ms":"1682935200000","in_app":[]}}
            """#
        let store = try CannedStore { _, _ in Response(status: 200, body: Array(reply.utf8)) }
        let asking = try Asking(store.url, secret: secret)
        #expect(
            word(asking.client.judge(try inquiry("AAAA", asking)))
                == "later: reply_from_other_environment")
    }

    @Test("A reply without an environment belongs to the host that answered")
    func oldReply() throws {
        let reply = #"""
            {"status":21006,"receipt":{"bid":"com.example.game","bvrs":"1.2","product_id":"pro.month",
             "transaction_id":"7","original_transaction_id":"7","purchase_date_ms":"1400000000000"}}
            """#
        let store = try CannedStore { _, _ in Response(status: 200, body: Array(reply.utf8)) }
        let asking = try Asking(store.url, secret: secret)
        let list =
            #"{ "signature" = "AjdA"; "purchase-info" = "ewoJ"; "environment" = "Sandbox"; }"#
        guard case .believed(let proven) = asking.client.judge(try inquiry(list, asking))
        else {
            Issue.record("it was not believed")
            return
        }
        #expect(proven.environment == .sandbox && proven.facts.transactions.count == 1)
    }

    @Test("Nothing is asked without a secret, and a faulty store is asked again later")
    func trouble() throws {
        let ill = try CannedStore { _, _ in Response(status: 503) }
        let mute = try Asking(ill.url)
        #expect(
            word(mute.client.judge(try inquiry("AAAA", mute))) == "later: store_not_configured")
        #expect(ill.count == 0)
        let asking = try Asking(ill.url, secret: secret)
        #expect(
            word(asking.client.judge(try inquiry("AAAA", asking))) == "later: store_unavailable")
    }

    @Test("A store that wants a pause is left alone until it ends", arguments: [429, 503])
    func pause(_ status: Int) throws {
        let limited = try CannedStore { _, _ in
            Response(status: status, headers: [Header("Retry-After", "120")])
        }
        let waiting = try Asking(limited.url, secret: secret)
        for _ in 0..<2 {
            guard
                case .undecided(let wait) = waiting.client.judge(try inquiry("AAAA", waiting)),
                wait.until != nil
            else {
                Issue.record("it was judged")
                return
            }
            #expect(wait.reason.code == "store_limited")
        }
        #expect(limited.count == 1)
    }
}
