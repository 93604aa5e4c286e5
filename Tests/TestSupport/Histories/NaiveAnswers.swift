extension NaiveModel {
    /// Returns every moment at which something starts or ends, in order.
    package static func moments(_ sources: [Source]) -> [Int64] {
        Set(sources.flatMap { [$0.start, $0.end].compactMap(\.self) }).sorted()
    }

    /// The sources of one entitlement, and when access begins and ends.
    package struct Timeline {
        let sources: [Source]
        package let starts: [Int64]
        package let ends: [Int64]

        init(_ sources: [Source]) {
            func isGiven(_ moment: Int64) -> Bool { sources.contains { $0.covers(moment) } }
            self.sources = sources
            // Access can only change at these moments.
            let moments = NaiveModel.moments(sources)
            starts = moments.filter { isGiven($0) && !isGiven($0 - 1) }
            ends = moments.filter { !isGiven($0) && isGiven($0 - 1) }
        }
    }

    package static func timelines(_ sources: [Source]) -> [String: Timeline] {
        let pairs = Set(sources.flatMap(\.entitlements)).map { name in
            (name, Timeline(sources.filter { $0.entitlements.contains(name) }))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    package static func answer(_ timeline: Timeline, at moment: Int64) -> Answer {
        let isActive = timeline.sources.contains { $0.covers(moment) }
        let begun = timeline.starts.last { $0 <= moment }
        let ahead = timeline.starts.first { $0 > moment }
        let start = isActive ? begun : ahead ?? begun
        guard var deciding = timeline.sources.first else { preconditionFailure("nothing gives it") }
        for source in timeline.sources where says(source, moreThan: deciding, at: moment) {
            deciding = source
        }
        let isOver = !isActive && ahead == nil && deciding.stateInTheEnd != "retry"
        return Answer(
            isActive: isActive, since: start ?? deciding.start,
            until: start == nil ? deciding.end : timeline.ends.first { $0 > start ?? 0 },
            state: isActive
                ? deciding.stateInside
                : deciding.isBlocked(at: moment)
                    ? "revoked" : ahead == nil ? deciding.stateInTheEnd : "upcoming",
            product: deciding.product,
            willRenew: deciding.isSubscription && !deciding.isBlocked(at: moment)
                && (isOver ? false : deciding.willRenew ?? isActive))
    }

    private static func says(_ one: Source, moreThan other: Source, at moment: Int64) -> Bool {
        func key(_ source: Source) -> [Int64] {
            let end = source.end ?? .max
            if source.covers(moment) { return [2, source.isGrace ? 0 : 1, end, source.start] }
            if source.start > moment, end > source.start { return [1, -source.start, 0, 0] }
            return [0, end, source.start, 0]
        }
        return key(other).lexicographicallyPrecedes(key(one))
    }
}
