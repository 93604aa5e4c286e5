/// Why access ended.
package enum ExpirationReason: Hashable, Sendable {
    /// A subscription ended, for the reason that the store gave.
    case store(ExpirationIntent)
    /// Support blocked the purchase.
    case blocked
}

/// A customer's entitlement at one instant.
package struct Entitlement: Hashable, Sendable {
    /// The state of the access. For a subscription, this is the state of the subscription.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// A free period.
        case trial
        /// A period at an introductory price.
        case intro
        case active
        /// A renewal payment failed, and the store granted a grace period.
        case grace
        /// Access has not begun yet.
        case upcoming
        /// A renewal payment failed. The store keeps retrying it, and there is no access.
        case retry
        /// The customer paused the subscription in the store, and there is no access.
        case paused
        case expired
        /// The store or an admin revoked the right.
        case revoked
        /// The product was replaced by another one that does not unlock this entitlement.
        case upgraded
    }

    /// The source that determines the answer.
    package enum Source: Hashable, Sendable {
        case purchase(PurchaseID)
        case grant(GrantID)
        case originalAppVersion(AppID)

        /// The source's name in answers.
        package var name: String {
            switch self {
            case .purchase: "purchase"
            case .grant: "grant"
            case .originalAppVersion: "original_app_version"
            }
        }
    }

    package let id: EntitlementID
    package let isActive: Bool
    /// The bounds of the unbroken run of access that includes the instant. If no run does, the
    /// bounds of the next run, or else of the last one.
    package let run: Interval
    package let state: State
    /// A compact reason code. Its integer part represents the state (positive means access), and
    /// its fractional part represents the offer.
    package let code: String
    package let source: Source
    /// The product that was bought; `nil` if there was no purchase.
    package let product: ProductID?
    /// The kind of the purchase; `nil` if there was no purchase.
    package let kind: ProductKind?
    /// Whether another period follows automatically, according to the store's last statement.
    package let willRenew: Bool
    /// The product of the next period, if the store has named one.
    package let nextProduct: ProductID?
    /// Why the access ended, if known.
    package let expirationReason: ExpirationReason?
    /// Whether the purchase was made in the sandbox.
    package let isSandbox: Bool

    init(_ id: EntitlementID, _ verdict: Verdict, _ reading: RightReading) {
        self.id = id
        isActive = reading.isActive
        run = verdict.run
        state = reading.state
        code = reading.code
        source = reading.source
        product = reading.product
        kind = reading.kind
        willRenew = reading.willRenew
        nextProduct = reading.nextProduct
        expirationReason = reading.expirationReason
        isSandbox = reading.isSandbox
    }

    /// The grant that determines the answer, if it is a grant.
    package var grant: GrantID? {
        if case .grant(let id) = source { id } else { nil }
    }

    /// The purchase that determines the answer, if it is a purchase.
    package var purchase: PurchaseID? {
        if case .purchase(let id) = source { id } else { nil }
    }
}
