import Core

/// The result of folding a stream's first events: its state, and the most recent causes that it carried out.
struct Fold: Sendable {
    private(set) var state: StreamState
    private(set) var causes = RecentCauses()
    /// The version of the newest state that is known to be kept beside the log.
    private(set) var keptVersion: Int64 = 0

    init(emptyFor stream: Stream) {
        state = StreamState(emptyFor: stream)
    }

    /// Starts from a state that was kept beside the log.
    init(kept state: CustomerState) {
        self.state = .customer(state)
        keptVersion = state.version
        causes = RecentCauses(after: state.version)
    }

    var version: Int64 { state.version }

    mutating func apply(_ recorded: RecordedEvent, causeDigest: [UInt8]) {
        state.apply(recorded)
        causes.add(recorded, causeDigest: causeDigest)
    }

    /// Gives the state of a project its current catalog.
    mutating func supply(_ catalog: Catalog) { state.supply(catalog) }

    /// Returns the events that carried out the cause, if the stream has carried it out and still remembers it.
    func obeyed(_ cause: Cause) -> ObeyedCause? { causes.obeyed(cause) }

    /// The state to keep beside the log, if the stream has grown enough since the last state was kept.
    var stateToKeep: CustomerState? {
        guard let customer = state.customer, !customer.lacksErasure,
            version - keptVersion >= KeptState.growth
        else { return nil }
        // A larger state is kept less often, so that the cost per event stays about the same.
        let growth = min(Int64(customer.weight / 4096), 4 * KeptState.growth)
        return version - keptVersion >= growth ? customer : nil
    }

    mutating func noteKept() { keptVersion = version }

    /// Why the stream is incomplete: it has emptied events but no erasure after them.
    var lack: LedgerError? {
        state.customer?.lacksErasure == true
            ? .unreadable("an emptied event of a customer who was not erased") : nil
    }

    /// The fold's approximate size in bytes.
    var weight: Int {
        causes.weight + (state.customer?.weight ?? 0) + (state.project?.weight ?? 0)
    }
}
