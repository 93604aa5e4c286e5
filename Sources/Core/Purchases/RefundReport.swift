/// What a project prefers the store to do about a refund.
package enum RefundPreference: String, Hashable, Sendable, CaseIterable {
    case decline, grantFull = "grant_full", grantProrated = "grant_prorated"
}

/// Lets Deed tell the store what happened to purchases whose refund is requested. Every customer of
/// the project has agreed to that, or there are no reports.
package struct RefundReporting: Hashable, Sendable {
    package let preference: RefundPreference?
    /// Whether customers could try the product before they bought it.
    package let hasSample: Bool

    package init(preference: RefundPreference? = nil, hasSample: Bool = false) {
        self.preference = preference
        self.hasSample = hasSample
    }
}

/// Deed's report to the store about a requested refund, and its result.
package struct RefundReport: Hashable, Sendable {
    package enum End: Hashable, Sendable {
        case reported
        case unreported(RefundUnreported.Why)
    }
    package let request: NewsID
    /// `nil` if no report was ready to be sent.
    package internal(set) var content: ConsumptionReport?
    /// `nil` until the report is finished.
    package internal(set) var end: End?

    package init(request: NewsID, content: ConsumptionReport? = nil, end: End? = nil) {
        self.request = request
        self.content = content
        self.end = end
    }
}

extension Array where Element == RefundReport {
    /// Kept in order of the requests, each once.
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

    /// The requested refunds that the store has not decided and that still lack a report.
    package var refundsToReport: [RefundFact] {
        openRefundRequests.filter { report(on: $0.id)?.end == nil }
    }
}

extension Consumption {
    /// The report for the store; `nil` if the log does not show whether the purchase was delivered. The store
    /// counts a subscription's periods itself. For anything else it accepts a wish for a share only if the
    /// share is above zero.
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
        // A prorated refund of an unused purchase is a full refund.
        return used.map { $0 > 0 ? .grantProrated : .grantFull }
    }
}
