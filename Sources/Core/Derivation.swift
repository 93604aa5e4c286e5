/// What a customer may use at one instant, and when that changes next.
package struct Entitlements: Hashable, Sendable {
    package let at: Instant
    /// Every entitlement that the customer ever held, by its id.
    package let all: [Entitlement]
    /// The first instant after `at` at which any of them may read differently.
    package let nextChange: Instant?

    package subscript(id: EntitlementID) -> Entitlement? { all.first { $0.id == id } }
}

/// What a product unlocks, for one customer at one instant.
package struct Entitlement: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case upcoming
        case active
        case expired
        case revoked
    }

    package let id: EntitlementID
    package let isActive: Bool
    /// The bounds of the unbroken run of access around the instant; of the next run, else of the
    /// last, when there is no access.
    package let run: Interval
    package let state: State
    /// The grant that decides `state`.
    package let grant: GrantID

    /// The compact reason code: its whole part tells the state, positive means access.
    package var code: String {
        switch state {
        case .active: "2.0"
        case .upcoming: "0.0"
        case .expired: "-5.0"
        case .revoked: "-8.0"
        }
    }
}

extension CustomerState {
    /// The customer's entitlements at `instant`, from everything that the stream says.
    package func entitlements(at instant: Instant) -> Entitlements {
        let byEntitlement = Dictionary(grouping: grants, by: \.given.entitlement)
        let all = byEntitlement.keys.sorted().compactMap { id in
            byEntitlement[id].flatMap { Entitlement(id, of: $0, at: instant) }
        }
        let boundaries = grants.map(\.interval).filter { !$0.isEmpty }
            .flatMap { [$0.start, $0.end].compactMap(\.self) }
        return Entitlements(
            at: instant, all: all, nextChange: boundaries.filter { $0 > instant }.min())
    }
}

extension Entitlement {
    fileprivate init?(_ id: EntitlementID, of grants: [Grant], at instant: Instant) {
        let runs = Interval.union(grants.map(\.interval))
        let around = runs.first { $0.contains(instant) }
        let ahead = runs.first { $0.start > instant }
        guard let deciding = grants.max(by: { $0.decidesLess(than: $1, at: instant) })
        else { return nil }
        self.id = id
        isActive = around != nil
        run = around ?? ahead ?? runs.last ?? deciding.interval
        grant = deciding.id
        if around != nil {
            state = .active
        } else if ahead != nil {
            state = .upcoming
        } else {
            state = deciding.revocation == nil ? .expired : .revoked
        }
    }
}

extension Grant {
    /// Whether the other grant says more about the access at that instant: one that gives access
    /// over one that does not, the next over the past, then the later end, then the newer grant.
    fileprivate func decidesLess(than other: Grant, at instant: Instant) -> Bool {
        func weight(_ grant: Grant) -> (Int, Instant) {
            let interval = grant.interval
            if interval.contains(instant) { return (2, interval.end ?? .distantFuture) }
            if !interval.isEmpty, interval.start > instant {
                return (1, Instant(milliseconds: ~interval.start.milliseconds))
            }
            return (0, interval.end ?? .distantFuture)
        }
        return weight(self) <= weight(other)
    }
}
