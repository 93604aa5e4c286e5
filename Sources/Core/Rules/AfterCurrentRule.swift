/// Grants after the present access: each begins at the first instant since its giving that nothing else covers, by
/// all that is known, and then lasts without a break whatever else begins. Those that wait for one entitlement
/// follow each other in the order in which they were given.
extension CustomerState {
    /// What the grants that wait give, behind all other rights.
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

    /// When the grant gives access, by all that is known; `nil` where what it waits for has no end.
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
    /// The first instant from that one on that none of these unbroken runs covers; `nil` where one never ends.
    fileprivate func firstGap(since instant: Instant) -> Instant? {
        guard let run = first(where: { $0.contains(instant) }) else { return instant }
        return run.end
    }

    /// Takes in what begins in a gap, and joins what it reaches.
    fileprivate mutating func insert(_ interval: Interval) {
        if interval.isEmpty { return }
        let near = Interval.union(
            filter { $0.touches(interval) } + [interval])
        self = filter { !$0.touches(interval) } + near
    }
}

extension Interval {
    /// Whether both have an instant in common, or one ends where the other begins.
    fileprivate func touches(_ other: Interval) -> Bool {
        start <= other.end ?? .distantFuture && other.start <= end ?? .distantFuture
    }
}
