extension CustomerState {
    /// The state as it was known at that moment: folded from what was recorded by then. The events
    /// are one stream's, in order.
    package init(folding events: some Sequence<RecordedEvent>, known: Instant = .distantFuture) {
        self.init()
        for recorded in events where recorded.recordedAt <= known { apply(recorded.event) }
    }
}

extension ProjectState {
    /// The project as it was known at that moment, its catalog included.
    package init(folding events: some Sequence<RecordedEvent>, known: Instant = .distantFuture) {
        self.init()
        for recorded in events where recorded.recordedAt <= known {
            apply(recorded.event, recordedAt: recorded.recordedAt)
        }
    }
}
