package import Core
import HTTPServer
package import JSON
package import Service

package enum AnswerHeader: String, CaseIterable, Sendable {
    case contentType = "Content-Type"
    case caching = "Cache-Control"
    case tag = "ETag"
    case position = "Deed-Position"
    case lag = "Deed-Lag"
    case staleness = "Deed-Stale"
    case testClock = "Deed-Test-Clock"
    case location = "Location"
    case retryAfter = "Retry-After"
    case allowedMethods = "Allow"
    case authentication = "WWW-Authenticate"
}

extension Header {
    init(_ name: AnswerHeader, _ value: String) { self.init(name.rawValue, value) }
}

extension Response {
    /// Makes caches revalidate an answer before each reuse, because access may end or be revoked at
    /// any moment. `private`, because an answer for one key may be off limits to another.
    static let askAgain = Header(.caching, "private, no-cache")

    /// Returns a JSON answer, with the log position up to which it is current.
    static func json(
        _ body: JSON, status: Int = 200, position: Position? = nil
    ) -> Response {
        var headers = [Header(.contentType, "application/json"), askAgain]
        if let position { headers.append(Header(.position, position.description)) }
        return Response(status: status, headers: headers, body: body.bytes)
    }
}

extension JSON {
    /// Returns an answer about a customer: its subject, the log position up to which it is current, and the content.
    static func answer(about stream: Stream, at position: Position? = nil, _ rest: JSON) -> JSON {
        let head: JSON = [
            "customer": .string(stream.customer.text),
            "environment": .string(stream.environment.rawValue),
        ]
        return head.with("position", position.map { .string($0.description) })
            .followed(by: rest)
    }

    static func instant(_ instant: Instant?) -> JSON { .optional(instant?.text) }
}

extension JSONMembers {
    mutating func append(_ name: JSONName, _ instant: Instant?) {
        if let instant {
            append(name) { instant.append(to: &$0) }
        } else {
            append(name, nil as String?)
        }
    }
}

/// An entitlement in an answer. An entitlement that the customer never held appears as inactive.
extension Entitlement? {
    func members(of stream: Stream) -> JSONObject {
        var object = JSONObject(capacity: 14)
        append(to: &object, in: stream)
        return object
    }

    func append(to object: inout some JSONMembers, in stream: Stream) {
        object.append(.active, self?.isActive ?? false)
        object.append(.since, self?.run.start)
        object.append(.until, self?.run.end)
        object.append(.state, self?.state.rawValue ?? "none")
        object.append(.code, self?.code ?? "0.0")
        object.append(.willRenew, self?.willRenew ?? false)
        object.append(.product, self?.product?.text)
        object.append(.kind, self?.kind?.rawValue)
        object.append(.source, self?.source.name)
        object.append(.purchase, self?.purchase?.description)
        object.append(.grant, self?.grant?.text)
        object.append(.sandbox, self?.isSandbox == true || stream.environment == .sandbox)
        object.append(.nextProduct, self?.nextProduct?.text)
        object.append(.expirationReason, self?.expirationReason?.name)
    }
}

extension ExpirationReason {
    var name: String {
        switch self {
        case .store(let intent): intent.name
        case .blocked: "blocked"
        }
    }
}

extension ExpirationIntent {
    var name: String {
        switch self {
        case .cancelled: "cancelled"
        case .billingError: "billing_error"
        case .priceIncreaseRefused: "price_increase_refused"
        case .productUnavailable: "product_unavailable"
        case .other: "other"
        case .unknown(let value): "unknown_\(value)"
        }
    }
}

extension GrantAnswer {
    package func json(of stream: Stream) -> JSON {
        let json = JSON.answer(about: stream, at: position, ["grant": grant.json(bounds)])
        if !isNew { return json }
        return json.with("changes", .bool(givenAnyway == nil))
            .with("detail", sentenceOfNoChange.map(JSON.string))
    }

    /// Why the grant changes nothing; `nil` if it changes something.
    package var sentenceOfNoChange: String? {
        guard let source = givenAnyway else { return nil }
        let origin =
            switch source {
            case .purchase(let id): "the purchase \(id)"
            case .grant(let id): "the grant \(id)"
            case .originalAppVersion(let app): "an early version of \(app)"
            }
        return
            "The grant makes no difference: \(origin) already gives \"\(grant.given.entitlement)\" for the "
            + "whole time."
    }
}

extension EventsAnswer {
    /// The answer to `GET /v1/customers/{c}/events`.
    package var json: JSON { json(hidesPrices: false) }

    func json(hidesPrices: Bool) -> JSON {
        .answer(
            about: stream,
            [
                "events": .array(entries.map { $0.json(actorNames, hidesPrices: hidesPrices) }),
                "next": next.map(JSON.integer) ?? .null,
            ])
    }
}

extension LogEntry {
    func json(_ names: [Actor: String], hidesPrices: Bool) -> JSON {
        if isErased { return members(names, .null).with("erased", true) }
        // Deed wrote the payload, so it should parse. An invalid payload is shown as text.
        return members(
            names,
            hidesPrices
                ? JSON.payloadWithoutPrices(payload) ?? .string("")
                : (try? JSON.read(payload)) ?? .string(payload))
    }

    private func members(_ names: [Actor: String], _ data: JSON) -> JSON {
        [
            "version": .integer(recorded.version),
            "position": .string(recorded.position.description),
            "type": .string(type),
            "occurred_at": .instant(recorded.occurredAt),
            "recorded_at": .instant(recorded.recordedAt),
            "actor": .string(recorded.actor.text),
            "actor_name": .optional(names[recorded.actor]),
            "cause": .string(recorded.cause),
            "catalog_version": .integer(recorded.catalogVersion),
            "data": data,
        ]
    }
}
