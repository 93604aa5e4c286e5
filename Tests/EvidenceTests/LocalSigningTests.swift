import Core
import Crypto
import JSON
import Minting
import Testing

@testable import Evidence

/// Tests statements that Xcode signs on a developer's machine with a self-signed certificate.
@Suite("What Xcode signs locally")
struct LocalSigningTests {
    private static let signer = makeSigner(.p256)

    private static func makeSigner(_ family: MintedKey.Family) -> MintedCertificate {
        var plan = CertificatePlan(
            name: "StoreKit Testing in Xcode", lifetime: "2023-01-01T00:00:00Z",
            "2024-01-01T00:00:00Z", constraints: "critical,CA:TRUE,pathlen:0", usage: .signing,
            markers: [])
        plan.digest = .sha256
        return MintedCertificate(plan, key: MintedKey(family))
    }

    private func plan(
        _ payload: Payload, by signer: MintedCertificate = signer
    ) -> SignedJSONPlan {
        var plan = SignedJSONPlan(payload.json)
        plan.certificates = [signer.der]
        plan.key = signer.key
        plan.extraHeader = [("kid", "Apple_Xcode_Key"), ("typ", "JWT")]
        return plan
    }

    private func local(_ payload: Payload, _ member: String = "environment") -> Payload {
        var payload = payload
        payload[member] = "Xcode"
        return payload
    }

    private func verifier(
        _ origin: TrustAnchor.Origin = .extra, _ signer: MintedCertificate = signer
    ) throws -> Verifier {
        Verifier(anchors: [TrustAnchor(try Certificate(der: signer.der), origin)])
    }

    private func refused(
        _ plan: SignedJSONPlan, _ kind: EvidenceKind = .signedTransaction, by verifier: Verifier
    ) -> EvidenceRefusal? {
        refusal(of: plan.bytes, as: kind, by: verifier)
    }

    @Test("It is believed as sandbox if its certificate is an extra root")
    func believed() throws {
        let verifier = try verifier()
        let kinds: [(EvidenceKind, Payload)] = [
            (.signedTransaction, local(.transaction)), (.renewalInfo, local(.renewal)),
            (.appTransaction, local(.appTransaction, "receiptType")),
        ]
        for (kind, payload) in kinds {
            let statement = try verifier.verify(plan(payload).bytes, as: kind, on: .usual)
            #expect(statement.environment == .sandbox, "\(kind)")
            #expect(statement.environmentName == "Xcode", "\(kind)")
            #expect(statement.signedBy == ["StoreKit Testing in Xcode"])
        }
    }

    @Test("Without that root, or with another of the same name, it is refused")
    func untrusted() throws {
        let good = plan(local(.transaction))
        #expect(refused(good, by: .trusting) == .chain(.untrustedRoot))
        #expect(refused(good, by: try verifier(.pinned)) == .chain(.untrustedRoot))
        let other = LocalSigningTests.makeSigner(.p256)
        #expect(refused(good, by: try verifier(.extra, other)) == .chain(.untrustedRoot))
    }

    @Test("It never vouches for production")
    func production() throws {
        var payload = Payload.transaction
        payload["environment"] = "Production"
        #expect(refused(plan(payload), by: try verifier()) == .extraRootForProduction)
    }

    private func named(
        _ payload: Payload, by signer: MintedCertificate = signer
    ) throws -> TransactionFact {
        let statement = try verifier(.extra, signer).verify(
            plan(local(payload), by: signer).bytes, as: .signedTransaction, on: .usual)
        return try #require(statement.facts.transactions.first)
    }

    @Test("Two developers' machines, and two runs on one, never give the same names")
    func names() throws {
        var payload = Payload.transaction
        payload["transactionId"] = "1"
        payload["originalTransactionId"] = "1"
        payload["purchaseDate"] = 1_682_935_199_500
        payload["originalPurchaseDate"] = 1_682_935_199_500
        let first = try named(payload)
        #expect(first.transaction.text.hasSuffix("-1682935199-1"))
        #expect(first.transaction == first.original)
        #expect(first.transaction.isOfXcode)
        #expect(first.transaction.onDevice == "1")
        #expect(try named(payload) == first)
        let other = try named(payload, by: LocalSigningTests.makeSigner(.p256))
        #expect(other.transaction != first.transaction && other.original != first.original)
        payload["purchaseDate"] = 1_682_935_260_000
        // A renewal belongs to the same purchase. A transaction after a reset belongs to a new one.
        payload["transactionId"] = "2"
        #expect(try named(payload).original == first.original)
        payload["originalPurchaseDate"] = 1_682_935_260_000
        payload["transactionId"] = "1"
        #expect(try named(payload).original != first.original)
        #expect(try named(payload).transaction != first.transaction)
    }

    private func account(
        _ payload: Payload, by signer: MintedCertificate = signer
    ) throws -> AppFact {
        let statement = try verifier(.extra, signer).verify(
            plan(local(payload, "receiptType"), by: signer).bytes, as: .appTransaction, on: .usual)
        return try #require(statement.facts.apps.first)
    }

    @Test(
        "The account that Xcode calls 0 differs on each machine, and is one for all of a machine's"
    )
    func accounts() throws {
        var installation = Payload.appTransaction
        installation["appTransactionId"] = "0"
        let id = try #require(try account(installation).appTransaction)
        #expect(id.text.hasPrefix("xcode-") && id.text.hasSuffix("-0") && id.text.count == 16)
        let other = try account(installation, by: LocalSigningTests.makeSigner(.p256))
        #expect(other.appTransaction != id)
        var transaction = Payload.transaction
        transaction["appTransactionId"] = "0"
        #expect(try named(transaction).appTransaction == id)
        transaction["purchaseDate"] = 1_682_935_260_000
        #expect(try named(transaction).appTransaction == id)
        transaction["appTransactionId"] = .string(String(repeating: "0", count: 256))
        #expect(
            refused(plan(local(transaction)), by: try verifier())
                == .invalidMember("appTransactionId"))
        // If the store itself signed a statement, its names stay unchanged.
        let genuine = try Verifier.trusting.verify(
            Array(installation.signed().utf8), as: .appTransaction, on: .usual)
        #expect(genuine.facts.apps.first?.appTransaction?.text == "0")
    }

    @Test("Xcode writes the distant past for a missing date, and nothing is stated")
    func noDate() throws {
        var payload = Payload.appTransaction
        payload["originalPurchaseDate"] = -62_135_769_600_000
        #expect(try account(payload).originallyPurchased == nil)
        let genuine = Array(payload.signed().utf8)
        #expect(
            refusal(of: genuine, as: .appTransaction, by: .trustingExtra)
                == .instantOutOfRange("originalPurchaseDate"))
    }

    @Test(
        "A date outside the years 1970 to 9999 is refused from Xcode, too",
        arguments: [-1, 253_402_300_800_000, .min, .max] as [Int64])
    func dates(_ value: Int64) throws {
        let probes: [(EvidenceKind, Payload, [String])] = [
            (
                .signedTransaction, local(.transaction),
                ["purchaseDate", "originalPurchaseDate", "expiresDate", "revocationDate"]
            ),
            (
                .renewalInfo, local(.renewal),
                ["gracePeriodExpiresDate", "renewalDate", "recentSubscriptionStartDate"]
            ),
            (
                .appTransaction, local(.appTransaction, "receiptType"),
                ["originalPurchaseDate", "receiptCreationDate"]
            ),
        ]
        var terms = Terms.usual
        terms.companion = .example
        for (kind, payload, members) in probes {
            for member in members {
                for written in [JSON.integer(value), .decimal("\(value).5")] {
                    var payload = payload
                    payload[member] = written
                    let found = refusal(
                        of: plan(payload).bytes, as: kind, by: try verifier(), on: terms)
                    #expect(found == .instantOutOfRange(member), "\(kind) \(member) \(written)")
                }
            }
        }
    }

    @Test("Renewal info goes with its purchase, if that was never interrupted")
    func renewals() throws {
        var transaction = Payload.transaction
        transaction["originalPurchaseDate"] = 1_682_935_199_500
        let original = try named(transaction).original
        var terms = Terms.usual
        terms.companion = terms.apps.first?.id
        var payload = local(.renewal)
        payload["originalTransactionId"] = transaction["originalTransactionId"]
        payload["recentSubscriptionStartDate"] = 1_682_935_199_500
        func renewals() throws -> [RenewalFact] {
            try verifier().verify(plan(payload).bytes, as: .renewalInfo, on: terms).facts.renewals
        }
        #expect(try renewals().map(\.original) == [original])
        payload["recentSubscriptionStartDate"] = nil
        #expect(try renewals() == [])
    }

    @Test("A signature by another key is refused, and so is a key of another kind")
    func keys() throws {
        var forged = plan(local(.transaction))
        forged.key = MintedKey(.p256)
        #expect(refused(forged, by: try verifier()) == .signatureInvalid)
        let wide = LocalSigningTests.makeSigner(.p384)
        let signed = plan(local(.transaction), by: wide)
        #expect(refused(signed, by: try verifier(.extra, wide)) == .chain(.unsupportedKey(.leaf)))
    }

    @Test("Evidence signed outside the certificate's year is refused")
    func validity() throws {
        var payload = local(.transaction)
        payload["signedDate"] = .integer(1_735_689_600_000)
        #expect(refused(plan(payload), by: try verifier()) == .chain(.expired))
    }

    @Test("A fraction of a millisecond is cut off, only in what Xcode signs")
    func fractions() throws {
        var payload = local(.transaction)
        payload["purchaseDate"] = .decimal("1682935199000.7297")
        let statement = try verifier().verify(
            plan(payload).bytes, as: .signedTransaction, on: .usual)
        let purchased = statement.facts.transactions.first?.purchased
        #expect(purchased == Instant(milliseconds: 1_682_935_199_000))
        payload["purchaseDate"] = .decimal("1.6e12")
        #expect(refused(plan(payload), by: try verifier()) == .invalidMember("purchaseDate"))
        var genuine = Payload.transaction
        genuine["purchaseDate"] = .decimal("1682935199000.7297")
        #expect(
            refusal(of: Array(genuine.signed().utf8), as: .signedTransaction)
                == .invalidMember("purchaseDate"))
    }
}
