import Core
import JSON
import Minting
import Testing

@testable import Evidence

/// Puts U+0000 into each text that Deed reads, because PostgreSQL cannot store it.
@Suite("Texts that evidence may state")
struct StatedTextTests {
    private static let bad = "a\u{0}"

    private struct Probe {
        let kind: EvidenceKind
        let payload: Payload
        /// The names of the objects around the members.
        var place: [String] = []
        let members: [String]
    }

    /// A refunded transaction with every member that Deed reads.
    private static var refunded: Payload {
        var payload = Payload.transaction
        payload["revocationDate"] = 1_682_935_199_000
        payload["advancedCommerceInfo"] = ["items": [["SKU": "a"]]]
        return payload
    }

    private static var probes: [Probe] {
        let inside = Payload.notification(transaction: nil, renewal: nil)
        return [
            Probe(
                kind: .signedTransaction, payload: refunded,
                members: [
                    "transactionId", "originalTransactionId", "bundleId", "productId",
                    "environment",
                    "type", "inAppOwnershipType", "appAccountToken", "appTransactionId", "currency",
                    "subscriptionGroupIdentifier", "webOrderLineItemId",
                    "previousOriginalTransactionId", "revocationReason", "revocationType",
                    "offerType", "offerDiscountType", "offerIdentifier", "offerPeriod",
                ]),
            Probe(
                kind: .signedTransaction, payload: refunded,
                place: ["advancedCommerceInfo", "items"], members: ["SKU"]),
            Probe(
                kind: .renewalInfo, payload: .renewal,
                members: [
                    "originalTransactionId", "productId", "autoRenewProductId", "environment",
                    "expirationIntent", "priceIncreaseStatus", "offerType", "offerDiscountType",
                    "offerIdentifier", "offerPeriod", "appAccountToken",
                ]),
            Probe(
                kind: .appTransaction, payload: .appTransaction,
                members: [
                    "receiptType", "bundleId", "applicationVersion", "originalApplicationVersion",
                    "appTransactionId",
                ]),
            Probe(
                kind: .notification, payload: inside,
                members: ["notificationUUID", "notificationType", "subtype", "version"]),
            Probe(
                kind: .notification, payload: inside, place: ["data"],
                members: ["bundleId", "environment", "consumptionRequestReason"]),
        ]
    }

    private func refusalOnReading(_ bytes: [UInt8], _ kind: EvidenceKind) -> EvidenceRefusal? {
        do throws(EvidenceRefusal) {
            _ = try Verifier.read(bytes, as: kind, companion: .example)
            return nil
        } catch {
            return error
        }
    }

    @Test("Each text of a signed statement is refused by its member when it has U+0000")
    func signed() {
        var terms = Terms.usual
        terms.companion = .example
        for probe in Self.probes {
            let whole = SignedJSONPlan(probe.payload.json).bytes
            #expect(refusalOnReading(whole, probe.kind) == nil, "\(probe.kind)")
            for member in probe.members {
                let json = probe.payload.json.setting(probe.place, member, .string(Self.bad))
                let bytes = SignedJSONPlan(json).bytes
                for verifier in [Verifier.trusting, .trustingExtra] {
                    #expect(
                        refusal(of: bytes, as: probe.kind, by: verifier, on: terms)
                            == .invalidMember(member), "\(probe.kind) \(member)")
                }
            }
        }
    }

    @Test("No text of a transaction, a renewal or an app reaches a fact with U+0000")
    func unread() throws {
        for (kind, payload) in [
            (EvidenceKind.signedTransaction, Self.refunded), (.renewalInfo, .renewal),
            (.appTransaction, .appTransaction),
        ] {
            // Members that Deed does not read may contain U+0000.
            for name in payload.members.map(\.name) + ["newMember"] {
                var changed = payload
                changed[name] = .string(Self.bad)
                let bytes = Array(changed.signed().utf8)
                guard let statement = try? Verifier.read(bytes, as: kind, companion: .example)
                else { continue }
                // Swift prints U+0000 as `\0`.
                #expect(!"\(statement.contents.facts)".contains(#"\0"#), "\(kind) \(name)")
            }
        }
    }

    @Test("Each text of a receipt is refused by its attribute when it has U+0000")
    func receipt() {
        let numbers: [Int64] = [0, 2, 3, 12, 18, 19, 21, 1702, 1703, 1704, 1705, 1708, 1721]
        for number in numbers {
            for value in [ASN1.utf8(Self.bad), ASN1.ia5(Self.bad)] {
                var purchase = [ReceiptAttribute].purchase()
                var plan = ReceiptPlan()
                if number > 1700 { purchase[attribute: number] = value }
                plan.attributes = .receipt(purchases: [purchase])
                if number < 1700 { plan.attributes[attribute: number] = value }
                #expect(
                    refusal(of: plan.bytes, as: .appReceipt, by: .trustingExtra)
                        == .invalidMember("attribute \(number)"), "\(number)")
            }
        }
    }

    @Test("Each text of a reply is refused by its member when it has U+0000")
    func reply() {
        let members: [([String], [String])] = [
            ([], ["environment"]),
            (
                ["receipt"],
                [
                    "receipt_type", "adam_id", "bundle_id", "application_version",
                    "original_application_version",
                ]
            ),
            (
                ["latest_receipt_info"],
                [
                    "transaction_id", "original_transaction_id", "product_id", "quantity",
                    "cancellation_reason", "in_app_ownership_type", "app_account_token",
                    "subscription_group_identifier", "web_order_line_item_id", "is_upgraded",
                ]
            ),
            (
                ["pending_renewal_info"],
                [
                    "original_transaction_id", "product_id", "auto_renew_product_id",
                    "expiration_intent", "price_consent_status", "auto_renew_status",
                ]
            ),
        ]
        for (place, names) in members {
            for name in names {
                let reply = ReplyTests.good.json.setting(place, name, .string(Self.bad))
                #expect(
                    refusalOnReading(reply.bytes, .verifyReceiptReply) == .invalidMember(name),
                    "\(place) \(name)")
            }
        }
        for name in ["promotional_offer_id", "offer_code_ref_name"] {
            let reply = ReplyTests.good.json
                .setting(["latest_receipt_info"], "is_trial_period", "false")
                .setting(["latest_receipt_info"], name, .string(Self.bad))
            #expect(
                refusalOnReading(reply.bytes, .verifyReceiptReply) == .invalidMember(name),
                "\(name)")
        }
    }

    @Test(
        "A notification about a transaction with such a text is stored; the text counts nowhere")
    func notification() throws {
        var transaction = Payload.transaction
        transaction["currency"] = .string(Self.bad)
        let payload = Payload.notification(transaction: transaction.signed(), renewal: nil)
        let statement = try Verifier.trusting.verify(
            Array(payload.signed().utf8), as: .notification, on: .usual)
        #expect(statement.unread == [.signedTransaction] && statement.facts == Facts())
    }
}
