package import Core
package import JSON
internal import Minting

/// The payloads that the store signs, as JSON.
extension PracticeWorld {
    package func payload(of sale: Sale, signedAt: Instant? = nil) -> JSON {
        var object = JSONObject()
        object.append("transactionId", .string(sale.id))
        object.append("originalTransactionId", .string(sale.original))
        object.append("bundleId", .string(shop.app.bundleID))
        object.append("productId", .string(sale.product))
        object.append("purchaseDate", .integer(sale.purchased.milliseconds))
        object.append("originalPurchaseDate", .integer(sale.originallyPurchased.milliseconds))
        object.append("quantity", .integer(sale.quantity))
        object.append("type", .string(sale.kind.appleName))
        if let token = sale.token { object.append("appAccountToken", .string(token)) }
        object.append("inAppOwnershipType", .string(sale.isShared ? "FAMILY_SHARED" : "PURCHASED"))
        object.append(
            "signedDate", .integer((signedAt ?? trouble.skewed(now)).milliseconds))
        object.append("environment", .string(environment))
        object.append("transactionReason", .string(sale.isRenewal ? "RENEWAL" : "PURCHASE"))
        object.append("storefront", .string(PracticeWorld.storefront))
        object.append("storefrontId", "143441")
        object.append("price", .integer(sale.price))
        object.append("currency", .string(sale.currency))
        if let install = installs[sale.customer] {
            object.append("appTransactionId", .string(install.appTransaction))
        }
        appendPeriod(of: sale, to: &object)
        appendRevocation(of: sale, to: &object)
        return .object(object)
    }

    private func appendPeriod(of sale: Sale, to object: inout JSONObject) {
        if let group = sale.group {
            object.append("subscriptionGroupIdentifier", .string(groupNumber(group)))
            object.append("webOrderLineItemId", .string(sale.lineItem))
        }
        if let expires = sale.expires {
            object.append("expiresDate", .integer(expires.milliseconds))
        }
        if sale.isUpgraded { object.append("isUpgraded", true) }
        if let offer = sale.offer { append(offer, to: &object) }
        guard let commitment = sale.commitment else { return }
        object.append("billingPlanType", "MONTHLY")
        object.append(
            "commitmentInfo",
            [
                "billingPeriodNumber": .integer(commitment.number),
                "totalBillingPeriods": .integer(Sale.Commitment.total),
                "commitmentExpiresDate": .integer(commitment.ends.milliseconds),
                "commitmentPrice": .integer(sale.price * Sale.Commitment.total),
            ])
    }

    private func append(_ offer: Article.Offer, to object: inout JSONObject) {
        object.append("offerType", .integer(offer.appleNumber))
        if offer.kind != .introductory { object.append("offerIdentifier", .string(offer.id)) }
        object.append("offerDiscountType", .string(offer.discount.rawValue.uppercased()))
        object.append("offerPeriod", .string(offer.period.isoText))
    }

    private func appendRevocation(of sale: Sale, to object: inout JSONObject) {
        guard let revocation = sale.revocation else { return }
        object.append("revocationDate", .integer(revocation.at.milliseconds))
        object.append("revocationReason", revocation.isForApp ? 1 : 0)
        object.append("revocationType", .string(revocation.extent.rawValue))
        if let percent = revocation.milliPercent {
            object.append("revocationPercentage", .integer(percent))
        }
    }

    package func payload(of subscription: Subscription, signedAt: Instant? = nil) -> JSON {
        var object = JSONObject()
        let isCommitted = isCommitted(subscription)
        object.append("originalTransactionId", .string(subscription.original))
        object.append("productId", .string(subscription.product))
        object.append("autoRenewProductId", .string(subscription.nextProduct))
        object.append("autoRenewStatus", subscription.willRenew ? 1 : 0)
        object.append(
            "isInBillingRetryPeriod",
            .bool(subscription.phase == .retry || subscription.phase == .grace))
        if let grace = subscription.graceUntil {
            object.append("gracePeriodExpiresDate", .integer(grace.milliseconds))
        }
        if let intent = subscription.intent {
            object.append("expirationIntent", .integer(intent.rawValue))
        }
        if let change = subscription.change {
            object.append("priceIncreaseStatus", change.isConsented ? 1 : 0)
        }
        if subscription.willRenew, subscription.isServing {
            object.append("renewalDate", .integer(subscription.ends.milliseconds))
            object.append("renewalPrice", .integer(renewalPrice(of: subscription)))
            object.append(
                "currency", .string(shop.article(subscription.nextProduct)?.currency ?? "USD"))
        }
        object.append(
            "recentSubscriptionStartDate", .integer(subscription.streakStart.milliseconds))
        if let offer = renewalOffer(of: subscription) { append(offer, to: &object) }
        let winBacks = winBackOffers(for: subscription)
        if !winBacks.isEmpty {
            object.append("eligibleWinBackOfferIds", .array(winBacks.map(JSON.string)))
        }
        if let token = subscription.token { object.append("appAccountToken", .string(token)) }
        if let install = installs[subscription.customer] {
            object.append("appTransactionId", .string(install.appTransaction))
        }
        if isCommitted { appendCommitment(of: subscription, to: &object) }
        object.append("signedDate", .integer((signedAt ?? trouble.skewed(now)).milliseconds))
        object.append("environment", .string(environment))
        return .object(object)
    }

    private func appendCommitment(of subscription: Subscription, to object: inout JSONObject) {
        guard let commitment = sale(subscription.latest)?.commitment else { return }
        object.append("renewalBillingPlanType", "MONTHLY")
        object.append(
            "commitmentInfo",
            [
                "commitmentAutoRenewProductId": .string(subscription.nextProduct),
                "commitmentAutoRenewStatus": subscription.willCommitAgain ? 1 : 0,
                "commitmentRenewalBillingPlanType": "MONTHLY",
                "commitmentRenewalDate": .integer(commitment.ends.milliseconds),
                "commitmentRenewalPrice": .integer(subscription.price * Sale.Commitment.total),
            ])
    }

    package func appPayload(of customer: String) -> JSON {
        let install = installs[customer]
        let at = install?.at ?? now
        let milliseconds = JSON.integer(at.milliseconds)
        var object = JSONObject()
        if let id = statedAppleID { object.append("appAppleId", .integer(id)) }
        let rest: JSON = [
            "receiptType": .string(environment), "bundleId": .string(shop.app.bundleID),
            "applicationVersion": .string(shop.app.version),
            "versionExternalIdentifier": 0,
            "receiptCreationDate": .integer(trouble.skewed(now).milliseconds),
            "originalPurchaseDate": milliseconds,
            "originalApplicationVersion": .string(install?.version ?? shop.app.version),
            "originalPlatform": "iOS",
            "appTransactionId": .string(install?.appTransaction ?? "704000000000000000"),
        ]
        for member in rest.object?.members ?? [] { object.append(member.name, member.value) }
        return .object(object)
    }

    /// Returns a number for the group, in the same format as the store's real group numbers.
    func groupNumber(_ group: String) -> String {
        let groups = Set(shop.products.compactMap(\.group)).sorted()
        return String(20_000_001 + (groups.firstIndex(of: group) ?? groups.count))
    }
}

extension Article.Offer {
    var appleNumber: Int64 {
        switch kind {
        case .introductory: 1
        case .promotional: 2
        case .code: 3
        case .winBack: 4
        }
    }
}

extension Wait {
    var isoText: String { duration?.text ?? "P0D" }
}
