/// All that a customer's stream says, and all that decisions about the customer need.
package struct CustomerState: Hashable, Sendable {
    /// The version of the newest event that was folded in; 0 when there is none.
    package private(set) var version: Int64 = 0
    /// In the order in which they were given.
    package private(set) var grants: [Grant] = []

    package init() {}

    package mutating func apply(_ event: Event) {
        version += 1
        switch event {
        case .grantGiven(let given):
            grants.append(Grant(given))
        case .grantRevoked(let revoked):
            guard let index = grants.firstIndex(where: { $0.id == revoked.grant }) else { return }
            grants[index].revocation = revoked
        case .projectCreated, .keyCreated, .keyRevoked:
            break
        }
    }

    package func grant(_ id: GrantID) -> Grant? {
        grants.first { $0.id == id }
    }
}

/// An entitlement that an admin gave.
package struct Grant: Hashable, Sendable {
    package let given: GrantGiven
    package internal(set) var revocation: GrantRevoked?

    package init(_ given: GrantGiven) {
        self.given = given
    }

    package var id: GrantID { given.grant }

    /// When it gives access; empty when it was revoked before it began.
    package var interval: Interval {
        let interval = Interval(start: given.start, end: given.end)
        return revocation.map { interval.cut(at: $0.at) } ?? interval
    }
}
