package import Core

/// A request that a reader makes for events in a project's feed.
package struct FeedQuestion: Hashable, Sendable {
    package enum Start: Hashable, Sendable {
        case beginning
        /// Start at the current end of the log.
        case end
        /// Start at the first event recorded at this instant or later.
        case since(Instant)
        case cursor(FeedCursor)
        /// Start after these positions, by shard number.
        case place([Int64])
    }
    package static let limits: ClosedRange<Int64> = 1...1000

    package let project: ProjectID
    package let environment: Environment
    package var start = Start.beginning
    /// The maximum number of events in one answer.
    package var limit = 100
    /// `nil` for all types.
    package var types: FeedTypes?
    /// `nil` for all customers.
    package var customer: CustomerID?
    /// Whether the answer includes the changes in access that each event caused.
    package var tellsAccess = true

    package init(_ project: ProjectID, _ environment: Environment) {
        self.project = project
        self.environment = environment
    }

    /// Returns whether an event may match, judged without knowing how it changed access.
    func mayInclude(_ stream: Stream, _ type: String) -> Bool {
        stream.project == project && stream.environment == environment
            && customer.map { $0 == stream.customer } ?? !stream.customer.isReserved
            && types?.mayInclude(type) ?? true
    }

    var needsAccess: Bool { tellsAccess || types?.dependOnAccess ?? false }
}

/// An event as shown in the feed.
package struct FeedItem: Sendable {
    /// The approximate size of one change in access in an answer, in bytes.
    package static let changeSize = 900
    package let stream: Stream
    package let position: Position
    package let version: Int64
    package let type: String
    package let record: EventRecord
    /// The exact JSON text.
    package let payload: String
    /// The first digits of the event's chain hash. A different event at the same position would
    /// have different digits.
    package let mark: String
    package let access: [AnswerChange]
    /// Whether the changes are unknown because the customer's events cannot be read.
    package let isAccessUnknown: Bool
    /// The name of the key that caused the event.
    package internal(set) var actorName: String?

    /// An id that is permanent and unique to this event.
    package var id: String { "\(position.shard.number)-\(position.sequence)-\(mark)" }

    /// Returns whether an erasure at that version of the customer's stream removes the event's content.
    package func isEmptied(byErasureAt version: Int64) -> Bool {
        self.version < version && type != EventType.customerErased.name
    }

    /// The item as it is read after the event's content has been removed.
    package var emptied: FeedItem {
        FeedItem(
            stream: stream, position: position, version: version, type: type, record: record,
            payload: "", mark: mark, access: [], isAccessUnknown: false, actorName: actorName)
    }
}

/// A page of the feed's events, and the place where the log continues.
package struct FeedPage: Sendable {
    package internal(set) var items: [FeedItem]
    package internal(set) var next: FeedCursor
    /// The end of each shard, by shard number.
    let heads: [Int64]

    /// The number of events that are in the log after this page, including those of other projects.
    package var lag: Int64 {
        zip(heads, next.place).reduce(0) { $0 + max(0, $1.0 - $1.1) }
    }

    /// Whether the log continues after this page.
    package var isMore: Bool { lag > 0 }

    /// Returns the rest of the page for a reader who is already further ahead in some shards.
    func after(_ cursor: FeedCursor) -> FeedPage {
        var page = self
        let place = cursor.place
        page.items = items.filter { $0.position.sequence > place[Int($0.position.shard.number)] }
        page.next = FeedCursor(
            zip(next.place, place).map(max),
            marks: next.marks.taking(cursor.marks) { next.place[$0] < place[$0] }, turn: next.turn,
            givenAt: next.givenAt,
            origin: next.origin, losses: next.losses)
        return page
    }
}

/// Why a page cannot be returned.
package enum FeedError: Error, Sendable {
    case fault(Fault)
    /// A loss has been accepted since the cursor was issued. A reader who continues with `restart`
    /// misses none of the events that still exist.
    case cursorLost(restart: FeedCursor)
    /// The cursor was issued for a project with the same name in another database.
    case cursorOfAnotherDatabase
}
