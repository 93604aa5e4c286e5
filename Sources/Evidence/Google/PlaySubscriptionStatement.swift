package import Core
internal import JSON

/// What Google Play states about a purchase token for a subscription.
package struct PlaySubscriptionStatement: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case pending
        case pendingPurchaseCanceled
        case active
        case inGracePeriod
        case onHold
        case paused
        case canceled
        case expired
        /// A state that this release does not know.
        case unknown(String)
    }

    package enum Cancellation: Hashable, Sendable {
        case user(at: Instant?)
        case system
        case developer
        case replacement
    }

    /// The expired purchase of a customer who has resubscribed in the Play Store app.
    package struct Return: Hashable, Sendable {
        package let token: String?
        package let accounts: PlayAccounts?
    }

    package let state: State
    package let items: [PlayItemStatement]
    /// When the right began; `nil` until the first payment.
    package let startedAt: Instant?
    /// The token of the purchase that this one continues.
    package let linkedToken: String?
    package let accounts: PlayAccounts?
    /// The expired purchase to which the customer has resubscribed. Google no longer states it once the new purchase is
    /// acknowledged.
    package let comesBack: Return?
    package let cancellation: Cancellation?
    package let resumesAt: Instant?
    /// The order whose payment was declined.
    package let declinedOrder: String?
    package let isAcknowledged: Bool
    package let isTest: Bool
    package let entityTag: String?
    package let region: String?

    /// Far above the largest number of items in a purchase.
    static let itemLimit = 200

    /// Reads an answer to `purchases.subscriptionsv2.get`.
    package init(answer: [UInt8]) throws(EvidenceRefusal) {
        let members = try PlayMembers(answer)
        state = State(try members.required("subscriptionState"))
        var items: [PlayItemStatement] = []
        for item in try members.list("lineItems", atMost: Self.itemLimit) {
            items.append(try PlayItemStatement(item))
        }
        self.items = items
        startedAt = try members.time("startTime")
        linkedToken = try members.text("linkedPurchaseToken")
        accounts = try PlayAccounts(members.members("externalAccountIdentifiers"))
        comesBack = try Return(members.members("outOfAppPurchaseContext"))
        cancellation = try Cancellation(members.members("canceledStateContext"))
        resumesAt = try members.members("pausedStateContext")?.time("autoResumeTime")
        let grace = try members.members("inGracePeriodStateContext")
        let hold = try members.members("onHoldStateContext")
        declinedOrder = try (grace ?? hold)?.members("renewalDeclined")?.text("pendingOrderId")
        isAcknowledged =
            try members.text("acknowledgementState") == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
        isTest = members.has("testPurchase")
        entityTag = try members.text("etag")
        region = try members.text("regionCode")
    }
}

extension PlaySubscriptionStatement.State {
    fileprivate init(_ word: String) {
        switch word {
        case "SUBSCRIPTION_STATE_PENDING": self = .pending
        case "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED": self = .pendingPurchaseCanceled
        case "SUBSCRIPTION_STATE_ACTIVE": self = .active
        case "SUBSCRIPTION_STATE_IN_GRACE_PERIOD": self = .inGracePeriod
        case "SUBSCRIPTION_STATE_ON_HOLD": self = .onHold
        case "SUBSCRIPTION_STATE_PAUSED": self = .paused
        case "SUBSCRIPTION_STATE_CANCELED": self = .canceled
        case "SUBSCRIPTION_STATE_EXPIRED": self = .expired
        default: self = .unknown(word)
        }
    }
}

extension PlaySubscriptionStatement.Cancellation {
    /// Reads why the subscription ended. Also fails if this release does not know the reason.
    fileprivate init?(_ members: PlayMembers?) throws(EvidenceRefusal) {
        guard let members else { return nil }
        if let user = try members.members("userInitiatedCancellation") {
            self = .user(at: try user.time("cancelTime"))
        } else if members.has("systemInitiatedCancellation") {
            self = .system
        } else if members.has("developerInitiatedCancellation") {
            self = .developer
        } else if members.has("replacementCancellation") {
            self = .replacement
        } else {
            return nil
        }
    }
}

extension PlaySubscriptionStatement.Return {
    fileprivate init?(_ members: PlayMembers?) throws(EvidenceRefusal) {
        guard let members else { return nil }
        token = try members.text("expiredPurchaseToken")
        accounts = try PlayAccounts(members.members("expiredExternalAccountIdentifiers"))
    }
}
