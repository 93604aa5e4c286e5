/// What a product unlocks, for one customer at one instant.
package struct Entitlement: Hashable, Sendable {
    /// How the access stands; of a subscription, how the subscription stands.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// A free period.
        case trial
        /// A period at an introductory price.
        case intro
        case active
        /// A renewal could not be paid, and the store asked for patience.
        case grace
        /// Access begins later.
        case upcoming
        /// A renewal could not be paid; the store tries on, without access.
        case retry
        case expired
        /// The store, or an admin, took it back.
        case revoked
        /// Another product took its place, and that one does not unlock this.
        case upgraded
    }

    /// What decides the answer.
    package enum Source: Hashable, Sendable {
        case purchase(PurchaseID)
        case grant(GrantID)
        case originalAppVersion(AppID)

        /// The word for it in an answer.
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
    /// The bounds of the unbroken run of access around the instant; of the next run, else of the
    /// last, when there is no access.
    package let run: Interval
    package let state: State
    /// The compact reason code: its whole part tells the state, positive means access; its second
    /// part tells the offer.
    package let code: String
    package let source: Source
    /// The product that was bought; `nil` when nothing was.
    package let product: ProductID?
    /// The kind of the purchase; `nil` when nothing was bought.
    package let kind: ProductKind?
    /// Whether another period follows by itself, as far as the store told.
    package let willRenew: Bool
    /// The product of the next period, where the store named it.
    package let nextProduct: ProductID?
    /// Why the subscription ended, where the store told.
    package let expirationReason: ExpirationIntent?
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

    /// The grant that decides, when one does.
    package var grant: GrantID? {
        if case .grant(let id) = source { id } else { nil }
    }

    /// The purchase that decides, when one does.
    package var purchase: PurchaseID? {
        if case .purchase(let id) = source { id } else { nil }
    }
}
