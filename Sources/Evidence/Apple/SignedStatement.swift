internal import Core
internal import JSON

extension SignedJSON {
    /// Returns the statement in the payload, read as evidence of the given kind.
    func statement(
        as kind: EvidenceKind, rank: Rank, companion: AppID?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        let members = try members()
        let found = EvidenceKind(ofSigned: members.object)
        if found != kind { throw .wrongKind(expected: kind, found: found) }
        let statement =
            switch kind {
            case .signedTransaction: try members.transactionStatement(rank: rank)
            case .renewalInfo: try members.renewalStatement(rank: rank, app: companion)
            case .appTransaction: try members.appStatement(rank: rank)
            default: throw EvidenceRefusal.wrongKind(expected: kind, found: found)
            }
        return try statement.named { () throws(EvidenceRefusal) in try certificates()[0] }
    }
}

extension Members {
    fileprivate func transactionStatement(
        rank: Rank
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        guard let signedAt = try instant("signedDate") else { throw .signedDateMissing }
        let app: AppID = try require("bundleId", identifier("bundleId"))
        let heading = try Heading(
            kind: .signedTransaction, environmentName: text("environment"), app: app,
            appleID: integer("appAppleId"))
        var contents = Contents()
        contents.members = object
        // Some signed statements have no transaction. They only prove which app they are for.
        if object["transactionId"] != nil || object["originalTransactionId"] != nil
            || object["productId"] != nil
        {
            contents.facts.transactions = [
                try transactionFact(heading.environment, app, signedAt, rank)
            ]
        }
        return StoreStatement(heading, signedAt: signedAt, contents: contents)
    }

    private func transactionFact(
        _ environment: Environment, _ app: AppID, _ signedAt: Instant, _ rank: Rank
    ) throws(EvidenceRefusal) -> TransactionFact {
        var fact = TransactionFact(
            store: .apple, environment: environment, app: app,
            transaction: try require("transactionId", storeName("transactionId")),
            original: try require(
                "originalTransactionId", storeName("originalTransactionId")),
            product: try require("productId", identifier("productId")),
            purchased: try require("purchaseDate", instant("purchaseDate")),
            signedAt: signedAt, rank: rank)
        if let kind = try word("type") {
            fact.kind = ProductKind(apple: kind)
            fact.unknownKind = fact.kind == nil ? kind : nil
        }
        fact.originallyPurchased = try instant("originalPurchaseDate")
        fact.expires = try instant("expiresDate")
        if let quantity = try integer("quantity") {
            if quantity < 0 { throw .invalidMember("quantity") }
            fact.quantity = quantity
        }
        fact.revocation = try revocation()
        fact.isUpgraded = try bool("isUpgraded") ?? false
        fact.offer = try offer()
        if let ownership = try word("inAppOwnershipType") {
            fact.ownership = Ownership(apple: ownership)
        }
        fact.accountToken = try text("appAccountToken")
        fact.appTransaction = try storeName("appTransactionId")
        if let price = try integer("price") {
            fact.price = Price(milliunits: price, currency: try text("currency"))
        }
        fact.group = try text("subscriptionGroupIdentifier")
        fact.lineItem = try text("webOrderLineItemId")
        fact.previousOriginal = try storeName("previousOriginalTransactionId")
        fact.commitment = try commitment()
        fact.items = try members("advancedCommerceInfo")?.soldItems() ?? []
        return fact
    }

    private func soldItems() throws(EvidenceRefusal) -> [SoldItem] {
        var items: [SoldItem] = []
        for item in try list("items") {
            items.append(
                SoldItem(
                    try item.require("SKU", item.identifier("SKU")),
                    revokedAt: try item.instant("revocationDate")))
        }
        return items
    }

    private func commitment() throws(EvidenceRefusal) -> Commitment? {
        guard let members = try members("commitmentInfo"),
            let period = try members.integer("billingPeriodNumber"),
            let periods = try members.integer("totalBillingPeriods"),
            let ends = try members.instant("commitmentExpiresDate")
        else { return nil }
        return Commitment(period: period, periods: periods, ends: ends)
    }

    private func revocation() throws(EvidenceRefusal) -> Revocation? {
        guard let at = try instant("revocationDate") else { return nil }
        var revocation = Revocation(at: at)
        revocation.reason = try word("revocationReason").map(Revocation.Reason.init(apple:))
        revocation.extent = try word("revocationType").map(Revocation.Extent.init(apple:))
        revocation.milliPercent = try integer("revocationPercentage")
        return revocation
    }

    private func offer() throws(EvidenceRefusal) -> Offer? {
        var offer = Offer()
        offer.kind = try word("offerType").map(Offer.Kind.init(apple:))
        offer.discount = try word("offerDiscountType").map(Offer.Discount.init(apple:))
        offer.identifier = try text("offerIdentifier")
        offer.period = try text("offerPeriod")
        return offer == Offer() ? nil : offer
    }

    fileprivate func renewalStatement(
        rank: Rank, app: AppID?
    ) throws(EvidenceRefusal) -> StoreStatement<Unverified> {
        guard let signedAt = try instant("signedDate") else { throw .signedDateMissing }
        let heading = try Heading(
            kind: .renewalInfo, environmentName: text("environment"), app: app, appleID: nil)
        let original: TransactionID = try require(
            "originalTransactionId", storeName("originalTransactionId"))
        let status = try require("autoRenewStatus", integer("autoRenewStatus"))
        guard status == 0 || status == 1 else { throw .invalidMember("autoRenewStatus") }
        var contents = Contents()
        contents.members = object
        if let app {
            var fact = RenewalFact(
                store: .apple, environment: heading.environment, app: app, original: original,
                willRenew: status == 1, signedAt: signedAt, rank: rank)
            try fill(&fact)
            contents.facts.renewals = [fact]
        }
        return StoreStatement(heading, signedAt: signedAt, contents: contents)
    }

    private func fill(_ fact: inout RenewalFact) throws(EvidenceRefusal) {
        fact.product = try identifier("productId")
        fact.nextProduct = try identifier("autoRenewProductId")
        fact.isInBillingRetry = try bool("isInBillingRetryPeriod") ?? false
        fact.graceUntil = try instant("gracePeriodExpiresDate")
        fact.expirationIntent = try word("expirationIntent").map(ExpirationIntent.init(apple:))
        fact.priceConsent = try word("priceIncreaseStatus").map(PriceConsent.init(apple:))
        fact.renewsAt = try instant("renewalDate")
        fact.offer = try offer()
        fact.accountToken = try text("appAccountToken")
        let status = try members("commitmentInfo")?.integer("commitmentAutoRenewStatus")
        fact.willCommitAgain = status.map { $0 != 0 }
    }

    fileprivate func appStatement(rank: Rank) throws(EvidenceRefusal) -> StoreStatement<Unverified>
    {
        let stated = try first("receiptCreationDate", "signedDate", read: instant)
        guard let signedAt = stated else { throw .signedDateMissing }
        let app: AppID = try require("bundleId", identifier("bundleId"))
        let heading = try Heading(
            kind: .appTransaction, environmentName: text("receiptType"), app: app,
            appleID: integer("appAppleId"))
        var contents = Contents()
        contents.members = object
        contents.appVersion = try text("applicationVersion")
        var fact = AppFact(
            store: .apple, environment: heading.environment, app: app,
            originalVersion: try require(
                "originalApplicationVersion", text("originalApplicationVersion")),
            originallyPurchased: try instant("originalPurchaseDate"), signedAt: signedAt,
            rank: rank)
        fact.appTransaction = try storeName("appTransactionId")
        contents.facts.apps = [fact]
        return StoreStatement(heading, signedAt: signedAt, contents: contents)
    }
}
