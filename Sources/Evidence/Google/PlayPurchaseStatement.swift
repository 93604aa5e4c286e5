package import Core
internal import JSON

/// What Google Play states about a purchase token for one-time products.
package struct PlayPurchaseStatement: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case purchased
        case cancelled
        case pending
        /// A state that this release does not know.
        case unknown(String)
    }

    package struct Item: Hashable, Sendable {
        package let product: String
        package let option: String?
        package let offer: String?
        package let quantity: Int64
        /// The quantity that can still be refunded; `nil` if not stated. Google also leaves out
        /// zeros, so a missing value alone does not mean that anything was refunded.
        package let refundableQuantity: Int64?
        package let isConsumed: Bool
        /// Whether the right expires.
        package let isRented: Bool
        package let isOrderedInAdvance: Bool
        package let releasedAt: Instant?
    }

    package let state: State
    package let items: [Item]
    /// When the purchase was paid for; `nil` until then.
    package let purchasedAt: Instant?
    /// The order, which may be missing for test purchases and promotions.
    package let order: String?
    package let accounts: PlayAccounts?
    package let isAcknowledged: Bool
    package let isTest: Bool
    package let region: String?

    /// Reads an answer to `purchases.productsv2.getproductpurchasev2`.
    package init(answer: [UInt8]) throws(EvidenceRefusal) {
        let members = try PlayMembers(answer)
        let context = try members.members("purchaseStateContext")
        state = State(try context?.text("purchaseState") ?? "")
        var items: [Item] = []
        let limit = PlaySubscriptionStatement.itemLimit
        for item in try members.list("productLineItem", atMost: limit) {
            items.append(try Item(item))
        }
        self.items = items
        purchasedAt = try members.time("purchaseCompletionTime")
        order = try members.text("orderId")
        accounts = try members.purchaseAccounts
        isAcknowledged =
            try members.text("acknowledgementState") == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
        isTest = members.has("testPurchaseContext")
        region = try members.text("regionCode")
    }

    /// Reads an answer to `purchases.products.get`, which may lack the name of its product.
    package init(oldAnswer: [UInt8], about product: String) throws(EvidenceRefusal) {
        let members = try PlayMembers(oldAnswer)
        if let number = try members.integer("purchaseState") {
            state = State(number: number)
        } else {
            // Google leaves out a state of zero, but never the time. An answer without a time does not describe a
            // purchase.
            state = members.has("purchaseTimeMillis") ? .purchased : .unknown("")
        }
        // The older API states a time even before the purchase has been paid for.
        purchasedAt = state == .pending ? nil : try members.milliseconds("purchaseTimeMillis")
        order = try members.text("orderId")
        accounts = try members.purchaseAccounts
        isAcknowledged = try members.integer("acknowledgementState") == 1
        isTest = try members.integer("purchaseType") == 0
        region = try members.text("regionCode")
        items = [
            Item(
                product: try members.text("productId") ?? product, option: nil, offer: nil,
                quantity: try members.quantity(),
                refundableQuantity: try members.refundableQuantity(),
                isConsumed: try members.integer("consumptionState") == 1, isRented: false,
                isOrderedInAdvance: false, releasedAt: nil)
        ]
    }
}

extension PlayPurchaseStatement.State {
    fileprivate init(_ word: String) {
        switch word {
        case "PURCHASED": self = .purchased
        case "CANCELLED": self = .cancelled
        case "PENDING": self = .pending
        default: self = .unknown(word)
        }
    }

    fileprivate init(number: Int64) {
        switch number {
        case 0: self = .purchased
        case 1: self = .cancelled
        case 2: self = .pending
        default: self = .unknown(String(number))
        }
    }
}

extension PlayPurchaseStatement.Item {
    fileprivate init(_ members: PlayMembers) throws(EvidenceRefusal) {
        let details = try members.members("productOfferDetails")
        let advance = try details?.members("preorderOfferDetails")
        product = try members.required("productId")
        option = try details?.text("purchaseOptionId")
        offer = try details?.text("offerId")
        quantity = try details?.quantity() ?? 1
        refundableQuantity = try details?.refundableQuantity()
        isConsumed = try details?.text("consumptionState") == "CONSUMPTION_STATE_CONSUMED"
        isRented = details?.has("rentOfferDetails") ?? false
        isOrderedInAdvance = advance != nil
        releasedAt = try advance?.time("preorderReleaseTime")
    }
}

extension PlayMembers {
    /// Returns the quantity. The default is one.
    fileprivate func quantity() throws(EvidenceRefusal) -> Int64 {
        let quantity = try integer("quantity") ?? 1
        guard quantity > 0 else { throw .invalidMember("quantity") }
        return quantity
    }

    fileprivate func refundableQuantity() throws(EvidenceRefusal) -> Int64? {
        guard let quantity = try integer("refundableQuantity") else { return nil }
        guard quantity >= 0 else { throw .invalidMember("refundableQuantity") }
        return quantity
    }

    fileprivate var purchaseAccounts: PlayAccounts? {
        get throws(EvidenceRefusal) {
            let account = try text("obfuscatedExternalAccountId")
            let profile = try text("obfuscatedExternalProfileId")
            if account == nil, profile == nil { return nil }
            return PlayAccounts(account: account, profile: profile)
        }
    }
}
