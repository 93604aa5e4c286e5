/// One customer's access as reported to the feed's readers, up to a version of the stream.
///
/// Each event is reported with the changes since the previous one. A merge's changes are reported with
/// its last event. All changes up to an event add up to the answers that reads return at that event.
package struct ToldAccess: Sendable {
    private var state = CustomerState()
    /// When the last event that affected access took effect. `catalog` is the catalog of that time.
    private var moment = Instant.distantPast
    private var catalog: WantedCatalog?
    /// The answers at the last event, if they have been derived.
    private var answers: [Entitlement]? = []
    /// A merge whose last events have not been applied yet. Its changes are reported with its last
    /// event.
    private var merging: Merging?

    /// A merge, which counts as one change although each purchase has a separate event. Otherwise, the answer about all
    /// purchases would have to be derived again for each one.
    private struct Merging {
        let before: Before
        var missing: Int
    }

    /// The answers that reads returned before the merge.
    private enum Before {
        case answers([Entitlement])
        case state(CustomerState, at: Instant, WantedCatalog?)
    }

    package init() {}

    package var version: Int64 { state.version }

    /// The approximate memory size of this value in bytes.
    package var weight: Int {
        var weight = 100 + state.weight + 400 * (answers?.count ?? 0)
        if case .state(let before, _, _) = merging?.before { weight += before.weight }
        return weight
    }

    /// Applies an event without determining the changes that it caused.
    package mutating func pass(_ recorded: RecordedEvent) {
        take(recorded)
        if merging?.missing == 0 { merging = nil }
    }

    private mutating func take(_ recorded: RecordedEvent) {
        if let following = recorded.event.mergeAct?.following, following > 0 {
            let before = answers.map(Before.answers) ?? .state(state, at: moment, catalog)
            merging = Merging(before: before, missing: following)
        } else {
            merging?.missing -= 1
        }
        state.apply(recorded)
        moment = max(moment, recorded.momentOfAccess)
        catalog = WantedCatalog(recorded)
        answers = nil
    }

    /// Applies an event and returns the changes that it caused. `catalogs` may reduce a catalog to the parts that
    /// concern the given customer.
    package mutating func tell<Failure: Error>(
        _ recorded: RecordedEvent,
        _ catalogs: (WantedCatalog, CustomerState) throws(Failure) -> Catalog
    ) throws(Failure) -> [AnswerChange] {
        if let changes = changes(byErasureIn: recorded) { return changes }
        if merging == nil, answers == nil {
            answers = try ToldAccess.answer(state, at: moment, catalog, catalogs)
        }
        let known = answers
        take(recorded)
        guard let merging else { return try changes(since: known ?? [], catalogs) }
        if merging.missing > 0 { return [] }
        self.merging = nil
        return switch merging.before {
        case .answers(let before): try changes(since: before, catalogs)
        case .state(let state, let moment, let catalog):
            try changes(
                since: try ToldAccess.answer(state, at: moment, catalog, catalogs), catalogs)
        }
    }

    private mutating func changes<Failure: Error>(
        since before: [Entitlement],
        _ catalogs: (WantedCatalog, CustomerState) throws(Failure) -> Catalog
    ) throws(Failure) -> [AnswerChange] {
        let after = try ToldAccess.answer(state, at: moment, catalog, catalogs)
        answers = after
        return AnswerChange.all(from: before, to: after)
    }

    /// Returns the changes of an event that an erasure affects: for the erasure itself, the end of the access that it
    /// names; for the events before it, none. Returns `nil` for any other event.
    private mutating func changes(byErasureIn recorded: RecordedEvent) -> [AnswerChange]? {
        switch recorded.event {
        case .customerErased(let erased):
            pass(recorded)
            return AnswerChange.all(by: erased)
        case .erased:
            pass(recorded)
            return []
        default:
            if !state.lacksErasure { return nil }
            pass(recorded)
            return []
        }
    }

    private static func answer<Failure: Error>(
        _ state: CustomerState, at moment: Instant, _ catalog: WantedCatalog?,
        _ catalogs: (WantedCatalog, CustomerState) throws(Failure) -> Catalog
    ) throws(Failure) -> [Entitlement] {
        guard let catalog else { return [] }
        return state.entitlements(at: moment, catalog: try catalogs(catalog, state)).all
    }
}

extension RecordedEvent {
    /// When the event takes effect for access. For a boundary, this is the time of the boundary,
    /// regardless of when it is published. For any other event, it is the time of recording.
    package var momentOfAccess: Instant {
        event.notice.map { min($0.at, recordedAt) } ?? recordedAt
    }
}

/// The access already reported for a customer, and the version up to which reporting will continue.
package struct PartlyTold: Sendable {
    package let stream: Stream
    package let told: ToldAccess
    package let end: Int64

    package init(_ stream: Stream, _ told: ToldAccess, through end: Int64) {
        self.stream = stream
        self.told = told
        self.end = end
    }

    /// The number of events up to that version.
    package var length: Int { Int(end - told.version) }
}

/// A request for a customer's events after a given version.
package struct LaterEvents: Sendable {
    package let stream: Stream
    /// The version before the first wanted event.
    package let version: Int64
    /// The last wanted position in the customer's shard.
    package let end: Int64

    package init(of stream: Stream, after version: Int64, through end: Int64) {
        self.stream = stream
        self.version = version
        self.end = end
    }
}
