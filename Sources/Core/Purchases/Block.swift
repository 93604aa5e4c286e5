/// Support's decision that a purchase gives no access, whatever the store says.
package struct Block: Hashable, Sendable {
    package let since: Instant
    /// When the block was lifted; `nil` while it is in effect.
    package internal(set) var until: Instant?
    package let reason: Reason
    package let ticket: Ticket?

    package init(since: Instant, until: Instant? = nil, reason: Reason, ticket: Ticket?) {
        self.since = since
        self.until = until
        self.reason = reason
        self.ticket = ticket
    }

    var interval: Interval { Interval(start: since, end: until) }
}

extension [Block] {
    /// Returns the blocks of both lists in chronological order. Overlapping blocks become one, which lasts until both
    /// have ended, so that one unblock ends them.
    func joined(with others: [Block]) -> [Block] {
        if isEmpty || others.isEmpty { return self + others }
        var all: [Block] = []
        for block in (self + others).sorted(by: { $0.since < $1.since }) {
            guard let last = all.last, last.until.map({ block.since < $0 }) ?? true else {
                all.append(block)
                continue
            }
            let ends = [last.until, block.until]
            all[all.endIndex - 1].until = ends.contains(nil) ? nil : ends.compactMap(\.self).max()
        }
        return all
    }
}

extension Purchase {
    /// The block that is currently in effect.
    package var block: Block? { blocks.last.flatMap { $0.until == nil ? $0 : nil } }

    /// Returns whether a block is in effect at that instant, as currently known.
    func isBlocked(at instant: Instant) -> Bool {
        blocks.contains { $0.interval.contains(instant) }
    }
}
