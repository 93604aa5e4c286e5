/// The status of one subscription at one instant, regardless of what it unlocks.
package struct SubscriptionStatus: Hashable, Sendable {
    package let purchase: PurchaseID
    package let product: ProductID
    package let kind: ProductKind
    /// The subscription group, which has one current subscription; `nil` if the subscription is not
    /// in a group.
    package let group: String?
    /// Whether this is the current subscription in its group. Among subscriptions that give access,
    /// the one with the highest level is current. If several have the same level, or if none gives
    /// access, the one that determines the customer's access is current.
    package internal(set) var isCurrent: Bool
    package let isActive: Bool
    package let run: Interval
    package let state: Entitlement.State
    package let code: String
    package let willRenew: Bool
    package let nextProduct: ProductID?
    package let expirationReason: ExpirationReason?
    /// The commitment that the period belongs to, if any.
    package let commitment: Committed?
    /// Whether the subscription was bought in the sandbox.
    package let isSandbox: Bool

    package struct Committed: Hashable, Sendable {
        package let commitment: Commitment
        /// Whether another commitment follows; `nil` if the store has not said.
        package let willCommitAgain: Bool?
    }
}

extension CustomerState {
    /// Returns the customer's auto-renewing subscriptions at `instant`, in order of purchase.
    package func subscriptions(at instant: Instant, catalog: Catalog) -> [SubscriptionStatus] {
        var sums: [Int: Sum] = [:]
        for right in rights(by: catalog) {
            guard case .transaction(_, let purchase, _) = right.source, right.rule != .lifetime
            else { continue }
            sums[purchase, default: Sum()].add(right, at: instant)
        }
        let verdicts = sums.sorted { $0.key < $1.key }.compactMap { $1.verdict(at: instant) }
        var statuses = verdicts.compactMap { status($0, at: instant, catalog) }
        for current in currentOfEachGroup(verdicts, at: instant, catalog).values {
            guard let id = purchaseID(of: current),
                let index = statuses.firstIndex(where: { $0.purchase == id })
            else { continue }
            statuses[index].isCurrent = true
        }
        return statuses
    }

    private func status(
        _ verdict: Verdict, at instant: Instant, _ catalog: Catalog
    ) -> SubscriptionStatus? {
        let right = verdict.deciding
        let reading = RightReading(of: right, in: self, at: instant, catalog)
        guard let id = purchaseID(of: right), let product = reading.product,
            let kind = reading.kind
        else { return nil }
        let group = group(of: right, catalog)
        return SubscriptionStatus(
            purchase: id, product: product, kind: kind, group: group, isCurrent: group == nil,
            isActive: reading.isActive, run: verdict.run, state: reading.state,
            code: reading.code, willRenew: reading.willRenew, nextProduct: reading.nextProduct,
            expirationReason: reading.expirationReason, commitment: committed(right),
            isSandbox: reading.isSandbox)
    }

    private func committed(_ right: Right) -> SubscriptionStatus.Committed? {
        guard case .transaction(let index, let place, _) = right.source,
            let commitment = purchases[place].evidence[index].effective.commitment
        else { return nil }
        return SubscriptionStatus.Committed(
            commitment: commitment,
            willCommitAgain: purchases[place].renewal(after: index)?.willCommitAgain)
    }

    private func purchaseID(of right: Right) -> PurchaseID? {
        guard case .transaction(_, let place, _) = right.source else { return nil }
        return purchases[place].id
    }

    /// Returns the group from the catalog, or else the group that the store named.
    private func group(of right: Right, _ catalog: Catalog) -> String? {
        guard case .transaction(let index, let place, let product) = right.source else {
            return nil
        }
        return product.flatMap { catalog.products[$0].group }
            ?? purchases[place].evidence[index].effective.group
    }

    private func currentOfEachGroup(
        _ verdicts: [Verdict], at instant: Instant, _ catalog: Catalog
    ) -> [String: Right] {
        var current: [String: Right] = [:]
        for right in verdicts.map(\.deciding) {
            guard let group = group(of: right, catalog) else { continue }
            if let rival = current[group],
                !right.isAbove(rival, at: instant, in: catalog)
            {
                continue
            }
            current[group] = right
        }
        return current
    }
}

extension Right {
    fileprivate func isAbove(_ other: Right, at instant: Instant, in catalog: Catalog) -> Bool {
        let (mine, others) = (standing(at: instant), other.standing(at: instant))
        if mine != others { return mine > others }
        if mine == .access {
            let (level, otherLevel) = (level(in: catalog), other.level(in: catalog))
            if level != otherLevel { return level > otherLevel }
        }
        return saysMore(than: other, mine)
    }

    private func level(in catalog: Catalog) -> Int64 {
        guard case .transaction(_, _, let product?) = source else { return 0 }
        return catalog.products[product].level
    }
}
