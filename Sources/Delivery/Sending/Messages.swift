package import Core
internal import Crypto
package import Feed
internal import JSON
import Outbound

/// One message to a receiver: either an event or one of the changes that an event made.
package struct WebhookMessage: Sendable {
    package let item: FeedItem
    /// 0 for the event itself, otherwise the number of the change, counted from 1.
    package let part: Int16

    /// The message's id, which is the same for every attempt. It contains no dot.
    package var id: String { part == 0 ? item.id : "\(item.id)-\(part)" }

    package var type: String {
        part == 0 ? item.type : "entitlement.\(item.access[Int(part) - 1].kind.rawValue)"
    }

    init(_ item: FeedItem, part: Int16 = 0) {
        self.item = item
        self.part = part
    }
}

extension FeedItem {
    /// Returns the event's messages of these types, in order, or `nil` as long as the event's changes cannot be
    /// determined.
    package func messages(_ types: FeedTypes) -> [WebhookMessage]? {
        if isAccessUnknown, types.dependOnAccess { return nil }
        var messages = types.names(type) ? [WebhookMessage(self)] : []
        for (place, change) in access.enumerated() where types.include(change.kind) {
            messages.append(WebhookMessage(self, part: Int16(place + 1)))
        }
        return messages
    }
}

package struct MessageForm: Sendable {
    /// Renders an event as in the feed, with only the given change.
    package typealias Render = @Sendable (FeedItem, _ change: Int?) -> [UInt8]

    let render: Render

    package init(render: @escaping Render) {
        self.render = render
    }

    func request(
        _ message: WebhookMessage, to webhook: Webhook, of project: ProjectID,
        _ secrets: WebhookSecrets, at now: Instant
    ) -> OutboundRequest {
        let data = render(message.item, message.part == 0 ? nil : Int(message.part) - 1)
        return request(
            id: message.id, type: message.type, message.item.record.occurredAt,
            customer: message.item.stream.customer, data, to: webhook, of: project, secrets, at: now
        )
    }

    func request(
        id: String, type: String, _ moment: Instant, customer: CustomerID, _ data: [UInt8],
        to webhook: Webhook, of project: ProjectID, _ secrets: WebhookSecrets, at now: Instant
    ) -> OutboundRequest {
        var body = data
        var headers = secrets.headers.map { ($0.name, $0.value) }
        headers.append(("Content-Type", "application/json"))
        headers.append(("User-Agent", "Deed"))
        switch webhook.format {
        case .deed:
            body = Array("{\"type\":".utf8)
            JSON.write(type, to: &body)
            body += Array(",\"timestamp\":\"\(moment.text)\",\"data\":".utf8) + data
            body.append(UInt8(ascii: "}"))
        case .cloudevents:
            let source = "/\(percentCoded(project.text))/\(webhook.environment.rawValue)"
            headers += [
                ("ce-specversion", "1.0"), ("ce-id", id), ("ce-type", type), ("ce-source", source),
                ("ce-time", moment.text), ("ce-subject", percentCoded(customer.text)),
            ]
        }
        let time = String(now.milliseconds / 1000)
        headers += [
            ("webhook-id", id), ("webhook-timestamp", time),
            ("webhook-signature", secrets.signatures(id: id, time: time, body, at: now)),
        ]
        var request = OutboundRequest("POST", webhook.url.text, headers: headers, body: body)
        request.timeoutMilliseconds = 15_000
        request.firstByteMilliseconds = 15_000
        request.connectMilliseconds = 5000
        request.replyLimit = 64 << 10
        request.cutsReply = true
        request.lane = "webhook \(webhook.id.text)"
        request.places = Int(webhook.concurrency)
        return request
    }
}

/// Makes a string safe for a header by encoding everything except letters, digits and a few other
/// characters.
private func percentCoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        let isPlain =
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-._~".utf8.contains(byte)
        bytes +=
            isPlain ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension WebhookSecrets {
    /// Returns the signatures with all valid keys, newest first. Each key gives two: one with the shared secret and one
    /// with the private key.
    func signatures(id: String, time: String, _ body: [UInt8], at now: Instant) -> String {
        let signed = Array("\(id).\(time).".utf8) + body
        return signing(at: now).map { key in
            let code = SecretKey(key.secret)?.authenticate(signed).bytes ?? []
            let signature = Ed25519Key(seed: key.seed)?.sign(signed) ?? []
            return "v1,\(base64(code)) v1a,\(base64(signature))"
        }.joined(separator: " ")
    }
}
