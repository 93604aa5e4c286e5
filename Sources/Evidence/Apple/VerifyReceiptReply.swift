package import Core
internal import JSON

extension FetchedAnswer {
    /// Returns the status in the reply, and what to do about it.
    package func status() throws(RefusedEvidence) -> (number: Int64, verdict: ReplyVerdict) {
        try rethrowing(as: RefusedEvidence.init) { () throws(EvidenceRefusal) in
            if body.count > RawEvidence.byteLimit { throw .tooLarge(limit: RawEvidence.byteLimit) }
            let reply = try VerifyReceiptReply(body)
            return (reply.status, reply.verdict)
        }
    }
}

extension Environment {
    fileprivate var appleName: String { self == .production ? "Production" : "Sandbox" }
}

/// The body of a verifyReceipt reply. Nearly all of its values are strings.
struct VerifyReceiptReply {
    private let members: Members
    let status: Int64
    let verdict: ReplyVerdict

    init(_ bytes: [UInt8]) throws(EvidenceRefusal) {
        members = try Members(bytes)
        status = try members.require("status", members.looseInteger("status"))
        verdict = ReplyVerdict(
            status: status, isRetryable: try members.looseBool("is-retryable") ?? false)
    }

    /// Throws unless the status confirms the receipt.
    func requireValid() throws(EvidenceRefusal) {
        switch verdict {
        case .valid: return
        case .refused: throw .replyRefused(status: status)
        case .tryLater: throw .replyLater(status: status)
        case .otherEnvironment(let environment): throw .replyFromOtherEnvironment(environment)
        }
    }

    /// Returns the latest receipt in its signed form, which proves itself.
    func latestReceipt() throws(EvidenceRefusal) -> [UInt8]? {
        try members.text("latest_receipt").map { Array($0.utf8) }
    }

    /// `host` is the environment of the host that answered. It is needed because replies for iOS 6 receipts name no
    /// environment.
    func statement(
        rank: Rank, host: Environment? = nil
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        let receipt = try members.require("receipt", members.members("receipt"))
        let requested = try receipt.first(
            "request_date", "receipt_creation_date", "purchase_date", read: receipt.looseInstant)
        guard let signedAt = requested else { throw .signedDateMissing }
        // Replies for iOS 6 receipts call the bundle id `bid`.
        let app: AppID = try members.require(
            "bundle_id", receipt.first("bundle_id", "bid", read: receipt.identifier))
        let named = try members.text("environment")
        let typed = try receipt.text("receipt_type")
        let heading = try Heading(
            kind: .verifyReceiptReply, environmentName: named ?? typed ?? host?.appleName,
            app: app,
            appleID: receipt.looseInteger("adam_id"))
        let origin = ReplyOrigin(
            environment: heading.environment, app: app, signedAt: signedAt, rank: rank)
        var contents = Contents()
        contents.members = members.object
        contents.appVersion = try receipt.first(
            "application_version", "bvrs", read: receipt.text)
        contents.licenceEnds = try receipt.looseInstant("expiration_date")
        contents.facts.transactions = try transactions(receipt, origin)
        contents.facts.renewals = try renewals(origin)
        contents.facts.apps = try receipt.originalApp(origin)
        return StoreStatement(heading, signedAt: signedAt, contents: contents)
    }

    /// Returns all transactions, without duplicates. Those in `latest_receipt_info` come first
    /// because they have more members.
    private func transactions(
        _ receipt: Members, _ origin: ReplyOrigin
    ) throws(EvidenceRefusal) -> [TransactionFact] {
        var entries = try members.list("latest_receipt_info")
        entries += try members.list("latest_expired_receipt_info")
        entries += try receipt.list("in_app")
        // In the reply for an iOS 6 receipt, `receipt` is the transaction itself.
        if receipt.object["transaction_id"] != nil { entries.append(receipt) }
        var seen: Set<TransactionID> = []
        var facts: [TransactionFact] = []
        for entry in entries {
            let fact = try entry.transactionFact(origin)
            if seen.insert(fact.transaction).inserted { facts.append(fact) }
        }
        return facts
    }

    private func renewals(_ origin: ReplyOrigin) throws(EvidenceRefusal) -> [RenewalFact] {
        var facts: [RenewalFact] = []
        for entry in try members.list("pending_renewal_info") {
            facts.append(try entry.renewalFact(origin))
        }
        return facts
    }
}

private struct ReplyOrigin {
    let environment: Environment
    let app: AppID
    let signedAt: Instant
    let rank: Rank
}

extension Members {
    fileprivate func transactionFact(
        _ origin: ReplyOrigin
    ) throws(EvidenceRefusal) -> TransactionFact {
        let transaction: TransactionID = try require(
            "transaction_id", storeName("transaction_id"))
        let original: TransactionID? = try storeName("original_transaction_id")
        var fact = TransactionFact(
            store: .apple, environment: origin.environment, app: origin.app,
            transaction: transaction,
            original: original ?? transaction,
            product: try require("product_id", identifier("product_id")),
            purchased: try require("purchase_date", looseInstant("purchase_date")),
            signedAt: origin.signedAt, rank: origin.rank)
        fact.originallyPurchased = try looseInstant("original_purchase_date")
        fact.expires = try looseInstant("expires_date")
        // In verifyReceipt replies, only auto-renewing subscriptions have an expiry.
        if fact.expires != nil { fact.kind = .autoRenewable }
        if let quantity = try looseInteger("quantity") {
            if quantity < 0 { throw .invalidMember("quantity") }
            fact.quantity = quantity
        }
        if let at = try looseInstant("cancellation_date") {
            var revocation = Revocation(at: at)
            revocation.reason = try looseWord("cancellation_reason")
                .map(Revocation.Reason.init(apple:))
            fact.revocation = revocation
        }
        fact.isUpgraded = try looseBool("is_upgraded") ?? false
        fact.offer = try looseOffer()
        if let ownership = try looseWord("in_app_ownership_type") {
            fact.ownership = Ownership(apple: ownership)
        }
        fact.accountToken = try text("app_account_token")
        fact.group = try looseText("subscription_group_identifier")
        fact.lineItem = try looseText("web_order_line_item_id")
        return fact
    }

    private func looseOffer() throws(EvidenceRefusal) -> Offer? {
        if try looseBool("is_trial_period") == true {
            return Offer(kind: .introductory, discount: .freeTrial)
        }
        if try looseBool("is_in_intro_offer_period") == true {
            return Offer(kind: .introductory)
        }
        if let identifier = try text("promotional_offer_id") {
            var offer = Offer(kind: .promotional)
            offer.identifier = identifier
            return offer
        }
        guard let name = try text("offer_code_ref_name") else { return nil }
        var offer = Offer(kind: .code)
        offer.identifier = name
        return offer
    }

    fileprivate func renewalFact(_ origin: ReplyOrigin) throws(EvidenceRefusal) -> RenewalFact {
        let status = try require("auto_renew_status", looseBool("auto_renew_status"))
        var fact = RenewalFact(
            store: .apple, environment: origin.environment, app: origin.app,
            original: try require(
                "original_transaction_id", storeName("original_transaction_id")),
            willRenew: status, signedAt: origin.signedAt, rank: origin.rank)
        fact.product = try identifier("product_id")
        fact.nextProduct = try identifier("auto_renew_product_id")
        fact.isInBillingRetry = try looseBool("is_in_billing_retry_period") ?? false
        fact.graceUntil = try looseInstant("grace_period_expires_date")
        fact.expirationIntent = try looseWord("expiration_intent")
            .map(ExpirationIntent.init(apple:))
        let consent = try first(
            "price_consent_status", "price_increase_status", read: looseWord)
        fact.priceConsent = consent.map(PriceConsent.init(apple:))
        return fact
    }

    fileprivate func originalApp(_ origin: ReplyOrigin) throws(EvidenceRefusal) -> [AppFact] {
        guard let version = try text("original_application_version") else { return [] }
        return [
            AppFact(
                store: .apple, environment: origin.environment, app: origin.app,
                originalVersion: version,
                originallyPurchased: try looseInstant("original_purchase_date"),
                signedAt: origin.signedAt, rank: origin.rank)
        ]
    }
}
