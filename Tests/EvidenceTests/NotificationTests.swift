import Core
import Crypto
import JSON
import Minting
import Testing

@testable import Evidence

@Suite("Notifications")
struct NotificationTests {
    func refused(_ payload: Payload, on terms: Terms = .usual) -> EvidenceRefusal? {
        refusal(of: Array(payload.signed().utf8), as: .notification, on: terms)
    }

    func verify(_ payload: Payload) throws -> StoreStatement<Verified> {
        try Verifier.trusting.verify(
            Array(payload.signed().utf8), as: .notification, on: .usual)
    }

    /// Returns a payload with one changed member in its data.
    func notification(_ name: String, _ value: JSON?) -> Payload {
        var payload = Payload.notification()
        var data = Payload(
            payload["data"]?.object?.members.map { ($0.name, $0.value) } ?? [])
        data[name] = value
        payload["data"] = data.json
        return payload
    }

    @Test("A notification gives the facts of the statements inside it, under its own rank")
    func facts() throws {
        let statement = try verify(.notification())
        #expect(statement.facts.transactions.map(\.rank) == [.notification])
        #expect(statement.facts.renewals.map(\.rank) == [.notification])
        #expect(statement.facts.renewals.first?.app == .example)
        let head = try #require(statement.notification)
        #expect(head.id == "5e1f6a04-7a7b-4a0c-8f5a-0a5e6a0d1c22")
        #expect(head.type == "DID_RENEW" && head.subtype == nil && head.version == "2.0")
    }

    @Test("The body that the store posts equals the signed part in it")
    func body() throws {
        let signed = Payload.notification().signed()
        let body: JSON = ["other": 1, "signedPayload": .string(signed)]
        let statement = try Verifier.trusting.verify(
            body.bytes, as: .notification, on: .usual)
        #expect(statement.facts.transactions.count == 1)
    }

    @Test("A body that repeats its member, or lacks it, is refused")
    func badBody() {
        let signed = Payload.notification().signed()
        let twice = "{\"signedPayload\":\"\(signed)\",\"signedPayload\":\"\(signed)\"}"
        #expect(refusal(of: Array(twice.utf8), as: .notification)?.code == "bad_json")
        #expect(
            refusal(of: Array("{}".utf8), as: .notification) == .invalidMember("signedPayload"))
    }

    @Test("A test notification is believed and gives no fact")
    func test() throws {
        var payload = Payload.notification(transaction: nil, renewal: nil)
        payload["notificationType"] = "TEST"
        #expect(try verify(payload).facts == Facts())
    }

    @Test("Unknown types are kept as they came")
    func unknownType() throws {
        var payload = Payload.notification()
        payload["notificationType"] = "SOMETHING_NEW"
        payload["subtype"] = "AND_ODD"
        let head = try #require(try verify(payload).notification)
        #expect(head.type == "SOMETHING_NEW" && head.subtype == "AND_ODD")
    }

    @Test("Without its own date, it is as old as the newest statement inside")
    func noDate() throws {
        var renewal = Payload.renewal
        let later = Payload.signedAt.advanced(byMilliseconds: 1000)
        renewal["signedDate"] = .integer(later.milliseconds)
        var payload = Payload.notification(renewal: renewal.signed())
        payload["signedDate"] = nil
        #expect(try verify(payload).signedAt == later)
        var empty = Payload.notification(transaction: nil, renewal: nil)
        empty["signedDate"] = nil
        #expect(refused(empty) == .signedDateMissing)
    }

    @Test("A summary, a consent and a purchase token name their app elsewhere")
    func otherBodies() throws {
        func payload(_ name: String, _ members: JSON) -> Payload {
            var payload = Payload.notification()
            payload["data"] = nil
            payload[name] = members
            return payload
        }
        let summary: JSON = ["bundleId": .string(Payload.bundleID), "environment": "Sandbox"]
        #expect(try verify(payload("summary", summary)).environment == .sandbox)
        let token: JSON = [
            "bundleId": .string(Payload.bundleID), "externalPurchaseId": "SANDBOX_7",
        ]
        #expect(try verify(payload("externalPurchaseToken", token)).environment == .sandbox)
        let production: JSON = [
            "bundleId": .string(Payload.bundleID), "externalPurchaseId": "7",
        ]
        #expect(
            try verify(payload("externalPurchaseToken", production)).environment == .production)
        let consent: JSON = [
            "bundleId": .string(Payload.bundleID), "environment": "Sandbox",
            "signedAppTransactionInfo": .string(Payload.appTransaction.signed()),
        ]
        #expect(try verify(payload("appData", consent)).facts.apps.count == 1)
        #expect(refused(payload("nothing", [:])) == .invalidMember("data"))
    }

    @Test("A requested refund, and the store's refusal, are news of the transaction inside")
    func refunds() throws {
        var payload = notification("consumptionRequestReason", "LEGAL")
        payload["notificationType"] = "CONSUMPTION_REQUEST"
        let asked = try #require(try verify(payload).facts.refunds.first)
        #expect(asked.stage == .requested(.legal) && asked.rank == .notification)
        #expect(asked.transaction.text == "2000000000000002")
        payload["notificationType"] = "REFUND_DECLINED"
        #expect(try verify(payload).facts.refunds.map(\.stage) == [.declined])
        payload["notificationType"] = "DID_RENEW"
        #expect(try verify(payload).facts.refunds == [])
    }

    @Test("A withdrawn consent is news of the account inside")
    func rescinded() throws {
        var app = Payload.appTransaction
        app["appTransactionId"] = "704000000000000001"
        var payload = Payload.notification()
        payload["data"] = nil
        payload["notificationType"] = "RESCIND_CONSENT"
        payload["appData"] = [
            "bundleId": .string(Payload.bundleID), "environment": "Sandbox",
            "signedAppTransactionInfo": .string(app.signed()),
        ]
        let facts = try verify(payload).facts
        #expect(facts.consents.map(\.appTransaction.text) == ["704000000000000001"])
        #expect(facts.apps.first?.appTransaction?.text == "704000000000000001")
    }

    @Test("Another app's transaction inside is refused")
    func foreignTransaction() {
        var transaction = Payload.transaction
        transaction["bundleId"] = "com.other"
        #expect(
            refused(.notification(transaction: transaction.signed()))
                == .inside(.signedTransaction, .foreignBundleID("com.other")))
    }

    @Test("Another configured app's transaction inside is refused as well")
    func otherConfiguredApp() throws {
        var terms = Terms.usual
        terms.apps.append(
            TrustedApp(
                id: try AppID("com.other"), appleID: nil, environments: [.sandbox, .production]))
        var transaction = Payload.transaction
        transaction["bundleId"] = "com.other"
        #expect(
            refused(.notification(transaction: transaction.signed()), on: terms)
                == .inside(.signedTransaction, .foreignBundleID("com.other")))
    }

    @Test(
        "A statement inside one for another app is refused without blaming the settings"
    )
    func foreignEnvelope() throws {
        var notification = Payload.notification(renewal: nil)
        var data = Payload(
            notification["data"]?.object?.members.map { ($0.name, $0.value) } ?? [])
        data["bundleId"] = "com.other"
        notification["data"] = data.json
        let refusal = try #require(refused(notification))
        #expect(refusal.code == "foreign_bundle_id")
        #expect(
            refusal.description
                == "The signed_transaction inside was made for com.example.app, but the "
                + "statement around it was not.")
        // Adding the app to Deed would not help.
        #expect(refusal.cure == .none)
        var transaction = Payload.transaction
        transaction["environment"] = "Production"
        #expect(
            refused(.notification(transaction: transaction.signed()))?.description
                == "The signed_transaction inside is from production, but the statement "
                + "around it is not."
        )
    }

    @Test("Renewal info that lacks members is still called so")
    func mutilatedRenewal() {
        var renewal = Payload.renewal
        for name in ["autoRenewStatus", "autoRenewProductId"] { renewal[name] = nil }
        let text = renewal.signed()
        #expect(EvidenceKind.detect(Array(text.utf8)) == .renewalInfo)
        #expect(
            refused(.notification(transaction: text))
                == .inside(
                    .signedTransaction,
                    .wrongKind(expected: .signedTransaction, found: .renewalInfo)))
        // As renewal info, the same text is merely unreadable, and Deed accepts the notification.
        #expect(refused(.notification(renewal: text)) == nil)
        var transaction = Payload.transaction
        transaction["transactionId"] = nil
        #expect(EvidenceKind.detect(Array(transaction.signed().utf8)) == .signedTransaction)
    }

    @Test("A statement of another environment inside is refused")
    func foreignEnvironment() {
        for (kind, payload) in [
            (EvidenceKind.signedTransaction, Payload.transaction), (.renewalInfo, .renewal),
        ] {
            var payload = payload
            payload["environment"] = "Production"
            let text = payload.signed()
            let notification =
                kind == .renewalInfo
                ? Payload.notification(renewal: text) : .notification(transaction: text)
            #expect(refused(notification) == .inside(kind, .foreignEnvironment(.production)))
        }
    }

    @Test("A forged statement inside a genuine notification is refused")
    func forgedInside() {
        let text = Payload.transaction.signed()
        #expect(
            refused(.notification(transaction: String(text.dropLast(4)) + "AAAA"))
                == .inside(.signedTransaction, .signatureInvalid))
        #expect(
            refused(.notification(transaction: Payload.renewal.signed()))
                == .inside(
                    .signedTransaction,
                    .wrongKind(expected: .signedTransaction, found: .renewalInfo)))
        #expect(
            refused(
                .notification(
                    transaction: Payload.transaction.signed(by: MintedChain(.transactions)))
            ) == .inside(.signedTransaction, .chain(.untrustedRoot)))
    }

    @Test("A notification for another app, Apple id or environment is refused")
    func foreignNotification() {
        let bare = Payload.notification(transaction: nil, renewal: nil)
        var data = Payload(bare["data"]?.object?.members.map { ($0.name, $0.value) } ?? [])
        func refused(_ name: String, _ value: JSON) -> EvidenceRefusal? {
            var changed = data
            changed[name] = value
            var payload = bare
            payload["data"] = changed.json
            return self.refused(payload)
        }
        #expect(refused("bundleId", "com.other") == .foreignBundleID("com.other"))
        #expect(refused("appAppleId", 7) == .foreignAppID)
        #expect(refused("environment", "Moon") == .unknownEnvironment("Moon"))
        data["appAppleId"] = nil
        #expect(refused("environment", "Sandbox") == nil)
    }

    @Test("A notification without id or type is refused")
    func missing() {
        for name in ["notificationUUID", "notificationType"] {
            var payload = Payload.notification()
            payload[name] = nil
            #expect(refused(payload) == .invalidMember(name))
        }
    }

    @Test("A notification under expired certificates is refused")
    func expired() {
        var payload = Payload.notification(transaction: nil, renewal: nil)
        payload["signedDate"] = .integer(
            CertificatePlan.leaf.notAfter.advanced(byMilliseconds: 1000).milliseconds)
        #expect(refused(payload) == .chain(.expired))
    }
}
