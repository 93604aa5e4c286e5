/// A request, with its sender, its reason, and the data needed to decide it.
///
/// A command belongs to one stream, which records its cause as carried out. The command names the purchases and
/// tokens that identify other customers concerned. One commit writes either all of these streams or none.
package struct Command: Sendable {
    package typealias Decide = @Sendable (borrowing Situation) throws(Refusal) -> Decision

    package let stream: Stream
    package let actor: Actor
    package let cause: Cause
    /// Further causes that the same idempotency key gives. If the stream has already carried out one of them, it must
    /// have been for this call, and not before an erasure.
    package var akin: [Cause]
    /// The purchases whose holders the decision needs.
    package var purchases: [HeldPurchase] = []
    /// The account tokens whose owners the decision needs.
    package var tokens: [String] = []
    /// The account tokens whose waiting purchases the decision needs.
    package var claimedTokens: [String] = []
    /// Further customers in the command's project and environment whose states the decision needs.
    package var customers: [CustomerID] = []
    /// The members of `customers` that dry runs and version checks leave out.
    package var bystanders: Set<CustomerID> = []
    /// Customers in the other environment whose states the decision needs.
    package var customersElsewhere: [CustomerID] = []
    /// Whether the command moves everything that its customers have, in both environments. The decision then also
    /// needs the holders of all their purchases, and the customers who were merged into them.
    package var movesWhole = false
    /// Whether the decision needs the customer's credits that are waiting for a product.
    package var settlesCredits = false
    /// The evidence on which the decision is based. It is stored in the same commit.
    package var evidence: [EvidenceRecord] = []
    /// Whether the command is a dry run, whose results are reported but not recorded.
    package internal(set) var isRehearsal = false
    package internal(set) var decide: Decide

    /// Creates a command. `concernsMerged` says whether the command may also be decided for customers who were merged
    /// into another one.
    package init(
        stream: Stream, actor: Actor, cause: Cause, concernsMerged: Bool = false,
        decide: @escaping Decide
    ) {
        self.stream = stream
        self.actor = actor
        self.cause = cause
        akin = cause.isOfWholeCall ? [cause.ofPiece(0)] : []
        self.decide = { situation throws(Refusal) in
            if !concernsMerged { try situation.requireUnmerged(stream.customer) }
            let decision = try decide(situation)
            if !concernsMerged { try situation.requireUnmerged(decision) }
            try situation.requireProperForm(of: decision)
            return decision
        }
    }

    /// Returns a command that concerns a single customer. If a name is given, it must appear in the
    /// project's catalog or in the customer's past.
    package static func customer(
        _ stream: Stream, actor: Actor, cause: Cause, naming name: CatalogName? = nil,
        concernsMerged: Bool = false,
        decide:
            @escaping @Sendable (CustomerState, Catalog, _ now: Instant) throws(Refusal) ->
            [Event]
    ) -> Command {
        Command(
            stream: stream, actor: actor, cause: cause, concernsMerged: concernsMerged
        ) { situation throws(Refusal) in
            let customer = situation.customer(stream.customer)
            if let name { try situation.require(name, for: stream.customer) }
            let events = try decide(customer, situation.project.catalog, situation.now)
            return Decision(events, for: stream.customer)
        }
    }

    /// Returns a command about a project itself.
    package static func project(
        _ project: ProjectID, actor: Actor, cause: Cause,
        decide: @escaping @Sendable (ProjectState, Instant) throws(Refusal) -> [Event]
    ) -> Command {
        let stream = Stream.ofProject(project)
        return Command(stream: stream, actor: actor, cause: cause) { situation throws(Refusal) in
            Decision(try decide(situation.project, situation.now), for: stream.customer)
        }
    }
}

/// A purchase and its app. Finding the purchase's holder requires both.
package struct HeldPurchase: Hashable, Sendable {
    package let app: AppID
    package let purchase: PurchaseID

    package init(app: AppID, purchase: PurchaseID) {
        self.app = app
        self.purchase = purchase
    }
}

/// The cause of events. A stream carries out each cause only once, even if the command arrives again.
package struct Cause: Hashable, Sendable {
    package static let lengthLimit = 300

    /// `key:<idempotency key>`, `piece:<index>:key:<idempotency key>`, `command:<random>` or `evidence:<digest>`.
    package let text: String
    /// 32 bytes that distinguish commands with the same cause.
    package let digest: [UInt8]

    package init(text: String, digest: [UInt8]) {
        self.text = text
        self.digest = digest
    }

    /// The cause of upkeep commands. Their events, if any, have other causes.
    package static let upkeep = Cause(text: "upkeep", digest: [])

    package var isUpkeep: Bool { text == Cause.upkeep.text }

    /// Returns the cause of what a call does with its piece of evidence at that index.
    package func ofPiece(_ index: Int) -> Cause {
        Cause(text: "\(Cause.piecePrefix)\(index):\(text)", digest: digest)
    }

    private static let keyPrefix = "key:"
    private static let piecePrefix = "piece:"

    /// Whether the cause is the idempotency key of a whole call.
    fileprivate var isOfWholeCall: Bool { text.hasPrefix(Cause.keyPrefix) }

    /// Returns whether the cause contains a caller's idempotency key, which identifies a single call.
    package static func isOfCaller(_ text: String) -> Bool {
        text.hasPrefix(keyPrefix) || text.hasPrefix(piecePrefix)
    }
}

/// The state of a customer's or a project's stream.
package enum StreamState: Hashable, Sendable {
    case customer(CustomerState)
    case project(ProjectState)

    /// Creates the state of a stream without events.
    package init(emptyFor stream: Stream) {
        self = stream.isOfProject ? .project(ProjectState()) : .customer(CustomerState())
    }

    package var version: Int64 {
        switch self {
        case .customer(let state): state.version
        case .project(let state): state.version
        }
    }

    /// The customer, if the stream belongs to a customer.
    package var customer: CustomerState? {
        if case .customer(let state) = self { state } else { nil }
    }

    /// The project, if this is the project's own stream.
    package var project: ProjectState? {
        if case .project(let state) = self { state } else { nil }
    }

    /// The project's current edition, if its catalog is not in memory.
    package var lackedEdition: CatalogEdition? { project?.lackedEdition }

    /// Gives a project's state its current catalog.
    package mutating func supply(_ catalog: Catalog) {
        guard case .project(var state) = self else { return }
        self = .customer(CustomerState())
        state.supply(catalog)
        self = .project(state)
    }

    package mutating func apply(_ recorded: RecordedEvent) {
        // Releasing the state first avoids copying its contents.
        switch self {
        case .customer(var state):
            self = .project(ProjectState())
            state.apply(recorded)
            self = .customer(state)
        case .project(var state):
            self = .customer(CustomerState())
            state.apply(
                recorded.event, recordedAt: recorded.recordedAt, occurredAt: recorded.occurredAt)
            self = .project(state)
        }
    }
}

/// A customer and the customer's project, at one position in the log.
package struct CustomerSnapshot: Sendable {
    package let customer: CustomerState
    package let project: ProjectState
    /// The position in the customer's shard up to which the state is current.
    package let position: Position

    package init(customer: CustomerState, project: ProjectState, position: Position) {
        self.customer = customer
        self.project = project
        self.position = position
    }
}

/// The result of a command.
package struct Outcome: Sendable {
    /// The events of this command, or of an earlier command with the same cause.
    package let events: [RecordedEvent]
    /// The stream's state after the command.
    package let state: StreamState
    package let project: ProjectState
    /// A position in the log that covers all of the command's events.
    package let position: Position
    /// The result of each item in a submission; empty if an earlier command had the same cause.
    package let items: [ItemOutcome]
    /// Whether an earlier command with the same cause has already done all of the work.
    package let isRepetition: Bool
    /// The changes that the command would have made; `nil` unless the command was a dry run.
    package var rehearsal: Rehearsal?

    package init(
        events: [RecordedEvent], state: StreamState, project: ProjectState, position: Position,
        items: [ItemOutcome] = [], isRepetition: Bool = false
    ) {
        self.events = events
        self.state = state
        self.project = project
        self.position = position
        self.items = items
        self.isRepetition = isRepetition
    }
}

/// An event together with the text that the log stores for it.
package struct LogEntry: Hashable, Sendable {
    package let recorded: RecordedEvent
    package let type: String
    /// The exact JSON text. The text is empty if the customer has since been erased.
    package let payload: String

    package var isErased: Bool { payload.isEmpty }

    package init(recorded: RecordedEvent, type: String, payload: String) {
        self.recorded = recorded
        self.type = type
        self.payload = payload
    }
}

/// Something is broken or overloaded. A retry may succeed.
package enum Fault: Trouble, Error, Hashable, Sendable {
    /// A queue is full, or the database is slow.
    case busy
    /// The database cannot be reached. It is unknown whether a command was carried out.
    case unavailable
    /// The database responds but cannot be used normally. It is unknown whether a command was
    /// carried out.
    case impeded(Impediment)
    /// Another instance has taken over this instance's work.
    case leaseLost
    /// An event beyond the shard's head occupies the position of the next event.
    case logBlocked
    /// No event supports a row, so the row cannot be used for a decision. The sentence is for operators.
    case rowUnproven(String)
    /// This program cannot read a row or a stream's events. Other streams are not affected.
    case unreadable(Unreadable)
    /// Something happened that should never happen. The sentence is for operators.
    case broken(String)

    /// Whether all other operations would currently fail too.
    package var isOfWholeDatabase: Bool {
        switch self {
        case .unavailable, .impeded, .leaseLost: true
        case .busy, .logBlocked, .rowUnproven, .unreadable, .broken: false
        }
    }

    /// The problem, for operators.
    package var sentence: String {
        switch self {
        case .busy: "The database is busy; try again."
        case .unavailable:
            "The database cannot be reached; check that it is running, and try again."
        case .impeded(let impediment): impediment.sentence
        case .leaseLost:
            "Another instance has taken over this work, because this instance could not renew its "
                + "lease; the next run continues where this one stopped."
        case .logBlocked:
            "An event lies beyond its shard's head, where the next event belongs: something "
                + "other than Deed wrote it."
        case .rowUnproven(let sentence): sentence
        case .unreadable(let what): what.sentence
        case .broken(let sentence): sentence
        }
    }

    package var remedy: Remedy? {
        switch self {
        case .impeded(let impediment): impediment.remedy
        case .logBlocked: .moveEventAside
        case .rowUnproven: .repairRows
        case .unreadable(let what): what.remedy
        case .busy, .unavailable, .leaseLost, .broken: nil
        }
    }
}

/// Data that this program cannot read.
package struct Unreadable: Trouble, Hashable, Sendable {
    package let what: String
    /// Whether a newer program wrote the data. If not, the data is damaged.
    package let needsNewer: Bool

    package init(_ what: String, needsNewer: Bool) {
        self.what = what
        self.needsNewer = needsNewer
    }

    package var sentence: String {
        needsNewer
            ? "A newer release of Deed wrote something that this release cannot read (\(what)); install "
                + "that release, or a newer one."
            : "The database contains something that cannot be read (\(what)), so it is damaged."
    }

    package var remedy: Remedy? { needsNewer ? nil : .inspectRows }
}

/// Why a command was not carried out.
package enum CommandError: Error, Hashable, Sendable {
    case refused(Refusal)
    case fault(Fault)
}
