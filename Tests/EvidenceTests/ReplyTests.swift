import Core
import JSON
import Minting
import Testing

@testable import Evidence

@Suite("verifyReceipt replies")
struct ReplyTests {
    static let subscription: JSON = [
        "quantity": "1", "product_id": "com.example.pro.month", "transaction_id": "1002",
        "original_transaction_id": "1001", "purchase_date": "2023-05-01 09:59:59 Etc/GMT",
        "purchase_date_ms": "1682935199000", "original_purchase_date_ms": "1680343199000",
        "expires_date": "2023-06-01 09:59:59 Etc/GMT", "expires_date_ms": "1685613599000",
        "web_order_line_item_id": "77", "is_trial_period": "true",
        "is_in_intro_offer_period": "false", "is_upgraded": "true",
        "subscription_group_identifier": "20000001", "in_app_ownership_type": "FAMILY_SHARED",
        "app_account_token": "7f3c2f0e-6a53-4a6c-9d0d-2f6e3f7f0b11",
        "cancellation_date_ms": "1683000000000", "cancellation_reason": "1",
    ]
    static let consumable: JSON = [
        "quantity": "3", "product_id": "com.example.coins.100", "transaction_id": "1003",
        "original_transaction_id": "1003", "purchase_date": "2023-05-01 09:59:59 Etc/GMT",
        "is_trial_period": "false",
    ]
    static let renewal: JSON = [
        "original_transaction_id": "1001", "product_id": "com.example.pro.month",
        "auto_renew_product_id": "com.example.pro.year", "auto_renew_status": "0",
        "expiration_intent": "2", "is_in_billing_retry_period": "1",
        "grace_period_expires_date_ms": "1686218399000", "price_consent_status": "0",
    ]

    static var good: Payload {
        Payload([
            ("status", 0), ("environment", "Sandbox"),
            (
                "receipt",
                [
                    "receipt_type": "ProductionSandbox", "adam_id": 0,
                    "bundle_id": .string(Payload.bundleID), "application_version": "42",
                    "request_date_ms": "1682935200000", "original_application_version": "1.0",
                    "original_purchase_date_ms": "1375340400000",
                    "in_app": [
                        consumable,
                        [
                            "transaction_id": "1002", "product_id": "x",
                            "purchase_date_ms": "1682935199000",
                        ],
                    ],
                ]
            ),
            ("latest_receipt_info", [subscription]), ("pending_renewal_info", [renewal]),
        ])
    }

    func verify(
        _ payload: Payload, host: Environment = .sandbox, on terms: Terms = .usual
    ) throws -> StoreStatement<Verified> {
        let reply = FetchedAnswer(.verifyReceiptReply, body: payload.json.bytes, host: host)
        return try Verifier.trusting.verify(reply, on: terms)
    }

    func refused(_ name: String, _ value: JSON?, host: Environment = .sandbox) -> EvidenceRefusal? {
        var payload = Self.good
        payload[name] = value
        do {
            _ = try verify(payload, host: host)
            return nil
        } catch {
            return error as? EvidenceRefusal
        }
    }

    @Test("Strings, dates and truth values become the same facts as elsewhere")
    func facts() throws {
        let facts = try verify(Self.good).facts
        #expect(facts.transactions.map(\.transaction.text) == ["1002", "1003"])
        let subscription = facts.transactions[0]
        #expect(subscription.original.text == "1001")
        #expect(subscription.product.text == "com.example.pro.month")
        #expect(subscription.purchased.milliseconds == 1_682_935_199_000)
        #expect(subscription.originallyPurchased?.milliseconds == 1_680_343_199_000)
        #expect(subscription.expires?.milliseconds == 1_685_613_599_000)
        #expect(subscription.kind == .autoRenewable && subscription.isUpgraded)
        #expect(subscription.offer == Offer(kind: .introductory, discount: .freeTrial))
        #expect(subscription.ownership == .familyShared)
        #expect(subscription.lineItem == "77" && subscription.group == "20000001")
        #expect(subscription.revocation?.reason == .issueWithApp)
        #expect(subscription.rank == .verifyReceiptReply)
        #expect(subscription.signedAt == Payload.signedAt)
        let consumable = facts.transactions[1]
        #expect(consumable.quantity == 3 && consumable.kind == nil && consumable.offer == nil)
        #expect(consumable.purchased == instant("2023-05-01T09:59:59Z"))
        #expect(facts.apps.first?.originalVersion == "1.0")
    }

    @Test("The pending renewal becomes a renewal fact")
    func renewal() throws {
        let fact = try #require(try verify(Self.good).facts.renewals.first)
        #expect(fact.original.text == "1001" && !fact.willRenew && fact.isInBillingRetry)
        #expect(fact.nextProduct?.text == "com.example.pro.year")
        #expect(fact.graceUntil?.milliseconds == 1_686_218_399_000)
        #expect(fact.expirationIntent == .billingError && fact.priceConsent == .pending)
    }

    @Test("A reply to an iOS 6 receipt is read as one transaction")
    func old() throws {
        var payload = Payload([("status", 21006), ("environment", "Sandbox")])
        payload["receipt"] = [
            "bid": .string(Payload.bundleID), "bvrs": "1.2", "product_id": "com.example.pro.month",
            "transaction_id": "7", "original_transaction_id": "6", "quantity": "1",
            "purchase_date": "2013-01-01 00:00:00 Etc/GMT", "expires_date": "1359676800000",
        ]
        payload["latest_expired_receipt_info"] = [
            "product_id": "com.example.pro.month", "transaction_id": "8",
            "original_transaction_id": "6", "purchase_date_ms": "1359676800000",
            "expires_date": "1362096000000",
        ]
        let statement = try verify(payload)
        #expect(statement.facts.transactions.map(\.transaction.text) == ["8", "7"])
        #expect(statement.facts.transactions[1].expires == instant("2013-02-01T00:00:00Z"))
        #expect(statement.appVersion == "1.2")
    }

    @Test("Every status from 21000 to 21199 has one verdict")
    func statuses() {
        var expected: [Int64: ReplyVerdict] = [
            21000: .tryLater, 21001: .tryLater, 21002: .tryLater, 21003: .refused,
            21004: .tryLater, 21005: .tryLater, 21006: .valid, 21007: .otherEnvironment(.sandbox),
            21008: .otherEnvironment(.production), 21009: .tryLater, 21010: .refused,
        ]
        for status in Int64(21011)...21099 { expected[status] = .tryLater }
        for status in Int64(21100)...21199 { expected[status] = .refused }
        for status in Int64(21000)...21199 {
            #expect(ReplyVerdict(status: status, isRetryable: false) == expected[status])
            if status >= 21100 { expected[status] = .tryLater }
            #expect(ReplyVerdict(status: status, isRetryable: true) == expected[status])
        }
        #expect(ReplyVerdict(status: 0, isRetryable: false) == .valid)
    }

    @Test("A status that does not vouch for the receipt refuses it")
    func refusals() {
        #expect(refused("status", 21003) == .replyRefused(status: 21003))
        #expect(refused("status", 21005) == .replyLater(status: 21005))
        #expect(refused("status", "21005") == .replyLater(status: 21005))
        #expect(refused("status", 21007) == .replyFromOtherEnvironment(.sandbox))
        #expect(refused("status", nil) == .invalidMember("status"))
        #expect(refused("status", 21003)?.cure == RefusedEvidence.Cure.none)
        #expect(refused("status", 21005)?.cure == .time)
    }

    @Test("Internal errors are tried again only if the reply says so", arguments: ["1", "true"])
    func retryable(_ word: String) {
        var payload = Payload([("status", 21150), ("is-retryable", .string(word))])
        #expect {
            try verify(payload)
        } throws: { ($0 as? EvidenceRefusal) == .replyLater(status: 21150) }
        payload["is-retryable"] = true
        #expect {
            try verify(payload)
        } throws: { ($0 as? EvidenceRefusal) == .replyLater(status: 21150) }
        payload["is-retryable"] = "0"
        #expect {
            try verify(payload)
        } throws: { ($0 as? EvidenceRefusal) == .replyRefused(status: 21150) }
    }

    @Test("A reply from the host of another environment is refused")
    func host() {
        #expect(
            refused("environment", "Sandbox", host: .production)
                == .replyFromOtherEnvironment(.sandbox))
    }

    @Test("A reply about another app is refused")
    func foreignApp() throws {
        var terms = Terms.usual
        terms.apps = []
        #expect {
            try verify(Self.good, on: terms)
        } throws: { ($0 as? EvidenceRefusal) == .foreignBundleID(Payload.bundleID) }
    }

    @Test("Values of the wrong kind are refused by name")
    func badValues() {
        #expect(refused("latest_receipt_info", "x") == .invalidMember("latest_receipt_info"))
        #expect(refused("latest_receipt_info", [1]) == .invalidMember("latest_receipt_info"))
        #expect(refused("receipt", nil) == .invalidMember("receipt"))
        #expect(
            refused("pending_renewal_info", [["original_transaction_id": "1"]])
                == .invalidMember("auto_renew_status"))
        var entry = Payload(Self.consumable.object?.members.map { ($0.name, $0.value) } ?? [])
        for value: JSON in ["soon", "2023-13-01 00:00:00 Etc/GMT", "2023-01-01 00:00:00 PST"] {
            entry["purchase_date"] = value
            #expect(
                refused("latest_receipt_info", [entry.json]) == .invalidMember("purchase_date"))
        }
    }

    @Test("A reply that Deed did not fetch is never believed")
    func unsigned() {
        #expect(
            refusal(of: Self.good.json.bytes, as: .verifyReceiptReply) == .unsigned)
    }
}
