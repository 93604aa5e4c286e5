/// What a customer may use at one instant, and when that changes next.
package struct Entitlements: Hashable, Sendable {
    package let at: Instant
    /// Every entitlement that the customer ever held or will hold, in order of id.
    package let all: [Entitlement]
    /// The first instant after `at` at which any of them may read differently.
    package let nextChange: Instant?

    package subscript(id: EntitlementID) -> Entitlement? { all.first { $0.id == id } }

    /// The ids of those that give access.
    package var active: [EntitlementID] { all.filter(\.isActive).map(\.id) }
}

extension CustomerState {
    /// The customer's entitlements at `instant`, by everything that the stream says and by the
    /// catalog. Grants need no catalog.
    package func entitlements(at instant: Instant, catalog: Catalog) -> Entitlements {
        var tally = Tally(at: instant, of: self, catalog: catalog)
        for right in rights(by: catalog) { tally.add(right) }
        let all = tally.verdicts().map { id, verdict in
            Entitlement(id, verdict, Reading(of: verdict.deciding, in: self, at: instant, catalog))
        }
        return Entitlements(at: instant, all: all, nextChange: tally.nextChange)
    }

    /// The unbroken stretches of access to each entitlement, over all of its sources.
    package func runs(by catalog: Catalog) -> [EntitlementID: [Interval]] {
        var tally = Tally(at: .distantPast, of: self, catalog: catalog)
        for right in rights(by: catalog) { tally.add(right) }
        return tally.runs()
    }
}

/// What several rights to one entitlement come to at one instant.
struct Verdict {
    /// The run of access around the instant; else the next one, else the last.
    let run: Interval
    /// The right that says most about the access at that instant.
    let deciding: Right
}

/// Adds up rights by entitlement. Neighbouring rights from one product of one purchase are joined
/// before they are handed on, so that a long subscription costs little more than a short one.
private struct Tally {
    let instant: Instant
    let state: CustomerState
    let catalog: Catalog
    private(set) var nextChange: Instant?
    private var places: [EntitlementID: Int] = [:]
    private var rows: [(id: EntitlementID, sum: Sum)] = []
    private var pending: (unlocked: [Int], purchase: Int, product: Int, sum: Sum)?

    init(at instant: Instant, of state: CustomerState, catalog: Catalog) {
        self.instant = instant
        self.state = state
        self.catalog = catalog
    }

    mutating func add(_ right: Right) {
        switch right.source {
        case .transaction(_, _, nil):
            return
        case .transaction(_, let purchase, let product?):
            if pending?.purchase != purchase || pending?.product != product {
                flush()
                let unlocked = catalog.products[product].entitlements
                pending = (unlocked.map { row(of: $0) }, purchase, product, Sum())
            }
            pending?.sum.add(right, at: instant)
        case .app(_, let rule):
            for id in catalog.originalVersionRules[rule].entitlements { add(right, to: id) }
        case .grant(let index):
            add(right, to: state.grants[index].given.entitlement)
        }
        note(right.interval)
    }

    private mutating func add(_ right: Right, to id: EntitlementID) {
        rows[row(of: id)].sum.add(right, at: instant)
    }

    private mutating func row(of id: EntitlementID) -> Int {
        if let place = places[id] { return place }
        places[id] = rows.count
        rows.append((id, Sum()))
        return rows.count - 1
    }

    private mutating func flush() {
        guard let done = pending else { return }
        pending = nil
        for row in done.unlocked { rows[row].sum.add(done.sum, at: instant) }
    }

    private mutating func note(_ interval: Interval) {
        if interval.isEmpty { return }
        if interval.start > instant {
            nextChange = min(nextChange ?? interval.start, interval.start)
        } else if let end = interval.end, end > instant {
            nextChange = min(nextChange ?? end, end)
        }
    }

    mutating func verdicts() -> [(EntitlementID, Verdict)] {
        flush()
        return rows.sorted { $0.id < $1.id }.compactMap { row in
            row.sum.verdict(at: instant).map { (row.id, $0) }
        }
    }

    mutating func runs() -> [EntitlementID: [Interval]] {
        flush()
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.id, Interval.union($0.sum.runs)) })
    }
}

/// Rights to one thing: their runs, and the one that decides.
struct Sum {
    private(set) var runs: [Interval] = []
    private var deciding: Right?

    mutating func add(_ right: Right, at instant: Instant) {
        extend(by: right.interval)
        consider(right, at: instant)
    }

    mutating func add(_ other: Sum, at instant: Instant) {
        runs += other.runs
        if let right = other.deciding { consider(right, at: instant) }
    }

    private mutating func consider(_ right: Right, at instant: Instant) {
        if deciding.map({ right.saysMore(than: $0, at: instant) }) ?? true { deciding = right }
    }

    /// Joins the interval to the newest run where they touch; rights mostly come in their order.
    private mutating func extend(by interval: Interval) {
        if interval.isEmpty { return }
        guard let last = runs.last, last.start <= interval.start, last.reaches(interval.start)
        else {
            runs.append(interval)
            return
        }
        let end = last.end.flatMap { end in interval.end.map { max(end, $0) } }
        runs[runs.endIndex - 1] = Interval(start: last.start, end: end)
    }

    func verdict(at instant: Instant) -> Verdict? {
        guard let deciding else { return nil }
        let runs = runs.count > 1 ? Interval.union(runs) : runs
        let around = runs.first { $0.contains(instant) } ?? runs.first { $0.start > instant }
        return Verdict(run: around ?? runs.last ?? deciding.interval, deciding: deciding)
    }
}

extension Right {
    /// Whether this says more about the access at that instant than the other: what gives access
    /// over what does not, what comes next over what is past. Of two that give access, what was
    /// paid for over grace. Then the later end (of two to come: the earlier start), then the later
    /// start; among equals the first one keeps the word.
    func saysMore(than other: Right, at instant: Instant) -> Bool {
        let (mine, others) = (standing(at: instant), other.standing(at: instant))
        if mine != others { return mine > others }
        if mine == .ahead { return interval.start < other.interval.start }
        if mine == .access, (rule == .grace) != (other.rule == .grace) {
            return other.rule == .grace
        }
        let (end, otherEnd) = (interval.endOfTime, other.interval.endOfTime)
        return end == otherEnd ? interval.start > other.interval.start : end > otherEnd
    }

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

    /// Whether it still lasts at `instant`, or ends there.
    fileprivate func reaches(_ instant: Instant) -> Bool { end.map { instant <= $0 } ?? true }
}
