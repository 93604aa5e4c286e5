package import Core

/// Stores the signing keys and headers of webhooks.
package protocol WebhookKeeper: Sendable {
    /// Creates a webhook's first key. Returns `nil` if the call is a repetition and the key has since been replaced.
    func open(
        _ name: WebhookName, _ headers: [WebhookHeader], version: Int64, from cursor: String
    ) throws(CommandError) -> WebhookKeys?
    func set(
        _ headers: [WebhookHeader], of name: WebhookName, version: Int64
    ) throws(CommandError)
    /// Creates the key with that number. Earlier keys keep signing until the overlap, in
    /// milliseconds, ends. A webhook whose creation was interrupted starts at the cursor.
    func rotate(
        _ name: WebhookName, to number: Int64, version: Int64, from cursor: String,
        overlap: Int64, now: Instant
    ) throws(CommandError) -> WebhookKeys?
    func forget(_ name: WebhookName) throws(Fault)
    /// Returns a digest that distinguishes headers without revealing their values.
    func digest(of headers: [WebhookHeader]) throws(CommandError) -> [UInt8]
}

/// Stores the data about webhooks besides their settings.
package protocol WebhookRecords: Sendable {
    func webhookStandings(
        of project: ProjectID, _ id: WebhookID?
    ) throws(Fault) -> [WebhookID: WebhookStanding]
    func waitingCustomers(of name: WebhookName, limit: Int) throws(Fault) -> [WaitingCustomer]
    func webhookAttempts(
        of name: WebhookName, before number: Int64?, customer: CustomerID?, limit: Int
    ) throws(Fault) -> [WebhookAttempt]
    /// Returns the digest of this replay, or that of an earlier replay with the same name; `nil` if
    /// there are too many replays.
    func addReplay(
        _ replay: WebhookReplay, digest: [UInt8], of name: WebhookName, at now: Instant
    ) throws(Fault) -> [UInt8]?
    /// Returns the most recent replays, newest first.
    func recentReplays(of name: WebhookName, limit: Int) throws(Fault) -> [WebhookReplay]
}

/// Provides the messages that are sent to webhooks.
package protocol WebhookSource: Sendable {
    /// Returns the place where a webhook starts, as a cursor of the feed.
    func cursor(of project: ProjectID, at start: WebhookStart) throws(CommandError) -> String
    /// Throws unless the event is in the feed.
    func require(
        _ event: String, of project: ProjectID, _ environment: Environment
    ) throws(CommandError)
    /// Sends an example of the given type, and waits for the receiver's answer.
    func test(
        _ webhook: Webhook, of project: ProjectID, type: String
    ) throws(CommandError) -> WebhookTest
}

/// The place where a webhook starts.
package enum WebhookStart: Hashable, Sendable {
    case beginning
    case end
    case since(Instant)

    package init?(_ text: String) {
        switch text {
        case "beginning": self = .beginning
        case "end": self = .end
        default:
            guard let instant = Instant(text: text) else { return nil }
            self = .since(instant)
        }
    }

    package var text: String {
        switch self {
        case .beginning: "beginning"
        case .end: "end"
        case .since(let instant): instant.text
        }
    }
}

/// The receiver's answer to an example.
package struct WebhookTest: Hashable, Sendable {
    package let message: String
    package let status: Int?
    package let error: String?
    package let answer: String
    package let milliseconds: Int64

    package var isDelivered: Bool {
        error == nil && status.map { (200..<300).contains($0) } ?? false
    }

    package init(
        message: String, status: Int?, error: String?, answer: String, milliseconds: Int64
    ) {
        self.message = message
        self.status = status
        self.error = error
        self.answer = answer
        self.milliseconds = milliseconds
    }
}
