/// The decision about a refund that the project would prefer.
package enum RefundPreference: String, Hashable, Sendable, CaseIterable {
    case decline, grantFull = "grant_full", grantProrated = "grant_prorated"
}

/// Settings for Deed's reports to the store on purchases with a requested refund. Deed may report only if every
/// customer of the project has consented.
package struct RefundReporting: Hashable, Sendable {
    package let preference: RefundPreference?
    /// Whether customers could try the product before they bought it.
    package let hasSample: Bool

    package init(preference: RefundPreference? = nil, hasSample: Bool = false) {
        self.preference = preference
        self.hasSample = hasSample
    }
}

/// Deed's report to the store about a requested refund, and how the report ended.
package struct RefundReport: Hashable, Sendable {
    package enum End: Hashable, Sendable {
        case reported
        case unreported(RefundUnreported.Why)
    }
    package let request: NewsID
    /// `nil` if no report was prepared.
    package internal(set) var content: ConsumptionReport?
    /// `nil` until the report has ended.
    package internal(set) var end: End?

    package init(request: NewsID, content: ConsumptionReport? = nil, end: End? = nil) {
        self.request = request
        self.content = content
        self.end = end
    }
}

extension Array where Element == RefundReport {
    /// Changes the report on a request. Reports are in the order of the requests, without duplicates.
    mutating func change(_ request: NewsID, _ change: (inout RefundReport) -> Void) {
        let place = firstIndex { !($0.request < request) } ?? endIndex
        if place == endIndex || self[place].request != request {
            insert(RefundReport(request: request), at: place)
        }
        change(&self[place])
    }
}

extension Purchase {
    package func report(on request: NewsID) -> RefundReport? {
        reports.first { $0.request == request }
    }

    /// The requested refunds that the store has not decided on and that have no report yet.
    package var refundsToReport: [RefundFact] {
        openRefundRequests.filter { report(on: $0.id)?.end == nil }
    }
}

extension Consumption {
    /// Returns the report for the store; `nil` if the log does not show whether the purchase was delivered. The store
    /// itself measures the use of subscriptions. For other purchases, it accepts a preference for a partial refund
    /// only if the used share is above zero.
    package func report(by reporting: RefundReporting) -> ConsumptionReport? {
        guard let isDelivered else { return nil }
        let used = kind == .autoRenewable ? nil : usedMilliPercent
        return ConsumptionReport(
            delivery: isDelivered ? .delivered : .other, hasSample: reporting.hasSample,
            used: used, preference: possible(reporting.preference, used))
    }

    private func possible(
        _ preference: RefundPreference?, _ used: Int64?
    ) -> RefundPreference? {
        guard preference == .grantProrated, kind != .autoRenewable else { return preference }
        // A prorated refund of an unused purchase would amount to a full refund.
        return used.map { $0 > 0 ? .grantProrated : .grantFull }
    }
}
