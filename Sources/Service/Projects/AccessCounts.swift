package import Core

/// The number of customers who gain or lose access.
package struct AccessTally: Hashable, Sendable {
    /// Customers who gain or lose at least one entitlement.
    package private(set) var customers = 0
    package private(set) var byEntitlement: [EntitlementID: Int] = [:]

    package init() {}

    mutating func add(_ entitlements: [EntitlementID]) {
        if entitlements.isEmpty { return }
        customers += 1
        for entitlement in entitlements { byEntitlement[entitlement, default: 0] += 1 }
    }
}

/// The customers who gain or lose access when one catalog replaces another.
package struct AccessCounts: Hashable, Sendable {
    package static let listLimit = 1000

    /// An affected customer.
    package struct Concerned: Hashable, Sendable {
        package let stream: Stream
        package let change: AccessChange
    }

    package private(set) var gains: [Environment: AccessTally] = [:]
    package private(set) var losses: [Environment: AccessTally] = [:]
    /// The first affected customers, at most `listLimit`.
    package private(set) var concerned: [Concerned] = []
    /// Whether more customers are affected than listed. The tallies include all of them.
    package private(set) var hasMore = false
    /// The number of customers whose purchases wait for each new product.
    package private(set) var waiting: [ProductKey: Int] = [:]
    /// The number of customers with unreadable events. They are not included in any other count.
    package internal(set) var unread = 0

    package init() {}

    /// The waiting purchases by product, sorted.
    package var waitingInOrder: [(product: ProductKey, purchases: Int)] {
        waiting.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    mutating func add(
        waiting products: Set<ProductKey>, in state: CustomerState, by catalog: Catalog
    ) {
        if products.isEmpty { return }
        for purchase in state.purchases {
            for product in purchase.products {
                let key = ProductKey(store: purchase.id.store, id: product)
                if products.contains(key), state.awaits(key, with: purchase, by: catalog) {
                    waiting[key, default: 0] += 1
                }
            }
        }
    }

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

extension Catalogs {
    /// Counts the customers who would now gain or lose access through the change, based on the
    /// states of all customers. `report` receives the number read so far.
    package func accessCounts(
        of step: CatalogStep, in project: ProjectID, report: (Int) -> Void = { _ in }
    ) throws(CommandError) -> AccessCounts {
        let pageLimit = 200
        var counts = AccessCounts()
        if step.changes.isEmpty { return counts }
        let now = now()
        let added = Set(step.new.products.map(\.key)).subtracting(step.old.products.map(\.key))
        var seen = 0
        var last: Stream?
        while true {
            let page = try obtain(
                directory.customers(of: project, after: last, limit: pageLimit))
            if page.isEmpty { return counts }
            // Unclaimed purchases have no customer who could lose access.
            for customer in page where !customer.stream.customer.isReserved {
                guard let state = customer.state else {
                    counts.unread += 1
                    continue
                }
                let change = state.accessChange(from: step.old, to: step.new, now: now)
                counts.add(change, of: customer.stream)
                counts.add(waiting: added, in: state, by: step.new)
            }
            last = page.last?.stream
            seen += page.count
            report(seen)
        }
    }
}
