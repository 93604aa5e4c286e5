package import Core

/// How many customers gain something, or lose something.
package struct AccessTally: Hashable, Sendable {
    /// Those who gain or lose at least one entitlement.
    package private(set) var customers = 0
    package private(set) var byEntitlement: [EntitlementID: Int] = [:]

    package init() {}

    mutating func add(_ entitlements: [EntitlementID]) {
        if entitlements.isEmpty { return }
        customers += 1
        for entitlement in entitlements { byEntitlement[entitlement, default: 0] += 1 }
    }
}

/// Who gains and who loses access at one instant when one catalog takes the place of another.
package struct AccessCounts: Hashable, Sendable {
    package static let listLimit = 1000

    /// One of the customers concerned.
    package struct Concerned: Hashable, Sendable {
        package let stream: Stream
        package let change: AccessChange
    }

    package private(set) var gains: [Environment: AccessTally] = [:]
    package private(set) var losses: [Environment: AccessTally] = [:]
    /// The first of those concerned, `listLimit` at most.
    package private(set) var concerned: [Concerned] = []
    /// Whether more are concerned than are listed; the tallies are of all.
    package private(set) var hasMore = false

    package init() {}

    mutating func add(_ change: AccessChange, of stream: Stream) {
        if change.isEmpty { return }
        gains[stream.environment, default: AccessTally()].add(change.gained)
        losses[stream.environment, default: AccessTally()].add(change.lost)
        if concerned.count < AccessCounts.listLimit {
            concerned.append(Concerned(stream: stream, change: change))
        } else {
            hasMore = true
        }
    }
}

extension Ports {
    /// Who gains and who loses access now by the step, from the states of all customers of the
    /// project. `report` is told how many were looked at so far.
    package func accessCounts(
        of step: CatalogStep, in project: ProjectID, report: (Int) -> Void = { _ in }
    ) throws(CommandError) -> AccessCounts {
        let pageLimit = 200
        var counts = AccessCounts()
        if step.changes.isEmpty { return counts }
        let now = now()
        var seen = 0
        var last: Stream?
        while true {
            let page = try obtain { () throws(Fault) in
                try ledger.customers(project, last, pageLimit)
            }
            if page.isEmpty { return counts }
            // Who only keeps a purchase until somebody claims it has no access to lose.
            for customer in page where !customer.stream.customer.isReserved {
                let change = customer.state.accessChange(from: step.old, to: step.new, now: now)
                counts.add(change, of: customer.stream)
            }
            last = page.last?.stream
            seen += page.count
            report(seen)
        }
    }
}
