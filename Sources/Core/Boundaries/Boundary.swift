/// An instant at which a customer's access changes, or is about to end, without a new event.
package struct Boundary: Hashable, Sendable {
    package enum Kind: Int, Hashable, Sendable {
        case ended
        case started
        case endingSoon
    }

    package let kind: Kind
    package let entitlement: EntitlementID
    package let at: Instant

    package init(_ kind: Kind, _ entitlement: EntitlementID, at: Instant) {
        self.kind = kind
        self.entitlement = entitlement
        self.at = at
    }
}

extension CustomerState {
    /// Returns the boundaries after `instant` under the catalog, in chronological order.
    package func boundaries(after instant: Instant, by catalog: Catalog) -> [Boundary] {
        boundaries(of: runs(by: catalog), after: instant, by: catalog)
    }

    /// Returns the first boundary after `instant`. The caller has already derived the runs of access.
    package func nextBoundary(
        of runs: [EntitlementID: [Interval]], after instant: Instant, by catalog: Catalog
    ) -> Instant? {
        boundaries(of: runs, after: instant, by: catalog).first?.at
    }

    private func boundaries(
        of runs: [EntitlementID: [Interval]], after instant: Instant, by catalog: Catalog
    ) -> [Boundary] {
        var boundaries: [Boundary] = []
        for (id, runs) in runs {
            for run in runs where !run.isEmpty {
                if run.start > instant { boundaries.append(Boundary(.started, id, at: run.start)) }
                guard let end = run.end, end > instant else { continue }
                boundaries.append(Boundary(.ended, id, at: end))
                if let reminder = reminder(of: id, run, by: catalog), reminder > instant {
                    boundaries.append(Boundary(.endingSoon, id, at: reminder))
                }
            }
        }
        return boundaries.sorted()
    }

    /// Returns when to announce the upcoming end of a run of access: as long before the end as the catalog says.
    /// Returns `nil` if the run is shorter than that, or if a store is known to renew it.
    private func reminder(
        of id: EntitlementID, _ run: Interval, by catalog: Catalog
    ) -> Instant? {
        guard let notice = catalog.endingSoon[id], let end = run.end else { return nil }
        let instant = notice.start(before: end)
        guard run.start < instant else { return nil }
        let answer = entitlements(at: instant, catalog: catalog)[id]
        return answer?.willRenew == true ? nil : instant
    }
}

extension Boundary: Comparable {
    package static func < (one: Boundary, other: Boundary) -> Bool {
        (one.at, one.kind.rawValue, one.entitlement)
            < (other.at, other.kind.rawValue, other.entitlement)
    }
}
