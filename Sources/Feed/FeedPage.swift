package import Core

/// What a reader of a project's feed asks for.
package struct FeedQuestion: Hashable, Sendable {
    package enum Start: Hashable, Sendable {
        case beginning
        /// Where the log ends now.
        case end
        /// With the first event that was recorded then or later.
        case since(Instant)
        case cursor(FeedCursor)
        /// Behind the last position of each shard, by the shard's number.
        case place([Int64])
    }
    package static let limits: ClosedRange<Int64> = 1...1000

    package let project: ProjectID
    package let environment: Environment
    package var start = Start.beginning
    /// The most events of one answer.
    package var limit = 100
    /// `nil`: of every type.
    package var types: FeedTypes?
    /// `nil`: of all customers.
    package var customer: CustomerID?
    /// Whether the answer tells what each event changed.
    package var tellsAccess = true

    package init(_ project: ProjectID, _ environment: Environment) {
        self.project = project
        self.environment = environment
    }

    /// Whether an event may be one that is asked for, as far as that is known without what it changed.
    func mayInclude(_ stream: Stream, _ type: String) -> Bool {
        stream.project == project && stream.environment == environment
            && customer.map { $0 == stream.customer } ?? !stream.customer.isReserved
            && types?.mayInclude(type) ?? true
    }

    var needsAccess: Bool { tellsAccess || types?.dependOnAccess ?? false }
}

/// An event as the feed tells it.
package struct FeedItem: Sendable {
    /// The bytes that a change of access takes in an answer, roughly.
    package static let changeSize = 900
    package let stream: Stream
    package let position: Position
    package let version: Int64
    package let type: String
    package let record: EventRecord
    /// The exact JSON text.
    package let payload: String
    /// The first digits of the event's chain: another event at the same place has others.
    package let mark: String
    package let access: [AnswerChange]
    /// Whether what it changed cannot be told, because the customer's events cannot be read.
    package let isAccessUnknown: Bool

    /// The same for ever, and no other event's.
    package var id: String { "\(position.shard.number)-\(position.sequence)-\(mark)" }
}

/// Some events, and how the log goes on.
package struct FeedPage: Sendable {
    package internal(set) var items: [FeedItem]
    package internal(set) var next: FeedCursor
    /// Where the log ends, by the shard's number.
    let heads: [Int64]

    /// How many events of the log come after it, those of other projects included.
    package var lag: Int64 {
        zip(heads, next.place).reduce(0) { $0 + max(0, $1.0 - $1.1) }
    }

    /// Whether the log goes on after it.
    package var isMore: Bool { lag > 0 }

    /// What a reader gets of it who was further in some shards.
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
    /// A loss was accepted since the cursor was given. The other one misses nothing that counts.
    case cursorLost(restart: FeedCursor)
    /// The cursor was given for a project of this name in another database.
    case cursorOfAnotherDatabase
}
