/// What readers were told about one customer's access, up to a version of the stream.
///
/// Each event is told with what changed since the previous one. A merge is told with its last
/// event. All changes from the first event on add up to what reads answer at the last.
package struct ToldAccess: Sendable {
    private var state = CustomerState()
    /// When the last event affected access, and the catalog of that time.
    private var moment = Instant.distantPast
    private var catalog: WantedCatalog?
    /// The answers at the last event, if known.
    private var answers: [Entitlement]? = []
    /// A merge that is told with its last event, while events of it are missing.
    private var merging: Merging?

    /// A merge counts as one change although each purchase has its own event. Otherwise, each of
    /// many purchases would cost an answer about all of them.
    private struct Merging {
        let before: Before
        var missing: Int
    }

    /// What reads answered before the merge.
    private enum Before {
        case answers([Entitlement])
        case state(CustomerState, at: Instant, WantedCatalog?)
    }

    package init() {}

    package var version: Int64 { state.version }

    /// Roughly how many bytes it takes in memory.
    package var weight: Int {
        var weight = 100 + state.weight + 400 * (answers?.count ?? 0)
        if case .state(let before, _, _) = merging?.before { weight += before.weight }
        return weight
    }

    /// Takes in an event without determining its changes.
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

    /// Takes in an event and determines what it changed.
    package mutating func tell<Failure: Error>(
        _ recorded: RecordedEvent, _ catalogs: (WantedCatalog) throws(Failure) -> Catalog
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
        since before: [Entitlement], _ catalogs: (WantedCatalog) throws(Failure) -> Catalog
    ) throws(Failure) -> [AnswerChange] {
        let after = try ToldAccess.answer(state, at: moment, catalog, catalogs)
        answers = after
        return AnswerChange.all(from: before, to: after)
    }

    /// An erasure names what it ended. The events that it emptied have no changes to tell.
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
        _ catalogs: (WantedCatalog) throws(Failure) -> Catalog
    ) throws(Failure) -> [Entitlement] {
        guard let catalog else { return [] }
        return state.entitlements(at: moment, catalog: try catalogs(catalog)).all
    }
}

extension RecordedEvent {
    /// When the event affects access: a boundary when it is passed, whenever it is published; any
    /// other event when it is recorded.
    package var momentOfAccess: Instant {
        event.notice.map { min($0.at, recordedAt) } ?? recordedAt
    }
}

/// What was told of a customer so far, and the version to continue to.
package struct PartlyTold: Sendable {
    package let stream: Stream
    package let told: ToldAccess
    package let end: Int64

    package init(_ stream: Stream, _ told: ToldAccess, through end: Int64) {
        self.stream = stream
        self.told = told
        self.end = end
    }

    /// How many events are missing.
    package var length: Int { Int(end - told.version) }
}

/// Whose events are wanted, starting where.
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
