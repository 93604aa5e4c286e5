package import Core

/// The requested events that follow a position in one shard of the log, complete and in order.
package struct Stretch: Sendable {
    package let shard: Shard
    /// The position just before the first event.
    package let start: Int64
    /// The position up to which no event is missing. It lies before `start` if the log has become shorter.
    package let end: Int64
    package let events: [LoggedEvent]
    /// Whether the stretch reached the end of the shard.
    package let isComplete: Bool

    package init(
        _ shard: Shard, after start: Int64, to end: Int64, _ events: [LoggedEvent],
        isComplete: Bool = true
    ) {
        self.shard = shard
        self.start = start
        self.end = end
        self.events = events
        self.isComplete = isComplete
    }
}

/// An event from the log, as a log reader receives it.
package struct LoggedEvent: Sendable {
    package let position: Position
    package let stream: Stream
    package let version: Int64
    package let type: String
    /// `nil` unless the reader requested the content.
    package let content: Content?

    package init(
        _ position: Position, of stream: Stream, version: Int64, type: String, content: Content?
    ) {
        self.position = position
        self.stream = stream
        self.version = version
        self.type = type
        self.content = content
    }

    /// What happened, with the time, the actor and the reason.
    package struct Content: Sendable {
        package let record: EventRecord
        /// The exact JSON text, and the number of the log format in which it is written.
        package let payload: String
        package let format: Int16
        /// The hash that links the event to all earlier ones in its shard.
        package let chain: [UInt8]
        /// Which part of the record cannot be read; `nil` if it is readable.
        package let damage: String?

        package init(
            _ record: EventRecord, payload: String, format: Int16, chain: [UInt8],
            damage: String? = nil
        ) {
            self.damage = damage
            self.record = record
            self.payload = payload
            self.format = format
            self.chain = chain
        }
    }
}

/// The events that follow the requested positions, and the end of the log.
package struct FeedLook: Sendable {
    package let stretches: [Stretch]
    /// The heads of shards with events after the requested positions.
    package let heads: [Position]

    package init(_ stretches: [Stretch], heads: [Position]) {
        self.stretches = stretches
        self.heads = heads
    }
}
