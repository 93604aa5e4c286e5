internal import Core
internal import JSON
internal import Minting

/// Legacy receipts, and the replies of verifyReceipt about them.
extension PracticeWorld {
    /// Returns the receipt on a customer's device. It contains all purchases except finished consumables.
    package func receipt(of customer: String, by authority: Authority) -> [UInt8] {
        let bought = sales(of: customer).filter { $0.kind != .consumable || !$0.isFinished }
        let opaque = SHA1Text(customer).bytes
        let bundleID = ASN1.utf8(shop.app.bundleID)
        let isSandbox = environment != "Production"
        var attributes = [
            ReceiptAttribute(0, ASN1.utf8(isSandbox ? "ProductionSandbox" : environment)),
            ReceiptAttribute(1, ASN1.integer(isSandbox ? 0 : shop.app.appleID)),
            ReceiptAttribute(2, bundleID), ReceiptAttribute(3, ASN1.utf8(shop.app.version)),
            ReceiptAttribute(4, opaque),
            ReceiptAttribute(5, MintedDigest.sha1.of(ReceiptPlan.device + opaque + bundleID)),
            ReceiptAttribute(8, ASN1.ia5(trouble.skewed(now).secondText)),
            ReceiptAttribute(10, ASN1.ia5("4+")),
            ReceiptAttribute(12, ASN1.ia5(trouble.skewed(now).secondText)),
            ReceiptAttribute(18, ASN1.ia5((installs[customer]?.at ?? now).secondText)),
            ReceiptAttribute(19, ASN1.utf8(installs[customer]?.version ?? shop.app.version)),
            ReceiptAttribute(21, ASN1.ia5("")),
        ]
        attributes += bought.map { ReceiptAttribute(17, self.attributes(of: $0).encoded) }
        var plan = ReceiptPlan(chain: authority.receipts)
        plan.attributes = attributes
        return plan.bytes
    }

    private func attributes(of sale: Sale) -> [ReceiptAttribute] {
        let offer = sale.offer
        let isIntroductory = offer?.kind == .introductory
        return [
            ReceiptAttribute(1701, ASN1.integer(sale.quantity)),
            ReceiptAttribute(1702, ASN1.utf8(sale.product)),
            ReceiptAttribute(1703, ASN1.utf8(sale.id)),
            ReceiptAttribute(1704, ASN1.ia5(sale.purchased.secondText)),
            ReceiptAttribute(1705, ASN1.utf8(sale.original)),
            ReceiptAttribute(1706, ASN1.ia5(sale.originallyPurchased.secondText)),
            ReceiptAttribute(1707, ASN1.integer(sale.kind.receiptNumber)),
            ReceiptAttribute(1708, ASN1.ia5(sale.expires?.secondText ?? "")),
            ReceiptAttribute(1711, ASN1.integer(Int64(sale.lineItem) ?? 0)),
            ReceiptAttribute(1712, ASN1.ia5(cancelled(sale)?.secondText ?? "")),
            ReceiptAttribute(1713, ASN1.integer(offer?.isTrial == true ? 1 : 0)),
            ReceiptAttribute(
                1719, ASN1.integer(isIntroductory && offer?.isTrial == false ? 1 : 0)),
            ReceiptAttribute(
                1721, ASN1.utf8(offer.map { $0.kind == .promotional ? $0.id : "" } ?? "")),
        ]
    }

    /// Returns when the sale was revoked or an upgrade replaced it. Legacy receipts do not distinguish the two.
    private func cancelled(_ sale: Sale) -> Instant? {
        if let revocation = sale.revocation { return revocation.at }
        return sale.upgraded
    }

    /// Returns the verifyReceipt reply for a genuine receipt of a customer.
    func verifyReceiptReply(
        of customer: String?, excludesOld: Bool, by authority: Authority
    ) -> JSON {
        // Finished consumables are no longer listed.
        let bought = (customer.map(sales(of:)) ?? [])
            .filter { $0.kind != .consumable || !$0.isFinished }
        var listed = bought.sorted { ($0.purchased, $0.id) > ($1.purchased, $1.id) }
        if excludesOld {
            let latest = Set(subscriptions.values.map(\.latest))
            listed = listed.filter { $0.kind != .autoRenewable || latest.contains($0.id) }
        }
        var reply = JSONObject()
        reply.append("status", 0)
        reply.append("environment", .string(environment))
        reply.append("receipt", receiptMembers(of: customer, bought))
        guard let customer, !bought.isEmpty else { return .object(reply) }
        reply.append("latest_receipt_info", .array(listed.map { members(of: $0, isLatest: true) }))
        reply.append(
            "latest_receipt", .string(receipt(of: customer, by: authority).base64))
        let renewals = subscriptions(of: customer)
        reply.append("pending_renewal_info", .array(renewals.map(members(of:))))
        return .object(reply)
    }

    private func receiptMembers(of customer: String?, _ bought: [Sale]) -> JSON {
        let install = customer.flatMap { installs[$0] }
        var object = JSONObject()
        object.append(
            "receipt_type", environment == "Production" ? "Production" : "ProductionSandbox")
        object.append("adam_id", 0)
        object.append("app_item_id", 0)
        object.append("bundle_id", .string(shop.app.bundleID))
        object.append("application_version", .string(shop.app.version))
        object.append("download_id", 0)
        object.append("version_external_identifier", 0)
        object.append(
            "original_application_version", .string(install?.version ?? shop.app.version))
        object.append(date: "receipt_creation_date", now)
        object.append(date: "request_date", now)
        object.append(date: "original_purchase_date", install?.at ?? now)
        object.append("in_app", .array(bought.map { members(of: $0, isLatest: false) }))
        return .object(object)
    }

    private func members(of sale: Sale, isLatest: Bool) -> JSON {
        var object = JSONObject()
        object.append("quantity", .string(String(sale.quantity)))
        object.append("product_id", .string(sale.product))
        object.append("is_trial_period", .string(sale.offer?.isTrial == true ? "true" : "false"))
        object.append("transaction_id", .string(sale.id))
        object.append("original_transaction_id", .string(sale.original))
        object.append(date: "purchase_date", sale.purchased)
        object.append(date: "original_purchase_date", sale.originallyPurchased)
        if let expires = sale.expires {
            object.append(date: "expires_date", expires)
            object.append("web_order_line_item_id", .string(sale.lineItem))
            let isIntro = sale.offer?.kind == .introductory && sale.offer?.isTrial == false
            object.append("is_in_intro_offer_period", .string(isIntro ? "true" : "false"))
        }
        if let cancelled = cancelled(sale) {
            object.append(date: "cancellation_date", cancelled)
            object.append(
                "cancellation_reason", .string(sale.revocation?.isForApp == true ? "1" : "0"))
        }
        object.append(
            "in_app_ownership_type", .string(sale.isShared ? "FAMILY_SHARED" : "PURCHASED"))
        guard isLatest else { return .object(object) }
        if sale.isUpgraded { object.append("is_upgraded", "true") }
        if let group = sale.group {
            object.append("subscription_group_identifier", .string(groupNumber(group)))
        }
        if let token = sale.token { object.append("app_account_token", .string(token)) }
        if let offer = sale.offer, offer.kind == .promotional {
            object.append("promotional_offer_id", .string(offer.id))
        }
        return .object(object)
    }

    private func members(of subscription: Subscription) -> JSON {
        var object = JSONObject()
        object.append("original_transaction_id", .string(subscription.original))
        object.append("product_id", .string(subscription.product))
        object.append("auto_renew_product_id", .string(subscription.nextProduct))
        object.append("auto_renew_status", .string(subscription.willRenew ? "1" : "0"))
        if let intent = subscription.intent {
            object.append("expiration_intent", .string(String(intent.rawValue)))
        }
        if !subscription.isServing || subscription.phase == .grace {
            let isTried = subscription.phase == .retry || subscription.phase == .grace
            object.append("is_in_billing_retry_period", .string(isTried ? "1" : "0"))
        }
        if let grace = subscription.graceUntil {
            object.append(date: "grace_period_expires_date", grace)
        }
        if let change = subscription.change {
            object.append("price_consent_status", .string(change.isConsented ? "1" : "0"))
        }
        return .object(object)
    }
}

/// The opaque bytes in a customer's receipts, which are the same in all of them.
private struct SHA1Text {
    let bytes: [UInt8]

    init(_ text: String) {
        bytes = Array(MintedDigest.sha1.of(Array(text.utf8)).prefix(16))
    }
}

extension Article.Offer {
    var isTrial: Bool { discount == .freeTrial }
}

extension JSONObject {
    /// Appends a date in the three formats of verifyReceipt.
    fileprivate mutating func append(date name: String, _ instant: Instant) {
        let pacific = instant.advanced(byMilliseconds: -8 * 3_600_000)
        append(name, .string(instant.spacedText + " Etc/GMT"))
        append("\(name)_ms", .string(String(instant.milliseconds)))
        append("\(name)_pst", .string(pacific.spacedText + " America/Los_Angeles"))
    }
}

extension Instant {
    fileprivate var spacedText: String {
        String(decoding: text.utf8.prefix(19), as: UTF8.self).replacing("T", with: " ")
    }
}
