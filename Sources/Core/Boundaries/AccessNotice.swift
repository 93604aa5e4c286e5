/// The clock or a catalog changed access to an entitlement, or is about to.
package struct AccessNotice: Hashable, Sendable {
    package let entitlement: EntitlementID
    /// The boundary, not the moment of the notice.
    package let at: Instant
    /// What reads answer from the boundary on.
    package let answer: AccessAnswer
    /// Where the end was published that this takes back: access went on after all.
    package let corrects: Position?

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

/// What reads answer about an entitlement, as far as a notice carries it.
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

    /// There is no right to it, nor ever was by this catalog.
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
