package import Core
internal import JSON

/// What Google Play states about one item of a subscription.
package struct PlayItemStatement: Hashable, Sendable {
    package enum Plan: Hashable, Sendable {
        case autoRenewing(PlayRenewal)
        case prepaid(topUpFrom: Instant?)
        /// A state that this release does not know.
        case unknown
    }

    /// The phase of the item's offer to which the current period belongs.
    package enum Phase: Hashable, Sendable {
        case basePrice
        case introductoryPrice
        case freeTrial
        case proration
        case unknown
    }

    /// The item that this item replaced.
    package struct Replacement: Hashable, Sendable {
        package let product: String?
        package let basePlan: String?
        package let offer: String?
        package let mode: String?
    }

    package let product: String
    package let basePlan: String?
    package let offer: String?
    package let offerTags: [String]
    package let plan: Plan
    /// When the item expires; `nil`, for example, during a pending change.
    package let expiresAt: Instant?
    /// The latest paid order; `nil` if the customer does not own the item yet.
    package let order: String?
    package let phase: Phase?
    /// The product that replaces this one when the period ends.
    package let replacedBy: String?
    /// Whether only this item ends when the period ends.
    package let isRemoved: Bool
    package let replaces: Replacement?

    init(_ members: PlayMembers) throws(EvidenceRefusal) {
        product = try members.required("productId")
        let details = try members.members("offerDetails")
        basePlan = try details?.text("basePlanId")
        offer = try details?.text("offerId")
        offerTags = try details?.texts("offerTags") ?? []
        plan = try Plan(members)
        expiresAt = try members.time("expiryTime")
        order = try members.text("latestSuccessfulOrderId")
        phase = try members.members("offerPhase").map(Phase.init)
        replacedBy = try members.members("deferredItemReplacement")?.text("productId")
        isRemoved = members.has("deferredItemRemoval")
        replaces = try Replacement(members.members("itemReplacement"))
    }
}

/// How an item renews.
package struct PlayRenewal: Hashable, Sendable {
    package struct PriceChange: Hashable, Sendable {
        package let price: PlayMoney?
        /// The mode, as Google names it.
        package let mode: String?
        package let state: String?
        package let chargedAt: Instant?
    }

    package struct Instalments: Hashable, Sendable {
        package let initialPayments: Int64
        package let paymentsLeft: Int64
        package let laterPayments: Int64?
        /// Whether the customer has cancelled during the commitment.
        package let endsWithCommitment: Bool
    }

    package struct PriceStep: Hashable, Sendable {
        package let state: String?
        package let price: PlayMoney?
        package let deadline: Instant?
    }

    /// Whether the item renews; `false` if the member is missing.
    package let renews: Bool
    package let price: PlayMoney?
    package let change: PriceChange?
    package let instalments: Instalments?
    package let step: PriceStep?

    fileprivate init(_ members: PlayMembers) throws(EvidenceRefusal) {
        renews = try members.flag("autoRenewEnabled")
        price = try members.money("recurringPrice")
        change = try PriceChange(members.members("priceChangeDetails"))
        instalments = try Instalments(members.members("installmentDetails"))
        step = try PriceStep(members.members("priceStepUpConsentDetails"))
    }
}

extension PlayItemStatement.Plan {
    fileprivate init(_ members: PlayMembers) throws(EvidenceRefusal) {
        if let renewing = try members.members("autoRenewingPlan") {
            self = .autoRenewing(try PlayRenewal(renewing))
        } else if let prepaid = try members.members("prepaidPlan") {
            self = .prepaid(topUpFrom: try prepaid.time("allowExtendAfterTime"))
        } else {
            self = .unknown
        }
    }
}

extension PlayItemStatement.Phase {
    fileprivate init(_ members: PlayMembers) {
        let known: [(String, Self)] = [
            ("basePrice", .basePrice), ("introductoryPrice", .introductoryPrice),
            ("freeTrial", .freeTrial), ("prorationPeriod", .proration),
        ]
        self = known.first { members.has($0.0) }?.1 ?? .unknown
    }
}

extension PlayItemStatement.Replacement {
    fileprivate init?(_ members: PlayMembers?) throws(EvidenceRefusal) {
        guard let members else { return nil }
        product = try members.text("productId")
        basePlan = try members.text("basePlanId")
        offer = try members.text("offerId")
        mode = try members.text("replacementMode")
    }
}

extension PlayRenewal.PriceChange {
    fileprivate init?(_ members: PlayMembers?) throws(EvidenceRefusal) {
        guard let members else { return nil }
        price = try members.money("newPrice")
        mode = try members.text("priceChangeMode")
        state = try members.text("priceChangeState")
        chargedAt = try members.time("expectedNewPriceChargeTime")
    }
}

extension PlayRenewal.Instalments {
    fileprivate init?(_ members: PlayMembers?) throws(EvidenceRefusal) {
        guard let members else { return nil }
        initialPayments = try members.integer("initialCommittedPaymentsCount") ?? 0
        paymentsLeft = try members.integer("remainingCommittedPaymentsCount") ?? 0
        laterPayments = try members.integer("subsequentCommittedPaymentsCount")
        endsWithCommitment = members.has("pendingCancellation")
    }
}

extension PlayRenewal.PriceStep {
    fileprivate init?(_ members: PlayMembers?) throws(EvidenceRefusal) {
        guard let members else { return nil }
        state = try members.text("state")
        price = try members.money("newPrice")
        deadline = try members.time("consentDeadlineTime")
    }
}
