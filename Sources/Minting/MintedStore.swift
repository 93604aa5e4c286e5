package import Core
internal import JSON

/// A store that signs statements about what happens in a test. Its certificates are valid for years.
package struct MintedStore: Sendable {
    package var environment = "Production"
    package var bundleID = Payload.bundleID
    /// The app's number, as stated in notifications.
    package var appleID: Int64?
    /// The price of each sale, in thousandths of the currency's unit.
    package var price: Int64?

    package init(environment: String = "Production") {
        self.environment = environment
    }

    private static let chain: MintedChain = {
        var plan = CertificatePlan.leaf
        plan.notAfter = Instant(milliseconds: 1_950_000_000_000)
        return MintedChain.transactions.with(leaf: plan)
    }()
    private static let receiptChain: MintedChain = {
        var plan = CertificatePlan.leaf
        plan.notAfter = Instant(milliseconds: 1_950_000_000_000)
        return MintedChain.receipts.with(leaf: plan)
    }()

    /// Returns the store's signed statement about one transaction.
    package func transaction(_ sale: Sale) -> String { payload(of: sale).signed(by: Self.chain) }

    private func payload(of sale: Sale) -> Payload {
        var payload = Payload([
            ("transactionId", .string(sale.transaction)),
            ("originalTransactionId", .string(sale.original)), ("bundleId", .string(bundleID)),
            ("productId", .string(sale.product)), ("type", .string(sale.kind.appleName)),
            ("purchaseDate", .integer(sale.purchased.milliseconds)),
            ("originalPurchaseDate", .integer(sale.purchased.milliseconds)),
            ("quantity", .integer(sale.quantity)), ("inAppOwnershipType", "PURCHASED"),
            ("signedDate", .integer(sale.signedAt.milliseconds)),
            ("environment", .string(environment)),
        ])
        payload["price"] = price.map(JSON.integer)
        payload["currency"] = price.map { _ in "XTS" }
        payload["expiresDate"] = sale.expires.map { .integer($0.milliseconds) }
        payload["appAccountToken"] = sale.token.map(JSON.string)
        payload["appTransactionId"] = sale.account.map(JSON.string)
        payload["webOrderLineItemId"] = sale.lineItem.map(JSON.string)
        payload["previousOriginalTransactionId"] = sale.previous.map(JSON.string)
        if let commitment = sale.commitment {
            payload["billingPlanType"] = "MONTHLY"
            payload["commitmentInfo"] = [
                "billingPeriodNumber": .integer(commitment.period),
                "totalBillingPeriods": .integer(commitment.periods),
                "commitmentExpiresDate": .integer(commitment.ends.milliseconds),
            ]
        }
        if !sale.items.isEmpty {
            payload["advancedCommerceInfo"] = ["items": .array(sale.items.map(\.appleJSON))]
        }
        if let refunded = sale.refunded {
            payload["revocationDate"] = .integer(refunded.milliseconds)
            payload["revocationReason"] = 0
            payload["revocationType"] = "REFUND_FULL"
        }
        return payload
    }

    /// Returns the store's signed statement about a subscription's next renewal.
    package func renewal(_ plan: RenewalPlan) -> String {
        var payload = Payload([
            ("originalTransactionId", .string(plan.original)),
            ("productId", .string(plan.product)), ("autoRenewProductId", .string(plan.product)),
            ("autoRenewStatus", plan.isOn ? 1 : 0),
            ("isInBillingRetryPeriod", .bool(plan.isInRetry)),
            ("signedDate", .integer(plan.signedAt.milliseconds)),
            ("environment", .string(environment)),
        ])
        payload["appAccountToken"] = plan.token.map(JSON.string)
        payload["renewalPrice"] = price.map(JSON.integer)
        payload["currency"] = price.map { _ in "XTS" }
        payload["gracePeriodExpiresDate"] = plan.graceUntil.map { .integer($0.milliseconds) }
        payload["commitmentInfo"] = plan.willCommitAgain.map {
            ["commitmentAutoRenewStatus": $0 ? 1 : 0]
        }
        return payload.signed(by: Self.chain)
    }

    /// Returns the notification's body as the store posts it.
    package func notification(
        _ type: String, id: String, at instant: Instant, transaction: String? = nil,
        renewal: String? = nil, reason: String? = nil
    ) -> String {
        let body: JSON = [
            "signedPayload": .string(
                signedNotification(
                    type, id: id, at: instant, transaction: transaction, renewal: renewal,
                    reason: reason))
        ]
        return body.text
    }

    /// Returns the body of a notification about a parent who withdraws consent to the use of the app.
    package func rescission(of account: String, id: String, at instant: Instant) -> String {
        let app = appTransaction(originalVersion: "1.0", account: account, at: instant)
        let payload = Payload([
            ("notificationType", "RESCIND_CONSENT"), ("notificationUUID", .string(id)),
            ("version", "2.0"), ("signedDate", .integer(instant.milliseconds)),
            (
                "appData",
                [
                    "bundleId": .string(bundleID), "environment": .string(environment),
                    "signedAppTransactionInfo": .string(app),
                ]
            ),
        ])
        let body: JSON = ["signedPayload": .string(payload.signed(by: Self.chain))]
        return body.text
    }

    package func signedNotification(
        _ type: String, id: String, at instant: Instant, transaction: String? = nil,
        renewal: String? = nil, reason: String? = nil
    ) -> String {
        var data = Payload([
            ("bundleId", .string(bundleID)), ("environment", .string(environment)),
        ])
        data["appAppleId"] = appleID.map(JSON.integer)
        data["signedTransactionInfo"] = transaction.map(JSON.string)
        data["signedRenewalInfo"] = renewal.map(JSON.string)
        data["consumptionRequestReason"] = reason.map(JSON.string)
        let payload = Payload([
            ("notificationType", .string(type)), ("notificationUUID", .string(id)),
            ("version", "2.0"), ("signedDate", .integer(instant.milliseconds)),
            ("data", data.json),
        ])
        return payload.signed(by: Self.chain)
    }

    /// Returns the store's signed statement about the app's installation.
    package func appTransaction(
        originalVersion: String, account: String? = nil, at instant: Instant
    ) -> String {
        var payload = Payload([
            ("receiptType", .string(environment)), ("bundleId", .string(bundleID)),
            ("applicationVersion", "42"), ("originalApplicationVersion", .string(originalVersion)),
            ("receiptCreationDate", .integer(instant.milliseconds)),
            ("originalPurchaseDate", .integer(instant.milliseconds)),
        ])
        payload["appTransactionId"] = account.map(JSON.string)
        return payload.signed(by: Self.chain)
    }

    /// Returns a legacy receipt in base64 that contains these purchases.
    package func receipt(_ sales: [Sale], at instant: Instant) -> String {
        var attributes = [ReceiptAttribute].receipt(purchases: sales.map(\.attributes))
        attributes[attribute: 0] = ASN1.utf8(environment)
        attributes[attribute: 12] = ASN1.ia5(instant.secondText)
        var plan = ReceiptPlan(chain: Self.receiptChain)
        plan.attributes = attributes
        return plan.bytes.base64
    }
}

/// A sale in a test.
package struct Sale: Sendable {
    package var transaction: String
    package var original: String
    package var product: String
    package var kind: ProductKind
    package var purchased: Instant
    package var expires: Instant?
    package var signedAt: Instant
    package var quantity: Int64 = 1
    package var token: String?
    package var refunded: Instant?
    /// The store's name for the account that made the purchase.
    package var account: String?
    /// The store's name for the subscription period.
    package var lineItem: String?
    /// The purchase that this one continues.
    package var previous: String?
    package var commitment: Commitment?
    package var items: [SoldItem] = []

    package init(
        _ transaction: String, of original: String? = nil, _ product: String, _ kind: ProductKind,
        at purchased: Instant, until expires: Instant? = nil
    ) {
        self.transaction = transaction
        self.original = original ?? transaction
        self.product = product
        self.kind = kind
        self.purchased = purchased
        self.expires = expires
        signedAt = purchased
    }

    /// Returns a copy of this sale with the changes applied.
    package func with(_ change: (inout Sale) -> Void) -> Sale {
        var sale = self
        change(&sale)
        return sale
    }

    fileprivate var attributes: [ReceiptAttribute] {
        var attributes = [ReceiptAttribute].purchase(transaction: transaction, original: original)
        attributes[attribute: 1701] = ASN1.integer(quantity)
        attributes[attribute: 1702] = ASN1.utf8(product)
        attributes[attribute: 1704] = ASN1.ia5(purchased.secondText)
        attributes[attribute: 1706] = ASN1.ia5(purchased.secondText)
        attributes[attribute: 1707] = ASN1.integer(kind.receiptNumber)
        attributes[attribute: 1708] = ASN1.ia5(expires?.secondText ?? "")
        attributes[attribute: 1712] = ASN1.ia5(refunded?.secondText ?? "")
        return attributes
    }
}

/// The content of a subscription's renewal info in a test.
package struct RenewalPlan: Sendable {
    package var original: String
    package var product: String
    package var signedAt: Instant
    package var isOn = true
    package var isInRetry = false
    package var graceUntil: Instant?
    package var token: String?
    package var willCommitAgain: Bool?

    package init(of original: String, _ product: String, signed signedAt: Instant) {
        self.original = original
        self.product = product
        self.signedAt = signedAt
    }
}

extension SoldItem {
    fileprivate var appleJSON: JSON {
        var object = JSONObject()
        object.append("SKU", .string(product.text))
        if let revokedAt { object.append("revocationDate", .integer(revokedAt.milliseconds)) }
        return .object(object)
    }
}
