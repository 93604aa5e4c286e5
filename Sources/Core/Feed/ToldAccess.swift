/// What was told of one customer's access, up to a version of the stream.
///
/// Each event is told with what changed since the one before it. So the changes of all events, joined from the
/// first on, are what reads answer at the last.
package struct ToldAccess: Sendable {
    private var state = CustomerState()
    /// When the last event happened to access, and the catalog of that moment.
    private var moment = Instant.distantPast
    private var catalog: WantedCatalog?
    /// The answers at the last event, where they are known already.
    private var answers: [Entitlement]? = []

    package init() {}

    package var version: Int64 { state.version }

    /// The bytes that it takes in memory, roughly.
    package var weight: Int { 100 + state.weight + 400 * (answers?.count ?? 0) }

    /// Takes in an event, without telling what it changed.
    package mutating func pass(_ recorded: RecordedEvent) {
        state.apply(recorded)
        moment = max(moment, recorded.momentOfAccess)
        catalog = WantedCatalog(recorded)
        answers = nil
    }

    /// Takes in an event, and tells what it changed.
    package mutating func tell<Failure: Error>(
        _ recorded: RecordedEvent, _ catalogs: (WantedCatalog) throws(Failure) -> Catalog
    ) throws(Failure) -> [AnswerChange] {
        if let changes = changes(byErasureIn: recorded) { return changes }
        let before: [Entitlement]
        if let answers { before = answers } else { before = try answer(catalogs) }
        pass(recorded)
        let after = try answer(catalogs)
        answers = after
        return AnswerChange.all(from: before, to: after)
    }

    /// An erasure names what it ended, and of what it took out nothing is told.
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

    private func answer<Failure: Error>(
        _ catalogs: (WantedCatalog) throws(Failure) -> Catalog
    ) throws(Failure) -> [Entitlement] {
        guard let catalog else { return [] }
        return state.entitlements(at: moment, catalog: try catalogs(catalog)).all
    }
}

extension RecordedEvent {
    /// A boundary counts when it is passed, whenever that is published; all else from when it is recorded.
    package var momentOfAccess: Instant {
        event.notice.map { min($0.at, recordedAt) } ?? recordedAt
    }
}

/// What was told of a customer, and through which version it is to go on.
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

/// Whose events are wanted, and from where.
package struct LaterEvents: Sendable {
    package let stream: Stream
    /// The last one before them.
    package let version: Int64
    /// The last position in the customer's shard up to which they are wanted.
    package let end: Int64

    package init(of stream: Stream, after version: Int64, through end: Int64) {
        self.stream = stream
        self.version = version
        self.end = end
    }
}
