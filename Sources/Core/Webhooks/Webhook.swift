/// Where and how to send a project's events.
package struct Webhook: EventContent {
    /// The maximum number of webhooks in one project.
    package static let countLimit = 20
    /// The maximum number of fixed headers of one webhook.
    package static let headerLimit = 5
    package static let concurrencies: ClosedRange<Int64> = 1...32
    package static let rates: ClosedRange<Int64> = 1...10_000
    package static let usualConcurrency: Int64 = 4
    package static let usualTypes = ["entitlement.*"]
    package static let typeLimit = 100
    package static let descriptionLimit = 256

    /// The format of a request.
    package enum Format: String, Hashable, Sendable, CaseIterable {
        /// An object with a type, a timestamp and data, as recommended by Standard Webhooks.
        case deed
        /// The binary mode of CloudEvents over HTTP.
        case cloudevents
    }

    package let id: WebhookID
    package let environment: Environment
    package var url: WebhookURL
    /// The event types and families, named as in the feed.
    package var types: [String]
    package var format: Format
    package var concurrency: Int64
    /// The maximum number of requests per second.
    package var rate: Int64?
    package var description: String?
    /// The names of the fixed headers. Their values are stored encrypted.
    package var headers: [String]
    package var isPaused = false
    /// The number of the newest key.
    package var key: Int64 = 1
    /// How many times an admin has resumed the webhook. Resuming also restarts messages that had
    /// stopped by themselves.
    package var resumptions: Int64 = 0
    package var subject: EventSubject { .project }

    package init(
        _ id: WebhookID, _ environment: Environment, url: WebhookURL,
        types: [String] = usualTypes, format: Format = .deed,
        concurrency: Int64 = usualConcurrency, rate: Int64? = nil, description: String? = nil,
        headers: [String] = []
    ) {
        self.id = id
        self.environment = environment
        self.url = url
        self.types = types
        self.format = format
        self.concurrency = concurrency
        self.rate = rate
        self.description = description
        self.headers = headers
    }
}

package struct WebhookRemoved: EventContent {
    package let webhook: WebhookID
    package var subject: EventSubject { .project }

    package init(webhook: WebhookID) {
        self.webhook = webhook
    }
}

/// A change to a webhook. `nil` leaves a member unchanged.
package struct WebhookChange: Hashable, Sendable {
    package var url: WebhookURL?
    package var types: [String]?
    package var format: Webhook.Format?
    package var concurrency: Int64?
    package var rate: Int64??
    package var description: String??
    /// The fixed headers, which are all replaced together.
    package var headers: [WebhookHeader]?

    package init() {}

    func applied(to webhook: Webhook) -> Webhook {
        var changed = webhook
        changed.url = url ?? webhook.url
        changed.types = types ?? webhook.types
        changed.format = format ?? webhook.format
        changed.concurrency = concurrency ?? webhook.concurrency
        changed.rate = rate ?? webhook.rate
        changed.description = description ?? webhook.description
        changed.headers = headers.map { $0.map(\.name) } ?? webhook.headers
        return changed
    }
}

/// An action of an admin on a webhook, other than changing its members.
package enum WebhookAct: String, Hashable, Sendable {
    case pause
    case resume
    case rotate
}

/// A header sent with every request.
package struct WebhookHeader: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) throws(InvalidWebhook) {
        self.name = name
        self.value = value
        let lowered = name.lowercased()
        let token = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz".utf8)
        if name.isEmpty || name.utf8.count > 64 || !lowered.utf8.allSatisfy(token.contains) {
            throw InvalidWebhook(
                "has a name that HTTP does not allow, or that is longer than 64 bytes")
        }
        let isTaken =
            WebhookHeader.taken.contains(lowered)
            || ["webhook-", "ce-", "deed-", "proxy-", "sec-"].contains(where: lowered.hasPrefix)
        if isTaken {
            throw InvalidWebhook("has a name that Deed or HTTP itself sets; choose another name")
        }
        let isPlain = value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        if !isPlain || value.isEmpty || value.utf8.count > 1024 {
            throw InvalidWebhook("must have 1 to 1024 bytes of printable ASCII, in one line")
        }
    }

    private static let taken: Set<String> = [
        "connection", "content-encoding", "content-length", "content-type", "date", "expect",
        "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
    ]
}

/// What is wrong with a webhook's member, phrased to follow the member's name in a sentence.
package struct InvalidWebhook: Trouble, Error, Hashable, Sendable {
    package let sentence: String
    package let remedy: Remedy?

    package init(_ sentence: String, remedy: Remedy? = nil) {
        self.sentence = sentence
        self.remedy = remedy
    }
}

/// The addresses that webhooks may use.
package struct WebhookReach: Sendable {
    /// Whether the operator allows plain HTTP for some addresses.
    let allowsPlain: Bool
    /// Whether webhooks may use the host. Its addresses are looked up before each request.
    let allows: @Sendable (_ host: String) -> Bool

    package init(allowsPlain: Bool, allows: @escaping @Sendable (_ host: String) -> Bool) {
        self.allowsPlain = allowsPlain
        self.allows = allows
    }
}

/// A webhook's address. It uses https, or http if the operator allows that for some addresses.
package struct WebhookURL: Hashable, Sendable {
    package let text: String

    /// Reads an address from an event of the log.
    package init(recorded text: String) {
        self.text = text
    }

    package init(_ text: String, _ reach: WebhookReach) throws(InvalidWebhook) {
        let isPrintable = text.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\")
        }
        if !isPrintable || text.utf8.count > 2048 {
            throw InvalidWebhook("must be at most 2048 bytes of ASCII without spaces")
        }
        let isPlain = text.lowercased().hasPrefix("http://")
        if isPlain, !reach.allowsPlain {
            throw InvalidWebhook("begins with http://", remedy: .allowPlainAddress)
        }
        guard isPlain || text.lowercased().hasPrefix("https://") else {
            throw InvalidWebhook("must begin with https://")
        }
        if text.contains("#") {
            throw InvalidWebhook("has a fragment, which requests do not carry")
        }
        let rest = text.drop { $0 != "/" }.dropFirst(2)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        if authority.contains("@") {
            throw InvalidWebhook("contains a user name; send credentials in a fixed header")
        }
        let bracket = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let port = authority[(bracket ?? authority.startIndex)...].firstIndex(of: ":")
        let host = authority[..<(port ?? authority.endIndex)]
        if host.isEmpty || host == "[]" { throw InvalidWebhook("has no host") }
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : String(host)
        if !reach.allows(name) {
            throw InvalidWebhook(
                "has the address \(name), which is not on the public internet",
                remedy: .allowPrivateAddress)
        }
        if let port {
            let digits = authority[port...].dropFirst()
            if !digits.allSatisfy({ ("0"..."9").contains($0) }) || UInt16(digits) ?? 0 == 0 {
                throw InvalidWebhook("has an invalid port")
            }
        }
        self.text = text
    }
}
