/// Blocked purchases. A block suspends all access from the purchase and changes nothing else. The
/// store's statements therefore apply again once the block is lifted.
extension CustomerState {
    func blocking(_ rights: [Right]) -> [Right] {
        if purchases.allSatisfy(\.blocks.isEmpty) { return rights }
        return rights.flatMap { right in
            guard case .transaction(_, let place, _) = right.source else { return [right] }
            return right.parts(outside: purchases[place].blocks)
        }
    }

    /// Returns the first instant after `instant` at which a block begins or ends.
    func nextBlock(after instant: Instant) -> Instant? {
        purchases.lazy.flatMap(\.blocks).flatMap { [$0.since, $0.until].compactMap(\.self) }
            .filter { $0 > instant }.min()
    }
}

extension Right {
    /// Returns the parts of the right outside the blocks. The blocks do not overlap. There is always at least one
    /// part, which may be empty.
    fileprivate func parts(outside blocks: [Block]) -> [Right] {
        if interval.isEmpty { return [self] }
        var parts: [Right] = []
        var rest = self
        for block in blocks where rest.interval.overlaps(block.interval) {
            var head = rest
            head.cut(at: block.since, by: .block)
            guard let until = block.until, rest.interval.end.map({ until < $0 }) ?? true else {
                return parts + [head]
            }
            if !head.interval.isEmpty { parts.append(head) }
            rest.begin(at: until)
        }
        return parts + [rest]
    }
}

extension Interval {
    fileprivate func overlaps(_ other: Interval) -> Bool {
        start < other.end ?? .distantFuture && other.start < end ?? .distantFuture
    }
}
