/// Predicts the effect of a new grant, to inform the person who gives it.
extension CustomerState {
    func outlook(of given: GrantGiven, by catalog: Catalog) -> GrantOutlook {
        var after = self
        after.apply(.grantGiven(given))
        var outlook = GrantOutlook()
        let interval = after.interval(of: Grant(given), by: catalog)
        if given.afterCurrent != nil { outlook.begins = interval?.start }
        let start = interval?.start ?? given.start
        if let source = source(of: given.entitlement, from: start, with: after, by: catalog) {
            outlook.givenAnyway = source
        }
        return outlook
    }

    /// Returns the source of the entitlement at that instant; `nil` unless both states give the same answers about
    /// the entitlement from that instant on.
    private func source(
        of id: EntitlementID, from start: Instant, with other: CustomerState, by catalog: Catalog
    ) -> Entitlement.Source? {
        var instant = start
        var source: Entitlement.Source?
        for _ in 0..<CustomerState.boundaryLimit {
            let mine = entitlements(at: instant, catalog: catalog)
            let others = other.entitlements(at: instant, catalog: catalog)
            guard let answer = mine[id], answer == others[id] else { return nil }
            source = source ?? answer.source
            guard let next = [mine.nextChange, others.nextChange].compactMap(\.self).min() else {
                return source
            }
            instant = next
        }
        return nil
    }

    /// How many boundaries to compare. Most answers differ at the first one, and few customers have
    /// more boundaries than this.
    private static let boundaryLimit = 100
}
