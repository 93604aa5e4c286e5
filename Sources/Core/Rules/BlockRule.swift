/// Blocked purchases: a block takes away what every other rule gives, as long as it holds. It changes nothing else, so
/// that all is as the store says once it is taken back.
extension CustomerState {
    func blocking(_ rights: [Right]) -> [Right] {
        if purchases.allSatisfy(\.blocks.isEmpty) { return rights }
        return rights.flatMap { right in
            guard case .transaction(_, let place, _) = right.source else { return [right] }
            return right.parts(outside: purchases[place].blocks)
        }
    }

    /// The first instant after that one at which a block begins or ends.
    func nextBlock(after instant: Instant) -> Instant? {
        purchases.lazy.flatMap(\.blocks).flatMap { [$0.since, $0.until].compactMap(\.self) }
            .filter { $0 > instant }.min()
    }
}

extension Right {
    /// What is left of it outside of the blocks, which follow each other; at least one part, maybe an empty one.
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
