/// A period of time that includes its start but not its end. A period may have no end.
package struct Interval: Hashable, Sendable {
    package let start: Instant
    package let end: Instant?

    package init(start: Instant, end: Instant?) {
        self.start = start
        self.end = end
    }

    package var isEmpty: Bool { end.map { $0 <= start } ?? false }

    package func contains(_ instant: Instant) -> Bool {
        start <= instant && (end.map { instant < $0 } ?? true)
    }

    /// Returns the part before `instant`, or an empty interval at the start if `instant` is earlier.
    package func cut(at instant: Instant) -> Interval {
        Interval(start: start, end: max(start, min(end ?? instant, instant)))
    }

    /// Returns the unbroken periods that these intervals cover together, in order. Adjacent intervals are merged.
    package static func union(_ intervals: [Interval]) -> [Interval] {
        var runs: [Interval] = []
        for next in intervals.filter({ !$0.isEmpty }).sorted(by: { $0.start < $1.start }) {
            guard let last = runs.last, last.end.map({ next.start <= $0 }) ?? true else {
                runs.append(next)
                continue
            }
            let end = last.end.flatMap { lastEnd in next.end.map { max(lastEnd, $0) } }
            runs[runs.count - 1] = Interval(start: last.start, end: end)
        }
        return runs
    }
}
