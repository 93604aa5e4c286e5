import Core
import Crypto
import Histories
import Minting
import Testing

@testable import Evidence

@Suite("App receipts")
struct ReceiptTests {
    func verify(
        _ plan: ReceiptPlan, by verifier: Verifier = .trusting, on terms: Terms = .usual
    ) throws -> StoreStatement<Verified> {
        try verifier.verify(plan.bytes, as: .appReceipt, on: terms)
    }

    func expectedFact() throws -> TransactionFact {
        var fact = TransactionFact(
            store: .apple, environment: .sandbox, app: .example,
            transaction: try TransactionID("1000000000000002"),
            original: try TransactionID("1000000000000001"),
            product: try ProductID("com.example.pro.month"),
            purchased: try #require(instant("2023-05-01T09:59:59Z")),
            signedAt: Payload.signedAt, rank: .offlineReceipt)
        fact.kind = .autoRenewable
        fact.originallyPurchased = instant("2023-04-01T09:59:59Z")
        fact.expires = instant("2023-06-01T09:59:59Z")
        fact.lineItem = "1000000000077"
        return fact
    }

    @Test(
        "DER and BER, SHA-1 and SHA-256, with and without signed attributes, say the same",
        arguments: [ReceiptPlan.Form.der, .ber], [MintedDigest.sha1, .sha256])
    func forms(_ form: ReceiptPlan.Form, _ digest: MintedDigest) throws {
        var plan = ReceiptPlan()
        plan.form = form
        plan.digest = digest
        plan.digestName = digest == .sha1 ? ASN1.sha1 : ASN1.sha256
        for signature in [ASN1.rsa, digest == .sha1 ? ASN1.rsaSHA1 : ASN1.rsaSHA256] {
            plan.signatureName = signature
            for hasSignedAttributes in [false, true] {
                plan.hasSignedAttributes = hasSignedAttributes
                let statement = try verify(plan)
                #expect(statement.facts.transactions == [try expectedFact()])
                #expect(statement.signedAt == Payload.signedAt)
                #expect(statement.appVersion == "42")
            }
        }
    }

    @Test("Base64 and binary are the same receipt")
    func base64() throws {
        let plan = ReceiptPlan()
        let text = Array(plan.bytes.base64.utf8)
        let statement = try Verifier.trusting.verify(text, as: .appReceipt, on: .usual)
        #expect(statement.facts.transactions == [try expectedFact()])
    }

    @Test("Attributes count in any order, and so do certificates")
    func order() throws {
        var plan = ReceiptPlan()
        var random = SeededGenerator(seed: printedSeed(of: "orders of attributes"))
        for _ in 0..<8 {
            plan.attributes.shuffle(using: &random)
            plan.certificates.shuffle(using: &random)
            #expect(try verify(plan).facts.transactions == [try expectedFact()])
        }
    }

    @Test("The app's first install comes from the receipt too")
    func app() throws {
        let fact = AppFact(
            store: .apple, environment: .sandbox, app: .example, originalVersion: "1.0",
            originallyPurchased: instant("2013-08-01T07:00:00Z"), signedAt: Payload.signedAt,
            rank: .offlineReceipt)
        #expect(try verify(ReceiptPlan()).facts.apps == [fact])
    }

    @Test("All of many purchases are read, and none if there are none")
    func counts() throws {
        var plan = ReceiptPlan()
        plan.attributes = .receipt(purchases: [])
        #expect(try verify(plan).facts.transactions.isEmpty)
        plan.attributes = .receipt(
            purchases: (0..<187).map { .purchase(transaction: "\($0)") })
        let transactions = try verify(plan).facts.transactions
        #expect(transactions.map(\.transaction.text) == (0..<187).map { "\($0)" })
    }

    @Test(
        "Dates may have fractions and offsets",
        arguments: [
            ("2023-05-01T09:59:59Z", "2023-05-01T09:59:59.000Z"),
            ("2023-05-01T09:59:59.123Z", "2023-05-01T09:59:59.123Z"),
            ("2023-05-01T12:59:59+0300", "2023-05-01T09:59:59.000Z"),
            ("2023-05-01T12:59:59+03:00", "2023-05-01T09:59:59.000Z"),
            ("4001-01-01T00:00:00+0000", "4001-01-01T00:00:00.000Z"),
        ])
    func dates(_ written: String, _ meant: String) throws {
        let transaction = try purchase { $0[attribute: 1704] = ASN1.ia5(written) }
        #expect(transaction.purchased.text == meant)
    }

    /// Returns the fact about one purchase after a change to its attributes.
    func purchase(_ change: (inout [ReceiptAttribute]) -> Void) throws -> TransactionFact {
        var attributes: [ReceiptAttribute] = .purchase()
        change(&attributes)
        var plan = ReceiptPlan()
        plan.attributes = .receipt(purchases: [attributes])
        return try #require(try verify(plan).facts.transactions.first)
    }

    @Test("Empty dates and texts are absent")
    func empty() throws {
        let fact = try purchase {
            $0[attribute: 1708] = ASN1.ia5("")
            $0[attribute: 1706] = ASN1.ia5("")
            $0[attribute: 1705] = ASN1.utf8("")
            $0[attribute: 1707] = ASN1.integer(0)
            $0[attribute: 1711] = ASN1.integer(0)
        }
        #expect(fact.expires == nil && fact.originallyPurchased == nil)
        #expect(fact.kind == nil && fact.lineItem == nil && fact.revocation == nil)
        #expect(fact.original == fact.transaction)
    }

    @Test("A purchase with the fewest attributes is read")
    func fewest() throws {
        let needed: Set<Int64> = [1702, 1703, 1704]
        let fact = try purchase { $0.removeAll { !needed.contains($0.number) } }
        #expect(fact.quantity == 1 && fact.expires == nil && fact.offer == nil)
    }

    @Test("Cancellation, quantity, trial, introductory price and promotion are read")
    func details() throws {
        let cancelled = try purchase { $0[attribute: 1712] = ASN1.ia5("2023-05-02T00:00:00Z") }
        #expect(cancelled.revocation?.at == instant("2023-05-02T00:00:00Z"))
        #expect(try purchase { $0[attribute: 1701] = ASN1.integer(300) }.quantity == 300)
        let trial = try purchase { $0[attribute: 1713] = ASN1.integer(1) }
        #expect(trial.offer == Offer(kind: .introductory, discount: .freeTrial))
        let introductory = try purchase { $0[attribute: 1719] = ASN1.integer(1) }
        #expect(introductory.offer == Offer(kind: .introductory))
        let promotion = try purchase { $0[attribute: 1721] = ASN1.utf8("spring") }
        #expect(promotion.offer?.kind == .promotional && promotion.offer?.identifier == "spring")
    }

    @Test("Dates that contradict each other prove nothing and are kept as they are")
    func contradiction() throws {
        let fact = try purchase {
            $0[attribute: 1704] = ASN1.ia5("2024-01-01T00:00:00Z")
            $0[attribute: 1706] = ASN1.ia5("2025-01-01T00:00:00Z")
        }
        #expect(fact.purchased > (fact.expires ?? .distantFuture))
    }

    @Test("Unknown attributes are skipped, on both levels")
    func unknown() throws {
        var plan = ReceiptPlan()
        var purchase: [ReceiptAttribute] = .purchase()
        purchase.append(ReceiptAttribute(1799, [0xFF]))
        plan.attributes = .receipt(purchases: [purchase])
        plan.attributes.append(ReceiptAttribute(4242, []))
        #expect(try verify(plan).facts.transactions == [try expectedFact()])
    }

    @Test(
        "The environment comes from the receipt",
        arguments: [
            ("Production", Environment.production), ("ProductionVPP", .production),
            ("ProductionSandbox", .sandbox), ("ProductionVPPSandbox", .sandbox),
        ])
    func environment(_ name: String, _ environment: Environment) throws {
        var plan = ReceiptPlan()
        plan.attributes[attribute: 0] = ASN1.utf8(name)
        let statement = try verify(plan)
        #expect(statement.environment == environment)
        #expect(statement.facts.transactions.first?.environment == environment)
    }

    @Test("A self-signed certificate is believed if it is itself an extra root")
    func xcode() throws {
        var root = CertificatePlan.root
        root.name = "StoreKit"
        let signer = MintedCertificate(root, key: MintedKey(.rsa2048))
        var plan = ReceiptPlan()
        plan.form = .ber
        plan.signer = signer
        plan.certificates = [signer.der]
        plan.signatureName = ASN1.rsaSHA256
        plan.attributes[attribute: 0] = ASN1.utf8("Xcode")
        let certificate = try Certificate(der: signer.der)
        func verifier(_ origin: TrustAnchor.Origin) -> Verifier {
            Verifier(anchors: [TrustAnchor(certificate, origin)])
        }
        #expect(try verify(plan, by: verifier(.extra)).environment == .sandbox)
        #expect(refusal(of: plan.bytes, as: .appReceipt) == .chain(.untrustedRoot))
        #expect(
            refusal(of: plan.bytes, as: .appReceipt, by: verifier(.pinned))
                == .chain(.untrustedRoot))
        plan.attributes[attribute: 0] = ASN1.utf8("Production")
        #expect(
            refusal(of: plan.bytes, as: .appReceipt, by: verifier(.extra))
                == .extraRootForProduction)
    }

    @Test("The device hash is compared if the caller names the device")
    func device() {
        var terms = Terms.usual
        terms.device = DeviceID("00010203-0405-0607-0809-0A0B0C0D0E0F")
        let bytes = ReceiptPlan().bytes
        #expect(refusal(of: bytes, as: .appReceipt, on: terms) == nil)
        terms.device = DeviceID("00:01:02:03:04:05")
        #expect(refusal(of: bytes, as: .appReceipt, on: terms) == .deviceMismatch)
    }

    @Test("The version is compared if the caller asks")
    func version() {
        var terms = Terms.usual
        terms.appVersion = "42"
        let bytes = ReceiptPlan().bytes
        #expect(refusal(of: bytes, as: .appReceipt, on: terms) == nil)
        terms.appVersion = "43"
        #expect(refusal(of: bytes, as: .appReceipt, on: terms) == .versionMismatch)
    }

    @Test("An expired volume licence is refused, and a current one is believed")
    func licence() {
        var plan = ReceiptPlan()
        plan.attributes[attribute: 21] = ASN1.ia5("4001-01-01T00:00:00Z")
        #expect(refusal(of: plan.bytes, as: .appReceipt) == nil)
        plan.attributes[attribute: 21] = ASN1.ia5("2024-01-01T00:00:00Z")
        #expect(refusal(of: plan.bytes, as: .appReceipt) == .receiptExpired)
    }

    @Test("SHA-1 is believed in receipts up to its end, in signature and chain, and not after")
    func sha1() {
        var leaf = CertificatePlan.leaf
        leaf.notAfter = CertificatePlan.intermediate.notAfter
        func refused(_ date: String, digest: MintedDigest, chain: MintedDigest) -> EvidenceRefusal?
        {
            leaf.digest = chain
            let chain = MintedChain.receipts.with(leaf: leaf)
            var plan = ReceiptPlan(chain: chain)
            plan.digest = digest
            plan.digestName = digest == .sha1 ? ASN1.sha1 : ASN1.sha256
            plan.attributes[attribute: 12] = ASN1.ia5(date)
            return refusal(of: plan.bytes, as: .appReceipt)
        }
        let last = "2025-01-24T23:59:59Z"
        let first = "2025-01-25T00:00:00Z"
        #expect(refused(last, digest: .sha1, chain: .sha1) == nil)
        #expect(refused(first, digest: .sha1, chain: .sha256) == .weakDigest)
        #expect(refused(first, digest: .sha256, chain: .sha1) == .weakDigest)
        #expect(refused(first, digest: .sha256, chain: .sha256) == nil)
    }
}
