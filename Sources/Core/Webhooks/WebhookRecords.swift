/// The project and id of a webhook. All of the webhook's data is stored under this name.
package struct WebhookName: Hashable, Sendable {
    package let project: ProjectID
    package let id: WebhookID

    package init(_ project: ProjectID, _ id: WebhookID) {
        self.project = project
        self.id = id
    }

    /// The name of the lease with which one instance sends messages for all instances.
    package var leaseName: String { "webhook \(id.text)" }
}

/// A webhook's keys and headers as stored: encrypted and outside the log.
package struct SealedWebhook: Sendable {
    package let name: WebhookName
    package let sealed: [UInt8]
    package let keyName: [UInt8]
    package let revision: Int64
    /// The version of the project's stream when the keys and headers were set.
    package let version: Int64

    package init(
        _ name: WebhookName, sealed: [UInt8], keyName: [UInt8], revision: Int64, version: Int64
    ) {
        self.name = name
        self.sealed = sealed
        self.keyName = keyName
        self.revision = revision
        self.version = version
    }
}

/// How far the delivery to a webhook has progressed.
package struct WebhookPlace: Hashable, Sendable {
    /// Everything before the cursor has been delivered, or belongs to a waiting customer.
    package var cursor: String
    /// How many resumptions have been carried out.
    package var resumptions: Int64 = 0
    /// When deliveries started to fail; `nil` while they succeed.
    package var failingSince: Instant?
    package var parkedAt: Instant?
    package var goneAt: Instant?
    /// The receiver accepts no messages before this instant.
    package var restsUntil: Instant?
    /// When the oldest undelivered event was recorded, if known.
    package var oldestAt: Instant?
    /// How many delivery attempts have been made.
    package var attempts: Int64 = 0

    package init(cursor: String) {
        self.cursor = cursor
    }
}

/// A customer whose message could not be delivered. All later messages about the customer also wait.
package struct WaitingCustomer: Hashable, Sendable {
    package let customer: CustomerID
    /// The first event that has not been delivered completely.
    package var position: Position
    package var version: Int64
    /// The first message about that event that has not been delivered.
    package var part: Int16
    package var attempts: Int64
    /// When to try again; `nil` if an admin has to resume the customer's messages.
    package var dueAt: Instant?
    package var recordedAt: Instant

    package init(
        _ customer: CustomerID, at position: Position, version: Int64, part: Int16, attempts: Int64,
        dueAt: Instant?, recordedAt: Instant
    ) {
        self.customer = customer
        self.position = position
        self.version = version
        self.part = part
        self.attempts = attempts
        self.dueAt = dueAt
        self.recordedAt = recordedAt
    }
}

/// One attempt to send a message.
package struct WebhookAttempt: Hashable, Sendable {
    /// How many bytes of the receiver's response are stored.
    package static let answerLimit = 4096
    package static let countLimit: Int64 = 10_000
    package static let lifetime: Int64 = 7 * 86_400_000

    package var number: Int64 = 0
    package let message: String
    package let type: String
    package let customer: CustomerID
    /// The number of the attempt, starting at one.
    package let attempt: Int64
    package let at: Instant
    package let milliseconds: Int64
    package let status: Int64?
    /// Why no status arrived, or why the status was not accepted.
    package let error: String?
    package let answer: String
    package let replay: ReplayID?

    package init(
        message: String, type: String, customer: CustomerID, attempt: Int64, at: Instant,
        milliseconds: Int64, status: Int64?, error: String?, answer: String, replay: ReplayID?,
        number: Int64 = 0
    ) {
        self.number = number
        self.message = message
        self.type = type
        self.customer = customer
        self.attempt = attempt
        self.at = at
        self.milliseconds = milliseconds
        self.status = status
        self.error = error
        self.answer = answer
        self.replay = replay
    }

    package var isDelivered: Bool {
        status.map { (200..<300).contains($0) } ?? false && error == nil
    }
}

/// Messages that an admin wants to send again.
package struct WebhookReplay: Hashable, Sendable {
    /// The maximum number of replays that may run for one webhook at the same time.
    package static let countLimit = 10
    /// How long a finished replay is kept, in milliseconds.
    package static let lifetime: Int64 = 7 * 86_400_000

    package enum Wanted: Hashable, Sendable {
        /// A single event, identified by its id in the feed.
        case event(String)
        case range(since: Instant, until: Instant, types: [String]?, customer: CustomerID?)
    }
    package let id: ReplayID
    package let wanted: Wanted
    /// Everything before the cursor has been sent; `nil` if no page has been sent yet.
    package var cursor: String?
    package var sent: Int64 = 0
    package var failed: Int64 = 0
    package var isOver = false

    package init(_ id: ReplayID, _ wanted: Wanted) {
        self.id = id
        self.wanted = wanted
    }
}

/// A webhook's progress, stored in a single step.
package struct WebhookProgress: Sendable {
    package let name: WebhookName
    package var place: WebhookPlace
    package var waiting: [WaitingCustomer] = []
    /// Customers who are no longer waiting.
    package var served: [CustomerID] = []
    package var attempts: [WebhookAttempt] = []
    /// Erased customers whose earlier attempts are deleted.
    package var forgotten: [CustomerID] = []
    package var replays: [WebhookReplay] = []
    /// Attempts older than this are deleted.
    package var attemptsSince = Instant.distantPast

    package init(_ name: WebhookName, _ place: WebhookPlace) {
        self.name = name
        self.place = place
    }
}

/// Everything known about a webhook apart from its settings.
package struct WebhookStanding: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case active
        case paused
        /// Deliveries have failed for days. An admin has to resume the webhook.
        case parked
        /// The receiver answered that the webhook's address no longer exists.
        case gone
    }
    package let place: WebhookPlace
    /// How many of the project's events follow the webhook's position in the log.
    package let lag: Int64
    package let waiting: Int64
    /// How many customers' messages have to be resumed by an admin.
    package let parked: Int64
    package let oldestAt: Instant?

    package init(
        _ place: WebhookPlace, lag: Int64, waiting: Int64, parked: Int64, oldestAt: Instant?
    ) {
        self.place = place
        self.lag = lag
        self.waiting = waiting
        self.parked = parked
        self.oldestAt = oldestAt
    }

    package func state(of webhook: Webhook) -> State {
        let isHeeded = place.resumptions == webhook.resumptions
        if webhook.isPaused { return .paused }
        if isHeeded, place.goneAt != nil { return .gone }
        if isHeeded, place.parkedAt != nil { return .parked }
        return .active
    }
}

/// The keys with which a receiver verifies requests. They are shown only once.
package struct WebhookKeys: Hashable, Sendable {
    /// `whsec_` and the bytes of the shared secret.
    package let secret: String
    /// `whpk_` and the bytes of the public key.
    package let publicKey: String

    package init(secret: String, publicKey: String) {
        self.secret = secret
        self.publicKey = publicKey
    }
}
