import Core
import JSON
import Minting
import Testing

@testable import Evidence

/// Tests that evidence may only state dates from 1970 to 9999.
@Suite("Dates that evidence may state")
struct StatedInstantTests {
    /// The first and the last instant that evidence may state. Below are the nearest instants that it may not.
    private static let taken: [Int64] = [0, 253_402_300_799_999]
    private static let refused: [Int64] = [
        -1, 253_402_300_800_000, .min, .max, -62_135_769_600_000,
    ]

    private struct Probe {
        let kind: EvidenceKind
        let member: String
        let payload: (JSON) -> Payload
    }

    private static func probe(
        _ kind: EvidenceKind, _ member: String, of payload: Payload
    ) -> Probe {
        Probe(kind: kind, member: member) { value in
            var payload = payload
            payload[member] = value
            return payload
        }
    }

    private static var probes: [Probe] {
        let transaction = [
            "purchaseDate", "originalPurchaseDate", "expiresDate", "revocationDate", "signedDate",
        ].map { probe(.signedTransaction, $0, of: .transaction) }
        let renewal = ["gracePeriodExpiresDate", "renewalDate", "signedDate"]
            .map { probe(.renewalInfo, $0, of: .renewal) }
        let app = ["receiptCreationDate", "originalPurchaseDate"]
            .map { probe(.appTransaction, $0, of: .appTransaction) }
        var undated = Payload.appTransaction
        undated["receiptCreationDate"] = nil
        let empty = Payload.notification(transaction: nil, renewal: nil)
        return transaction + renewal + app + inner
            + [
                probe(.appTransaction, "signedDate", of: undated),
                probe(.notification, "signedDate", of: empty),
            ]
    }

    /// The dates in a transaction.
    private static var inner: [Probe] {
        func probe(_ member: String, _ wrap: @escaping (JSON) -> (String, JSON)) -> Probe {
            Probe(kind: .signedTransaction, member: member) { value in
                var payload = Payload.transaction
                let (name, object) = wrap(value)
                payload[name] = object
                return payload
            }
        }
        return [
            probe("commitmentExpiresDate") {
                (
                    "commitmentInfo",
                    [
                        "billingPeriodNumber": 1, "totalBillingPeriods": 12,
                        "commitmentExpiresDate": $0,
                    ]
                )
            },
            probe("revocationDate") {
                ("advancedCommerceInfo", ["items": [["SKU": "a", "revocationDate": $0]]])
            },
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

    @Test("Each date of a signed statement is refused by its member beyond either end")
    func signed() {
        for probe in Self.probes {
            let name = "\(probe.kind) \(probe.member)"
            for value in Self.taken {
                let bytes = Array(probe.payload(.integer(value)).signed().utf8)
                #expect(refusalOnReading(bytes, probe.kind) == nil, "\(name) \(value)")
            }
            for value in Self.refused {
                let bytes = Array(probe.payload(.integer(value)).signed().utf8)
                var terms = Terms.usual
                terms.companion = .example
                for verifier in [Verifier.trusting, .trustingExtra] {
                    #expect(
                        refusal(of: bytes, as: probe.kind, by: verifier, on: terms)
                            == .instantOutOfRange(probe.member), "\(name) \(value)")
                }
            }
        }
    }

    @Test("Each date of a receipt is refused by its attribute beyond either end")
    func receipt() {
        let taken = ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1970-01-01T01:00:00+0100"]
        let refused = [
            "1969-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z",
            "1970-01-01T00:59:59+0100",
        ]
        for number: Int64 in [12, 18, 21, 1704, 1706, 1708, 1712] {
            func plan(_ text: String) -> ReceiptPlan {
                var purchase = [ReceiptAttribute].purchase()
                var plan = ReceiptPlan()
                if number > 1700 { purchase[attribute: number] = ASN1.ia5(text) }
                plan.attributes = .receipt(purchases: [purchase])
                if number < 1700 { plan.attributes[attribute: number] = ASN1.ia5(text) }
                return plan
            }
            for text in taken {
                #expect(refusalOnReading(plan(text).bytes, .appReceipt) == nil, "\(number) \(text)")
            }
            for text in refused {
                #expect(
                    refusal(of: plan(text).bytes, as: .appReceipt, by: .trustingExtra)
                        == .instantOutOfRange("attribute \(number)"), "\(number) \(text)")
            }
        }
    }

    @Test("Each date of a reply is refused by its member beyond either end, as number and text")
    func reply() throws {
        func refusal(_ place: [String], _ member: String, _ value: String) -> EvidenceRefusal? {
            let reply = ReplyTests.good.json.setting(place, member, .string(value))
            return refusalOnReading(reply.bytes, .verifyReceiptReply)
        }
        let members: [([String], [String])] = [
            (["receipt"], ["request_date", "original_purchase_date", "expiration_date"]),
            (
                ["latest_receipt_info"],
                ["purchase_date", "original_purchase_date", "expires_date", "cancellation_date"]
            ),
            (["pending_renewal_info"], ["grace_period_expires_date"]),
        ]
        for (place, names) in members {
            for name in names {
                for value in Self.taken {
                    #expect(refusal(place, name + "_ms", "\(value)") == nil, "\(name) \(value)")
                }
                for value in Self.refused {
                    #expect(
                        refusal(place, name + "_ms", "\(value)")
                            == .instantOutOfRange(name + "_ms"), "\(name) \(value)")
                }
            }
        }
        let name = "expiration_date"
        #expect(refusal(["receipt"], name, "9999-12-31 23:59:59 Etc/GMT") == nil)
        for text in ["1969-12-31 23:59:59 Etc/GMT", "-1", "253402300800000"] {
            #expect(refusal(["receipt"], name, text) == .instantOutOfRange(name), "\(text)")
        }
    }

    @Test(
        "A notification about a transaction with such a date is stored; the date counts nowhere")
    func notification() throws {
        var transaction = Payload.transaction
        transaction["expiresDate"] = .integer(Int64.max)
        let payload = Payload.notification(transaction: transaction.signed(), renewal: nil)
        let statement = try Verifier.trusting.verify(
            Array(payload.signed().utf8), as: .notification, on: .usual)
        #expect(statement.unread == [.signedTransaction] && statement.facts == Facts())
    }
}

extension JSON {
    /// Returns the value with one member set in the object at `place`. If there is a list, sets it
    /// in the list's first object.
    func setting(_ place: [String], _ name: String, _ value: JSON) -> JSON {
        var payload = Payload(object?.members.map { ($0.name, $0.value) } ?? [])
        guard let first = place.first else {
            payload[name] = value
            return payload.json
        }
        let (rest, inside) = (Array(place.dropFirst()), self[first] ?? .null)
        payload[first] =
            inside.array.map { list in
                .array(list.enumerated().map { $0 == 0 ? $1.setting(rest, name, value) : $1 })
            } ?? inside.setting(rest, name, value)
        return payload.json
    }
}
