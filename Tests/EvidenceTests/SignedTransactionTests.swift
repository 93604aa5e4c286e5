import Core
import Crypto
import JSON
import Minting
import Testing

@testable import Evidence

@Suite("Signed transactions")
struct SignedTransactionTests {
    func verify(
        _ payload: Payload, as kind: EvidenceKind = .signedTransaction, on terms: Terms = .usual
    ) throws -> StoreStatement<Verified> {
        try Verifier.trusting.verify(Array(payload.signed().utf8), as: kind, on: terms)
    }

    @Test("A transaction gives one fact with everything that it states")
    func transaction() throws {
        var payload = Payload.transaction
        payload["revocationDate"] = 1_683_000_000_000
        payload["revocationReason"] = 1
        payload["revocationType"] = "REFUND_PRORATED"
        payload["revocationPercentage"] = 50_000
        payload["isUpgraded"] = true
        payload["offerType"] = 2
        payload["offerDiscountType"] = "PAY_UP_FRONT"
        payload["offerIdentifier"] = "spring"
        payload["offerPeriod"] = "P1M"
        let statement = try verify(payload)
        var fact = TransactionFact(
            store: .apple, environment: .sandbox, app: .example,
            transaction: try TransactionID("2000000000000002"),
            original: try TransactionID("2000000000000001"),
            product: try ProductID("com.example.pro.month"),
            purchased: Instant(milliseconds: 1_682_935_199_000), signedAt: Payload.signedAt,
            rank: .clientTransaction)
        fact.kind = .autoRenewable
        fact.originallyPurchased = Instant(milliseconds: 1_680_343_199_000)
        fact.expires = Instant(milliseconds: 1_685_613_599_000)
        fact.accountToken = "7f3c2f0e-6a53-4a6c-9d0d-2f6e3f7f0b11"
        fact.appTransaction = try AppTransactionID("704000000000000001")
        fact.price = Price(milliunits: 4990, currency: "USD")
        fact.group = "20000001"
        fact.lineItem = "2000000000000077"
        fact.isUpgraded = true
        var revocation = Revocation(at: Instant(milliseconds: 1_683_000_000_000))
        revocation.reason = .issueWithApp
        revocation.extent = .prorated
        revocation.milliPercent = 50_000
        fact.revocation = revocation
        var offer = Offer(kind: .promotional, discount: .payUpFront)
        offer.identifier = "spring"
        offer.period = "P1M"
        fact.offer = offer
        #expect(statement.facts.transactions == [fact])
        #expect(statement.facts.renewals.isEmpty && statement.facts.apps.isEmpty)
        #expect(statement.signedBy.count == 3)
    }

    @Test("The rank depends on how the caller received the transaction")
    func rank() throws {
        var terms = Terms.usual
        terms.rank = .serverAPI
        let statement = try verify(.transaction, on: terms)
        #expect(statement.facts.transactions.first?.rank == .serverAPI)
    }

    @Test("An absent member stays absent")
    func absent() throws {
        var payload = Payload.transaction
        let optional = [
            "webOrderLineItemId", "subscriptionGroupIdentifier", "originalPurchaseDate",
            "expiresDate", "quantity", "type", "inAppOwnershipType", "appAccountToken", "price",
            "currency",
        ]
        for name in optional { payload[name] = nil }
        let fact = try #require(try verify(payload).facts.transactions.first)
        #expect(fact.kind == nil && fact.expires == nil && fact.originallyPurchased == nil)
        #expect(fact.revocation == nil && fact.offer == nil && fact.price == nil)
        #expect(fact.accountToken == nil && fact.group == nil && fact.lineItem == nil)
        #expect(fact.quantity == 1 && !fact.isUpgraded && fact.ownership == .purchased)
    }

    @Test("A member that is null is absent")
    func null() throws {
        var payload = Payload.transaction
        payload["expiresDate"] = nil as JSON?
        payload["expiresDate"] = JSON.null
        #expect(try verify(payload).facts.transactions.first?.expires == nil)
    }

    @Test("Unknown members and unknown words are kept as they came")
    func unknown() throws {
        var payload = Payload.transaction
        payload["type"] = "Lease"
        payload["inAppOwnershipType"] = "BORROWED"
        payload["offerType"] = 9
        payload["offerDiscountType"] = "BARTER"
        payload["revocationDate"] = 1_683_000_000_000
        payload["revocationReason"] = 7
        payload["revocationType"] = "HALF"
        payload["somethingNew"] = ["a": 1]
        let statement = try verify(payload)
        let fact = try #require(statement.facts.transactions.first)
        #expect(fact.kind == nil && fact.unknownKind == "Lease")
        #expect(fact.ownership == .unknown("BORROWED"))
        #expect(fact.offer == Offer(kind: .unknown(9), discount: .unknown("BARTER")))
        #expect(fact.revocation?.reason == .unknown(7))
        #expect(fact.revocation?.extent == .unknown("HALF"))
        #expect(statement.members?["somethingNew"] == ["a": 1])
        #expect(statement.members?["type"] == "Lease")
    }

    @Test("A word instead of a number, or the reverse, is kept as it came")
    func otherForm() throws {
        var payload = Payload.transaction
        payload["type"] = 5
        payload["inAppOwnershipType"] = 3
        payload["offerType"] = "SUITE"
        payload["revocationDate"] = 1_683_000_000_000
        payload["revocationReason"] = "UPGRADED_TO_BUNDLE"
        payload["revocationType"] = 4
        let fact = try #require(try verify(payload).facts.transactions.first)
        #expect(fact.kind == nil && fact.unknownKind == 5)
        #expect(fact.ownership == .unknown(3))
        #expect(fact.offer?.kind == .unknown("SUITE"))
        #expect(fact.revocation?.reason == .unknown("UPGRADED_TO_BUNDLE"))
        #expect(fact.revocation?.extent == .unknown(4))
    }

    @Test(
        "A member of the wrong type is refused by its name",
        arguments: [
            "transactionId", "originalTransactionId", "productId", "purchaseDate", "expiresDate",
            "quantity", "bundleId", "environment", "price", "revocationDate", "isUpgraded",
        ])
    func wrongType(_ name: String) {
        var payload = Payload.transaction
        payload[name] = ["not": "this"]
        #expect {
            try verify(payload)
        } throws: { ($0 as? EvidenceRefusal) == .invalidMember(name) }
    }

    @Test(
        "A required member of a transaction is refused if it is missing",
        arguments: ["transactionId", "originalTransactionId", "productId", "purchaseDate"])
    func missing(_ name: String) {
        var payload = Payload.transaction
        payload[name] = nil
        #expect {
            try verify(payload)
        } throws: { ($0 as? EvidenceRefusal) == .invalidMember(name) }
    }

    @Test("A statement without any transaction proves the app and gives no fact")
    func empty() throws {
        let payload = Payload([
            ("environment", "Sandbox"), ("bundleId", .string(Payload.bundleID)),
            ("signedDate", .integer(Payload.signedAt.milliseconds)),
        ])
        #expect(try verify(payload).facts == Facts())
    }

    @Test(
        "A month of a commitment has its position, and the renewal says if another follows"
    )
    func commitment() throws {
        var payload = Payload.transaction
        payload["billingPlanType"] = "MONTHLY"
        payload["commitmentInfo"] = [
            "billingPeriodNumber": 3, "totalBillingPeriods": 12,
            "commitmentExpiresDate": 1_800_000_000_000, "commitmentPrice": 95_880,
        ]
        let fact = try #require(try verify(payload).facts.transactions.first)
        #expect(
            fact.commitment
                == Commitment(
                    period: 3, periods: 12, ends: Instant(milliseconds: 1_800_000_000_000)))
        var terms = Terms.usual
        terms.companion = .example
        var renewal = Payload.renewal
        for (status, willCommit) in [(0, false), (1, true)] as [(Int64, Bool)] {
            renewal["commitmentInfo"] = ["commitmentAutoRenewStatus": .integer(status)]
            let statement = try verify(renewal, as: .renewalInfo, on: terms)
            #expect(statement.facts.renewals.first?.willCommitAgain == willCommit)
        }
    }

    @Test("Several items under one product, and the purchase that it continues")
    func items() throws {
        var payload = Payload.transaction
        payload["previousOriginalTransactionId"] = "1999"
        payload["advancedCommerceInfo"] = [
            "requestReferenceId": "r", "taxCode": "C003-00-1",
            "items": [
                ["SKU": "channel.sports", "price": 4990, "displayName": "Sports"],
                [
                    "SKU": "channel.films", "revocationDate": 1_683_000_000_000,
                    "refunds": [["refundType": "CUSTOM", "refundAmount": 100]],
                ],
            ],
        ]
        let fact = try #require(try verify(payload).facts.transactions.first)
        #expect(fact.previousOriginal?.text == "1999")
        #expect(
            fact.items == [
                SoldItem(try ProductID("channel.sports")),
                SoldItem(
                    try ProductID("channel.films"),
                    revokedAt: Instant(milliseconds: 1_683_000_000_000)),
            ])
        payload["advancedCommerceInfo"] = ["items": [["price": 4990]]]
        #expect {
            try verify(payload)
        } throws: { ($0 as? EvidenceRefusal) == .invalidMember("SKU") }
    }

    @Test("Renewal info gives a fact for the app of its companion")
    func renewal() throws {
        var terms = Terms.usual
        terms.companion = .example
        let statement = try verify(.renewal, as: .renewalInfo, on: terms)
        var fact = RenewalFact(
            store: .apple, environment: .sandbox, app: .example,
            original: try TransactionID("2000000000000001"), willRenew: true,
            signedAt: Payload.signedAt, rank: .clientTransaction)
        fact.product = try ProductID("com.example.pro.month")
        fact.nextProduct = try ProductID("com.example.pro.year")
        fact.isInBillingRetry = true
        fact.graceUntil = Instant(milliseconds: 1_686_218_399_000)
        fact.expirationIntent = .billingError
        fact.priceConsent = .pending
        fact.renewsAt = Instant(milliseconds: 1_685_613_599_000)
        #expect(statement.facts.renewals == [fact])
    }

    @Test("Renewal info alone is proven, and gives no fact because it names no app")
    func loneRenewal() throws {
        let statement = try verify(.renewal, as: .renewalInfo)
        #expect(statement.facts == Facts())
        #expect(statement.app == nil)
    }

    @Test("Renewal info is refused for a companion of an app that is not configured")
    func foreignCompanion() throws {
        var terms = Terms.usual
        terms.companion = try AppID("com.other")
        #expect {
            try verify(.renewal, as: .renewalInfo, on: terms)
        } throws: { ($0 as? EvidenceRefusal) == .foreignBundleID("com.other") }
    }

    @Test("An app transaction states who first installed which version, and when")
    func appTransaction() throws {
        let statement = try verify(.appTransaction, as: .appTransaction)
        let fact = AppFact(
            store: .apple, environment: .sandbox, app: .example, originalVersion: "1.0",
            originallyPurchased: Instant(milliseconds: 1_375_340_400_000),
            signedAt: Payload.signedAt, rank: .clientTransaction)
        #expect(statement.facts.apps == [fact])
        #expect(statement.appVersion == "42")
        #expect(statement.appleID == 1_234_567_890)
    }

    @Test("An app transaction made for another Apple id is refused")
    func foreignAppleID() {
        var payload = Payload.appTransaction
        payload["appAppleId"] = 99
        #expect {
            try verify(payload, as: .appTransaction)
        } throws: { ($0 as? EvidenceRefusal) == .foreignAppID }
    }

    @Test("The device is compared if both sides name one")
    func device() throws {
        let nonce = "7F3C2F0E-6A53-4A6C-9D0D-2F6E3F7F0B11"
        let device = "00010203-0405-0607-0809-0a0b0c0d0e0f"
        var payload = Payload.appTransaction
        payload["deviceVerificationNonce"] = .string(nonce)
        payload["deviceVerification"] = .string(
            MintedDigest.sha384.of(Array((nonce.lowercased() + device).utf8)).base64)
        var terms = Terms.usual
        terms.device = DeviceID(device.uppercased())
        #expect(throws: Never.self) { try verify(payload, as: .appTransaction, on: terms) }
        terms.device = DeviceID("00010203-0405-0607-0809-0a0b0c0d0eff")
        #expect {
            try verify(payload, as: .appTransaction, on: terms)
        } throws: { ($0 as? EvidenceRefusal) == .deviceMismatch }
    }

    @Test("The third certificate is not read: a root or random bytes make no difference")
    func thirdCertificate() throws {
        var plan = SignedJSONPlan(Payload.transaction.json)
        plan.certificates[2] = MintedChain(.transactions).root.der
        _ = try Verifier.trusting.verify(plan.bytes, as: .signedTransaction, on: .usual)
        plan.certificates[2] = [1, 2, 3]
        _ = try Verifier.trusting.verify(plan.bytes, as: .signedTransaction, on: .usual)
    }

    @Test("Unknown header members are ignored")
    func extraHeader() throws {
        var plan = SignedJSONPlan(Payload.transaction.json)
        plan.extraHeader = [("typ", "JWT"), ("kid", "x")]
        _ = try Verifier.trusting.verify(plan.bytes, as: .signedTransaction, on: .usual)
    }

    @Test("A chain of SHA-256 and P-256 throughout is accepted")
    func otherCurves() throws {
        var chain = MintedChain.transactions
        chain.root = MintedCertificate(.root, key: MintedKey(.p256))
        var plan = CertificatePlan.intermediate
        plan.digest = .sha384
        chain.intermediate = MintedCertificate(plan, key: MintedKey(.p256), issuer: chain.root)
        chain = chain.with(leaf: .leaf)
        let root = try Certificate(der: chain.root.der)
        let verifier = Verifier(anchors: [TrustAnchor(root, .pinned)])
        _ = try verifier.verify(
            Array(Payload.transaction.signed(by: chain).utf8), as: .signedTransaction, on: .usual)
    }
}
