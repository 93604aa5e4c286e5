/// The members that all events of a merge or an undo share.
package struct MergeAct: Hashable, Sendable {
    package let reason: Reason
    package let ticket: Ticket?
    package let at: Instant
    /// How many of the events that follow in the same stream belong to the same merge or undo.
    package fileprivate(set) var following: Int

    package init(reason: Reason, ticket: Ticket?, at: Instant, following: Int = 0) {
        self.reason = reason
        self.ticket = ticket
        self.at = at
        self.following = following
    }
}

/// This customer was merged into another one, who received everything that this customer had.
package struct CustomerMerged: EventContent {
    package let into: CustomerID
    /// The customer whose merge brought this one along; `nil` if this customer was merged directly.
    package let through: CustomerID?
    package fileprivate(set) var act: MergeAct
    /// The belongings that left, except purchases, each of which has its own event.
    package let left: BelongingNames
    package var subject: EventSubject { .customer }

    package init(
        into: CustomerID, through: CustomerID? = nil, _ act: MergeAct,
        left: BelongingNames = BelongingNames()
    ) {
        self.into = into
        self.through = through
        self.act = act
        self.left = left
    }
}

/// Another customer was merged into this one, with everything that customer had.
package struct CustomerJoined: EventContent {
    package let from: CustomerID
    /// The customers who had been merged into that customer before.
    package let others: [CustomerID]
    package fileprivate(set) var act: MergeAct
    /// The belongings that arrived, except purchases, each of which has its own event.
    package let belongings: Belongings
    package var subject: EventSubject { .customer }

    package init(
        from: CustomerID, others: [CustomerID] = [], _ act: MergeAct, belongings: Belongings
    ) {
        self.from = from
        self.others = others
        self.act = act
        self.belongings = belongings
    }
}

/// A merge was undone. The other customer got back everything from the merge that this customer still had.
package struct CustomerParted: EventContent {
    package let to: CustomerID
    package fileprivate(set) var act: MergeAct
    package let left: BelongingNames
    package var subject: EventSubject { .customer }

    package init(to: CustomerID, _ act: MergeAct, left: BelongingNames) {
        self.to = to
        self.act = act
        self.left = left
    }
}

/// This customer's merge was undone. The customer got back everything that the other customer still had.
package struct CustomerUnmerged: EventContent {
    package let from: CustomerID
    package fileprivate(set) var act: MergeAct
    package let belongings: Belongings
    package var subject: EventSubject { .customer }

    package init(from: CustomerID, _ act: MergeAct, belongings: Belongings) {
        self.from = from
        self.act = act
        self.belongings = belongings
    }
}

extension Event {
    /// The customer's belongings except purchases, as recorded in the stream that receives the belongings.
    package var broughtBelongings: Belongings? {
        switch self {
        case .customerJoined(let joined): joined.belongings
        case .customerUnmerged(let unmerged): unmerged.belongings
        default: nil
        }
    }

    /// When and why customers were merged or separated.
    package var mergeAct: MergeAct? {
        switch self {
        case .customerMerged(let merged): merged.act
        case .customerJoined(let joined): joined.act
        case .customerParted(let parted): parted.act
        case .customerUnmerged(let unmerged): unmerged.act
        default: nil
        }
    }

    /// Returns the same event, with the number of events that follow it in the same merge or undo.
    fileprivate func followed(by count: Int) -> Event {
        switch self {
        case .customerMerged(var merged):
            merged.act.following = count
            return .customerMerged(merged)
        case .customerJoined(var joined):
            joined.act.following = count
            return .customerJoined(joined)
        case .customerParted(var parted):
            parted.act.following = count
            return .customerParted(parted)
        case .customerUnmerged(var unmerged):
            unmerged.act.following = count
            return .customerUnmerged(unmerged)
        default: return self
        }
    }

    /// The names of the belongings that moved with a customer, in either stream.
    package var movedBelongings: BelongingNames? {
        switch self {
        case .customerMerged(let merged): merged.left
        case .customerParted(let parted): parted.left
        default: broughtBelongings?.names
        }
    }
}

extension [Event] {
    /// The events of a merge in one stream. The first event says how many follow.
    var counted: [Event] {
        guard let first else { return [] }
        return [first.followed(by: count - 1)] + dropFirst()
    }
}

extension EventType {
    static let merges: EventFamily = [
        .customerMerged: .ofCustomer(
            "customer.merged", "The customer became part of {into}", isAct: true),
        .customerJoined: .ofCustomer(
            "customer.joined", "{from} became part of this customer", isAct: true),
        .customerParted: .ofCustomer(
            "customer.parted", "{to} is no longer part of this customer", isAct: true),
        .customerUnmerged: .ofCustomer(
            "customer.unmerged", "The customer is no longer part of {from}", isAct: true),
    ]
}
