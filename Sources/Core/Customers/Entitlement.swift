/// Why something ended.
package enum ExpirationReason: Hashable, Sendable {
    /// A subscription, for the reason given by the store.
    case store(ExpirationIntent)
    /// Support blocked the purchase.
    case blocked
}

/// What a product unlocks, for one customer at one instant.
package struct Entitlement: Hashable, Sendable {
    /// The state of the access; for a subscription, the state of the subscription.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// A free period.
        case trial
        /// A period at an introductory price.
        case intro
        case active
        /// A renewal payment failed, and the store granted a grace period.
        case grace
        /// Access begins later.
        case upcoming
        /// A renewal payment failed; the store keeps trying, and access is off.
        case retry
        /// The customer paused the subscription in the store, and access is off.
        case paused
        case expired
        /// The store or an admin took it back.
        case revoked
        /// Another product replaced it, and that one does not unlock this entitlement.
        case upgraded
    }

    /// The source that decides the answer.
    package enum Source: Hashable, Sendable {
        case purchase(PurchaseID)
        case grant(GrantID)
        case originalAppVersion(AppID)

        /// The source's name in an answer.
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
    /// The bounds of the unbroken run of access around the instant. Without access, those of the
    /// next run, or of the last one.
    package let run: Interval
    package let state: State
    /// A compact reason code. Its integer part stands for the state (positive means access), its
    /// second part for the offer.
    package let code: String
    package let source: Source
    /// The product that was bought; `nil` when nothing was.
    package let product: ProductID?
    /// The kind of the purchase; `nil` when nothing was bought.
    package let kind: ProductKind?
    /// Whether another period follows automatically, according to the store's last statement.
    package let willRenew: Bool
    /// The product of the next period, if the store named it.
    package let nextProduct: ProductID?
    /// Why it ended, if known.
    package let expirationReason: ExpirationReason?
    /// Whether it was bought in the sandbox.
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

    /// The grant that decides the answer, if one does.
    package var grant: GrantID? {
        if case .grant(let id) = source { id } else { nil }
    }

    /// The purchase that decides the answer, if one does.
    package var purchase: PurchaseID? {
        if case .purchase(let id) = source { id } else { nil }
    }
}
