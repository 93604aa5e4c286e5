/// A customer's entitlements at one instant, and the time of the next change.
package struct Entitlements: Hashable, Sendable {
    package let at: Instant
    /// Every entitlement that the customer has ever held or will hold, sorted by id.
    package let all: [Entitlement]
    /// The first instant after `at` at which any entitlement may change.
    package let nextChange: Instant?

    package subscript(id: EntitlementID) -> Entitlement? { all.first { $0.id == id } }

    /// The ids of the entitlements that give access.
    package var active: [EntitlementID] { all.filter(\.isActive).map(\.id) }
}

extension CustomerState {
    /// Returns the customer's entitlements at `instant`, derived from the whole stream and the catalog. Grants do not
    /// depend on the catalog.
    package func entitlements(at instant: Instant, catalog: Catalog) -> Entitlements {
        let tally = Tally(of: rights(by: catalog), at: instant, in: self, catalog)
        let all = tally.verdicts(at: instant).map { id, verdict in
            Entitlement(
                id, verdict, RightReading(of: verdict.deciding, in: self, at: instant, catalog))
        }
        let next = [tally.nextChange, nextBlock(after: instant)].compactMap(\.self).min()
        return Entitlements(at: instant, all: all, nextChange: next)
    }

    /// Returns the unbroken runs of access to each entitlement, with all of its sources combined.
    package func runs(by catalog: Catalog) -> [EntitlementID: [Interval]] {
        Tally(of: rights(by: catalog), at: .distantPast, in: self, catalog).runs
    }
}

/// The combined result of several rights to one entitlement at one instant.
struct Verdict {
    /// The run of access that includes the instant. If no run does, the next run, or else the last one.
    let run: Interval
    /// The right that determines the answer at that instant.
    let deciding: Right
}

/// Combines rights by entitlement. Adjacent rights from the same product and purchase are merged
/// first, so that a long subscription costs little more than a short one.
private struct Tally {
    private(set) var nextChange: Instant?
    private var rows: [(id: EntitlementID, sum: Sum)] = []
    /// The row of each entitlement. Used only when there are too many rows for a linear search.
    private var places: [EntitlementID: Int] = [:]
    private static let few = 8

    init(of rights: [Right], at instant: Instant, in state: CustomerState, _ catalog: Catalog) {
        var next = rights.startIndex
        while next < rights.endIndex {
            let first = rights[next]
            var sum = Sum()
            repeat {
                sum.add(rights[next], at: instant)
                next += 1
            } while next < rights.endIndex && rights[next].isOfSameOrigin(as: first)
            add(sum, to: first.unlocked(in: state, by: catalog))
        }
    }

    private mutating func add(_ sum: Sum, to unlocked: [EntitlementID]) {
        if unlocked.isEmpty { return }
        if let change = sum.nextChange { nextChange = min(nextChange ?? change, change) }
        for id in unlocked { rows[row(of: id)].sum.add(sum) }
    }

    private mutating func row(of id: EntitlementID) -> Int {
        let isFew = rows.count < Tally.few
        if let place = isFew ? rows.firstIndex(where: { $0.id == id }) : places[id] { return place }
        rows.append((id, Sum()))
        if rows.count == Tally.few {
            for (place, row) in rows.enumerated() { places[row.id] = place }
        } else if !isFew {
            places[id] = rows.count - 1
        }
        return rows.count - 1
    }

    func verdicts(at instant: Instant) -> [(EntitlementID, Verdict)] {
        // Most customers have only one row, and sorting would take time.
        let rows = rows.count > 1 ? rows.sorted { $0.id < $1.id } : rows
        return rows.compactMap { row in row.sum.verdict(at: instant).map { (row.id, $0) } }
    }

    var runs: [EntitlementID: [Interval]] {
        Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0.sum.runs) })
    }
}

extension Right {
    /// Returns whether both rights come from the same product of the same purchase.
    fileprivate func isOfSameOrigin(as other: Right) -> Bool {
        guard case .transaction(_, let purchase, let product) = source,
            case .transaction(_, let otherPurchase, let otherProduct) = other.source
        else { return false }
        return purchase == otherPurchase && product == otherProduct
    }

    /// Returns the entitlements that this right unlocks.
    func unlocked(in state: CustomerState, by catalog: Catalog) -> [EntitlementID] {
        switch source {
        case .transaction(_, _, let product):
            product.map { catalog.products[$0].entitlements } ?? []
        case .app(_, let rule): catalog.originalVersionRules[rule].entitlements
        case .grant(let index): [state.grants[index].given.entitlement]
        }
    }
}

/// The rights to one entitlement, combined into runs, and the right that determines the answer.
struct Sum {
    private var earlierRuns: [Interval] = []
    private var newestRun: Interval?
    /// The first boundary after the given instant.
    private(set) var nextChange: Instant?
    private var deciding: (right: Right, standing: Right.Standing)?

    mutating func add(_ right: Right, at instant: Instant) {
        extend(by: right.interval)
        note(right.interval, at: instant)
        consider(right, right.standing(at: instant))
    }

    mutating func add(_ other: Sum) {
        earlierRuns += other.earlierRuns
        if let run = other.newestRun { extend(by: run) }
        if let (right, standing) = other.deciding { consider(right, standing) }
    }

    private mutating func consider(_ right: Right, _ standing: Right.Standing) {
        if let known = deciding {
            if standing < known.standing { return }
            if standing == known.standing, !right.saysMore(than: known.right, standing) { return }
        }
        deciding = (right, standing)
    }

    private mutating func note(_ interval: Interval, at instant: Instant) {
        if interval.isEmpty { return }
        if interval.start > instant {
            nextChange = min(nextChange ?? interval.start, interval.start)
        } else if let end = interval.end, end > instant {
            nextChange = min(nextChange ?? end, end)
        }
    }

    /// Merges the interval with the newest run if they touch. Rights usually arrive in order.
    private mutating func extend(by interval: Interval) {
        if interval.isEmpty { return }
        guard let newest = newestRun else {
            newestRun = interval
            return
        }
        if newest.start <= interval.start, newest.reaches(interval.start) {
            let end = newest.end.flatMap { end in interval.end.map { max(end, $0) } }
            newestRun = Interval(start: newest.start, end: end)
        } else {
            earlierRuns.append(newest)
            newestRun = interval
        }
    }

    /// The unbroken runs of access, in chronological order.
    var runs: [Interval] {
        guard let newestRun else { return [] }
        return earlierRuns.isEmpty ? [newestRun] : Interval.union(earlierRuns + [newestRun])
    }

    func verdict(at instant: Instant) -> Verdict? {
        guard let deciding = deciding?.right else { return nil }
        return Verdict(run: run(around: instant) ?? deciding.interval, deciding: deciding)
    }

    private func run(around instant: Instant) -> Interval? {
        if earlierRuns.isEmpty { return newestRun }
        let runs = runs
        return runs.first { $0.contains(instant) } ?? runs.first { $0.start > instant } ?? runs.last
    }
}

extension Right {
    /// Returns whether this right takes precedence over another one of the same standing. A paid period precedes a
    /// grace period. Otherwise the later end wins (for two upcoming rights, the earlier start), and then the later
    /// start. Among equal rights, the first one takes precedence.
    func saysMore(than other: Right, _ standing: Standing) -> Bool {
        if standing == .ahead { return interval.start < other.interval.start }
        if standing == .access, (rule == .grace) != (other.rule == .grace) {
            return other.rule == .grace
        }
        let (end, otherEnd) = (interval.endOfTime, other.interval.endOfTime)
        return end == otherEnd ? interval.start > other.interval.start : end > otherEnd
    }

    /// A right's relation to an instant. A right that gives access takes precedence over one that
    /// does not, and an upcoming right over a past one.
    enum Standing: Int, Comparable {
        case past
        case ahead
        case access

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    func standing(at instant: Instant) -> Standing {
        if interval.contains(instant) { return .access }
        return !interval.isEmpty && interval.start > instant ? .ahead : .past
    }
}

extension Interval {
    fileprivate var endOfTime: Instant { end ?? .distantFuture }

    /// Returns whether the right gives access at `instant` or ends exactly then.
    fileprivate func reaches(_ instant: Instant) -> Bool { end.map { instant <= $0 } ?? true }
}
