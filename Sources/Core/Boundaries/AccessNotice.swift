/// A past or upcoming change of access to an entitlement, caused by the clock or a new catalog.
package struct AccessNotice: EventContent {
    package let entitlement: EntitlementID
    /// The time of the boundary, not of the notice.
    package let at: Instant
    /// The answer that reads return from that time onward.
    package let answer: AccessAnswer
    /// The position of an earlier notice that access ended, which this notice corrects because access continues.
    package let corrects: Position?
    package var subject: EventSubject { .entitlement(entitlement) }

    package init(
        entitlement: EntitlementID, at: Instant, answer: AccessAnswer,
        corrects: Position? = nil
    ) {
        self.entitlement = entitlement
        self.at = at
        self.answer = answer
        self.corrects = corrects
    }
}

/// The part of an entitlement's answer that a notice contains.
package struct AccessAnswer: Hashable, Sendable {
    package let isActive: Bool
    package let run: Interval?
    package let state: Entitlement.State?
    package let code: String
    package let willRenew: Bool
    package let source: Entitlement.Source?
    package let product: ProductID?

    package init(
        isActive: Bool, run: Interval?, state: Entitlement.State?, code: String, willRenew: Bool,
        source: Entitlement.Source?, product: ProductID?
    ) {
        self.isActive = isActive
        self.run = run
        self.state = state
        self.code = code
        self.willRenew = willRenew
        self.source = source
        self.product = product
    }

    /// The answer for a customer who, according to the catalog, never had a right to the entitlement.
    package static let none = AccessAnswer(
        isActive: false, run: nil, state: nil, code: "0.0", willRenew: false, source: nil,
        product: nil)

    package init(_ entitlement: Entitlement) {
        self.init(
            isActive: entitlement.isActive, run: entitlement.run, state: entitlement.state,
            code: entitlement.code, willRenew: entitlement.willRenew, source: entitlement.source,
            product: entitlement.product)
    }
}

extension EventType {
    static let boundaries: EventFamily = [
        .accessStarted: .ofCustomer("access.started", "Access to {entitlement} began"),
        .accessEnded: .ofCustomer("access.ended", "Access to {entitlement} ended"),
        .accessEndingSoon: .ofCustomer("access.ending_soon", "Access to {entitlement} ends soon"),
    ]
}
