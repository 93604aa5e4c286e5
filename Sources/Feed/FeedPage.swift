package import Core

/// What a reader of a project's feed asks for.
package struct FeedQuestion: Hashable, Sendable {
    package enum Start: Hashable, Sendable {
        case beginning
        /// At the current end of the log.
        case end
        /// At the first event recorded at this instant or later.
        case since(Instant)
        case cursor(FeedCursor)
        /// After these positions, by shard number.
        case place([Int64])
    }
    package static let limits: ClosedRange<Int64> = 1...1000

    package let project: ProjectID
    package let environment: Environment
    package var start = Start.beginning
    /// The most events of one answer.
    package var limit = 100
    /// `nil` for all types.
    package var types: FeedTypes?
    /// `nil` for all customers.
    package var customer: CustomerID?
    /// Whether the answer includes what each event changed.
    package var tellsAccess = true

    package init(_ project: ProjectID, _ environment: Environment) {
        self.project = project
        self.environment = environment
    }

    /// Whether an event may match, judged without knowing what it changed.
    func mayInclude(_ stream: Stream, _ type: String) -> Bool {
        stream.project == project && stream.environment == environment
            && customer.map { $0 == stream.customer } ?? !stream.customer.isReserved
            && types?.mayInclude(type) ?? true
    }

    var needsAccess: Bool { tellsAccess || types?.dependOnAccess ?? false }
}

/// An event as the feed shows it.
package struct FeedItem: Sendable {
    /// Roughly the bytes that one change of access takes in an answer.
    package static let changeSize = 900
    package let stream: Stream
    package let position: Position
    package let version: Int64
    package let type: String
    package let record: EventRecord
    /// The exact JSON text.
    package let payload: String
    /// The first digits of the event's chain. Another event at the same place has other digits.
    package let mark: String
    package let access: [AnswerChange]
    /// Whether its changes are unknown because the customer's events cannot be read.
    package let isAccessUnknown: Bool
    /// The name of the key that caused it.
    package internal(set) var actorName: String?

    /// Never changes, and no other event has it.
    package var id: String { "\(position.shard.number)-\(position.sequence)-\(mark)" }
}

/// Some events, and where the log continues.
package struct FeedPage: Sendable {
    package internal(set) var items: [FeedItem]
    package internal(set) var next: FeedCursor
    /// Where the log ends, by the shard's number.
    let heads: [Int64]

    /// How many events of the log follow, including those of other projects.
    package var lag: Int64 {
        zip(heads, next.place).reduce(0) { $0 + max(0, $1.0 - $1.1) }
    }

    /// Whether the log continues after this page.
    package var isMore: Bool { lag > 0 }

    /// What remains of the page for a reader who was further in some shards.
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

/// Why there is no page.
package enum FeedError: Error, Sendable {
    case fault(Fault)
    /// A loss was accepted since the cursor was given. Nothing that still exists is missed with the
    /// other cursor.
    case cursorLost(restart: FeedCursor)
    /// The cursor was given for a project of this name in another database.
    case cursorOfAnotherDatabase
}
