extension CustomerState {
    /// Creates the state as known at an instant, folded from the events recorded until then. The events belong to one
    /// stream and are in order. Data that was erased later counts as never known.
    package init(folding events: some Sequence<RecordedEvent>, known: Instant = .distantFuture) {
        self.init()
        let erasure = events.reduce(Int64(0)) { $1.event.isErasure ? $1.version : $0 }
        for recorded in events where recorded.recordedAt <= known {
            let isKept = recorded.version >= erasure || recorded.event.isErasure
            apply(isKept ? recorded.event : .erased(recorded.event.type))
        }
    }
}

extension ProjectState {
    /// Creates the project's state, including its catalog, as known at an instant.
    package init(folding events: some Sequence<RecordedEvent>, known: Instant = .distantFuture) {
        self.init()
        for recorded in events where recorded.recordedAt <= known {
            apply(recorded.event, recordedAt: recorded.recordedAt)
        }
    }
}
