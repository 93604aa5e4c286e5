/// An entitlement that an admin gave.
package struct Grant: Hashable, Sendable {
    package let given: GrantGiven
    /// The latest change to the grant's end.
    package internal(set) var change: GrantChanged?
    package internal(set) var revocation: GrantRevoked?
    /// When and by whom the grant was given, and who revoked it. Set once these events are recorded.
    package internal(set) var givenAt: Instant?
    package internal(set) var givenBy: Actor?
    package internal(set) var revokedBy: Actor?

    /// Creates a grant that moves from one customer to another.
    package init(
        _ given: GrantGiven, changed change: GrantChanged?, revoked revocation: GrantRevoked?,
        givenAt: Instant?, givenBy: Actor?, revokedBy: Actor?
    ) {
        self.given = given
        self.change = change
        self.revocation = revocation
        self.givenAt = givenAt
        self.givenBy = givenBy
        self.revokedBy = revokedBy
    }

    package init(_ given: GrantGiven, changed change: GrantChanged? = nil) {
        self.given = given
        self.change = change
    }

    package var id: GrantID { given.grant }

    /// Whether the grant begins only once no other source gives its entitlement.
    package var waits: Bool { given.afterCurrent != nil }

    /// When the grant ends according to its latest event; `nil` if it has no end, or if the end
    /// depends on the start.
    package var end: Instant? {
        if let change { change.end } else { given.end }
    }

    /// How long the grant lasts if it waits for other access to end; `nil` if its end does not
    /// depend on its start.
    package var length: CalendarDuration? {
        if let change { change.lasts } else { given.afterCurrent }
    }

    /// Returns the right that results from the grant if it starts at that instant. The right is empty if the grant
    /// was revoked before then.
    func right(of source: Right.Source, from start: Instant) -> Right {
        let end = length.map { min($0.end(after: start), Instant.writable.upperBound) } ?? end
        var right = Right(
            .grant, of: source, Interval(start: start, end: end.map { max(start, $0) }))
        if let revocation { right.cut(at: revocation.at, by: .revocation) }
        return right
    }
}
