/// An entitlement that an admin gave.
package struct Grant: Hashable, Sendable {
    package let given: GrantGiven
    /// What an admin said last about its end.
    package internal(set) var change: GrantChanged?
    package internal(set) var revocation: GrantRevoked?
    /// When it was given, by whom, and by whom revoked, once the log has it.
    package internal(set) var givenAt: Instant?
    package internal(set) var givenBy: Actor?
    package internal(set) var revokedBy: Actor?

    package init(_ given: GrantGiven, changed change: GrantChanged? = nil) {
        self.given = given
        self.change = change
    }

    package var id: GrantID { given.grant }

    /// Whether it begins only when nothing else gives its entitlement.
    package var waits: Bool { given.afterCurrent != nil }

    /// When it ends by what was said last; `nil` where it has no end or one that is counted from its begin.
    package var end: Instant? {
        if let change { change.end } else { given.end }
    }

    /// How long it lasts where it waits; `nil` where its end does not depend on its begin.
    package var length: CalendarDuration? {
        if let change { change.lasts } else { given.afterCurrent }
    }

    /// What it gives where it begins at that instant; empty where it was revoked before.
    func right(of source: Right.Source, from start: Instant) -> Right {
        let end = length.map { min($0.end(after: start), Instant.writable.upperBound) } ?? end
        var right = Right(
            .grant, of: source, Interval(start: start, end: end.map { max(start, $0) }))
        if let revocation { right.cut(at: revocation.at, by: .revocation) }
        return right
    }
}
