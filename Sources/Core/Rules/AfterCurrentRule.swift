/// Grants that start after the current access ends. Each begins at the first instant after it was given
/// that no other known access covers. It then lasts without a break, even if other access begins.
/// Several such grants of one entitlement follow each other in the order in which they were given.
extension CustomerState {
    /// Returns the rights from grants that start only after all other rights.
    func waitingRights(behind others: [Right], by catalog: Catalog) -> [Right] {
        var rights: [Right] = []
        var covered: [EntitlementID: [Interval]] = [:]
        for index in grants.indices where grants[index].waits {
            let (grant, id) = (grants[index], grants[index].given.entitlement)
            var runs = covered[id] ?? self.runs(of: id, in: others, by: catalog)
            if let start = runs.firstGap(since: grant.given.start) {
                let right = grant.right(of: .grant(index), from: start)
                rights.append(right)
                runs.insert(right.interval)
            }
            covered[id] = runs
        }
        return rights
    }

    private func runs(
        of id: EntitlementID, in rights: [Right], by catalog: Catalog
    ) -> [Interval] {
        Interval.union(
            rights.filter { $0.unlocked(in: self, by: catalog).contains(id) }.map(\.interval))
    }

    /// Returns when the grant gives access, as currently known; `nil` if it waits for access that has no end.
    package func interval(of grant: Grant, by catalog: Catalog) -> Interval? {
        if !grant.waits {
            return grant.right(of: .grant(0), from: grant.given.start).interval
        }
        return rights(by: catalog).last { right in
            guard case .grant(let index) = right.source else { return false }
            return grants[index].id == grant.id
        }?.interval
    }
}

extension [Interval] {
    /// Returns the first instant, starting with `instant`, that none of these runs covers; `nil` if an endless run
    /// covers it.
    fileprivate func firstGap(since instant: Instant) -> Instant? {
        guard let run = first(where: { $0.contains(instant) }) else { return instant }
        return run.end
    }

    /// Inserts an interval, and merges it with the intervals that it touches.
    fileprivate mutating func insert(_ interval: Interval) {
        if interval.isEmpty { return }
        let near = Interval.union(
            filter { $0.touches(interval) } + [interval])
        self = filter { !$0.touches(interval) } + near
    }
}

extension Interval {
    /// Returns whether the two intervals overlap or are adjacent.
    fileprivate func touches(_ other: Interval) -> Bool {
        start <= other.end ?? .distantFuture && other.start <= end ?? .distantFuture
    }
}
