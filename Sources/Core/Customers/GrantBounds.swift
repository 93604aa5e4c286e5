/// The start and end of a grant as currently known. A revocation may still end the grant earlier.
package struct GrantBounds: Hashable, Sendable {
    /// `nil` if the grant waits for access that has no end.
    package let start: Instant?
    package let end: Instant?

    package init(start: Instant?, end: Instant?) {
        self.start = start
        self.end = end
    }
}

extension Grant {
    /// Returns the grant's bounds if it starts at that instant; `nil` if it never starts.
    package func bounds(from start: Instant?) -> GrantBounds {
        guard let start, let length else { return GrantBounds(start: start, end: end) }
        return GrantBounds(
            start: start, end: min(length.end(after: start), Instant.writable.upperBound))
    }

    /// The bounds that were expected when the grant was given or last changed.
    package var expectedBounds: GrantBounds {
        if !waits { return bounds(from: given.start) }
        if let change { return bounds(from: change.begins) }
        return bounds(from: given.outlook.begins)
    }
}

extension CustomerState {
    /// Returns the bounds of each grant as currently known, in the order in which the grants were given.
    package func grantBounds(by catalog: Catalog) -> [GrantBounds] {
        var starts: [Int: Instant] = [:]
        if grants.contains(where: \.waits) {
            for right in rights(by: catalog) {
                if case .grant(let index) = right.source { starts[index] = right.interval.start }
            }
        }
        return grants.enumerated().map { index, grant in
            grant.bounds(from: grant.waits ? starts[index] : grant.given.start)
        }
    }

    /// Returns the grant with this id, and its bounds.
    package func boundedGrant(
        _ id: GrantID, by catalog: Catalog
    ) -> (grant: Grant, bounds: GrantBounds)? {
        guard let grant = grant(id) else { return nil }
        let start = grant.waits ? interval(of: grant, by: catalog)?.start : grant.given.start
        return (grant, grant.bounds(from: start))
    }
}
