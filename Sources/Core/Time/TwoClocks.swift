extension CustomerState {
    /// The state as known at that moment, folded from the events recorded until then. The events
    /// belong to one stream and are in order.
    package init(folding events: some Sequence<RecordedEvent>, known: Instant = .distantFuture) {
        self.init()
        for recorded in events where recorded.recordedAt <= known { apply(recorded.event) }
    }
}

extension ProjectState {
    /// The project as known at that moment, including its catalog.
    package init(folding events: some Sequence<RecordedEvent>, known: Instant = .distantFuture) {
        self.init()
        for recorded in events where recorded.recordedAt <= known {
            apply(recorded.event, recordedAt: recorded.recordedAt)
        }
    }
}
