/// An event and its place in the ledger.
package struct RecordedEvent: Hashable, Sendable {
    package let stream: Stream
    package let version: Int64
    package let position: Position
    package let event: Event
    /// When the event happened, by the clock of the party that reported it.
    package let occurredAt: Instant
    /// When the event was recorded, by Deed's clock.
    package let recordedAt: Instant
    package let actor: Actor
    package let cause: String
    package let catalogVersion: Int64

    package init(
        stream: Stream, version: Int64, position: Position, event: Event, record: EventRecord
    ) {
        self.stream = stream
        self.version = version
        self.position = position
        self.event = event
        occurredAt = record.occurredAt
        recordedAt = record.recordedAt
        actor = record.actor
        cause = record.cause
        catalogVersion = record.catalogVersion
    }
}

/// The circumstances of an event: when it happened, who caused it, and why.
package struct EventRecord: Hashable, Sendable {
    package var occurredAt: Instant
    package var recordedAt: Instant
    package var actor: Actor
    package var cause: String
    package var catalogVersion: Int64

    package init(
        occurredAt: Instant, recordedAt: Instant, actor: Actor, cause: String,
        catalogVersion: Int64
    ) {
        self.occurredAt = occurredAt
        self.recordedAt = recordedAt
        self.actor = actor
        self.cause = cause
        self.catalogVersion = catalogVersion
    }
}
