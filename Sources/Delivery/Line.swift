import Core

/// One customer's new messages, or the customer's messages in one replay. They are sent one at a time.
struct Line: Hashable, Sendable {
    let customer: CustomerID
    let replay: ReplayID?
}

struct Entry: Sendable {
    enum Origin: Hashable, Sendable {
        /// A page of the feed, identified by its number.
        case page(Int)
        /// A waiting customer's backlog.
        case later
    }
    var message: WebhookMessage
    let origin: Origin
    /// Whether the event's changes cannot be determined now, so that the customer has to wait.
    var isUnreadable = false
    /// The number of attempts so far to send a replayed message.
    var tries: Int64 = 0
    /// Whether the attempt under way began before an erasure of the event's content.
    var isOutdated = false
}

/// A page of the feed with messages that are still to be sent.
struct OpenPage: Sendable {
    let number: Int
    var cursor: FeedCursor
    let replay: ReplayID?
    /// The number of messages that have neither arrived nor been abandoned.
    var left: Int
    let oldestAt: Instant?
}
