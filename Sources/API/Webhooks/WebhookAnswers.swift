import Core
package import JSON
package import Service

extension WebhookAnswer {
    /// The answer to `GET /v1/webhooks/{webhook}`.
    package var json: JSON {
        let list: JSON = [
            "id": .string(webhook.id.text), "state": .string(state.rawValue),
            "url": .string(webhook.url.text), "types": .array(webhook.types.map(JSON.string)),
            "environment": .string(webhook.environment.rawValue),
            "format": .string(webhook.format.rawValue),
            "headers": .array(webhook.headers.map(JSON.string)),
            "concurrency": .integer(webhook.concurrency),
            "rate": webhook.rate.map(JSON.integer) ?? .null,
            "description": .optional(webhook.description),
            "lag": .integer(standing?.lag ?? 0), "waiting": .integer(standing?.waiting ?? 0),
            "parked": .integer(standing?.parked ?? 0), "oldest_at": .instant(standing?.oldestAt),
        ]
        return list.with("secret", keys.map { .string($0.secret) })
            .with("public_key", keys.map { .string($0.publicKey) })
    }
}

extension DeliveriesAnswer {
    /// The answer to `GET /v1/webhooks/{webhook}/deliveries`.
    package var json: JSON {
        [
            "webhook": .string(webhook.text), "deliveries": .array(attempts.map(\.json)),
            "waiting": .array(waiting.map(\.json)), "replays": .array(replays.map(\.json)),
            "next": next.map(JSON.integer) ?? .null,
        ]
    }
}

extension WebhookAttempt {
    fileprivate var json: JSON {
        [
            "number": .integer(number), "message": .string(message), "type": .string(type),
            "customer": .string(customer.text), "attempt": .integer(attempt), "at": .instant(at),
            "milliseconds": .integer(milliseconds), "delivered": .bool(isDelivered),
            "status": status.map(JSON.integer) ?? .null, "error": .optional(error),
            "answer": .string(answer), "replay": .optional(replay?.text),
        ]
    }
}

extension WaitingCustomer {
    fileprivate var json: JSON {
        [
            "customer": .string(customer.text), "position": .string(position.description),
            "since": .instant(recordedAt), "attempts": .integer(attempts),
            "next_at": .instant(dueAt), "parked": .bool(dueAt == nil),
        ]
    }
}

extension WebhookReplay {
    fileprivate var json: JSON {
        [
            "replay": .string(id.text), "sent": .integer(sent), "failed": .integer(failed),
            "over": .bool(isOver),
        ]
    }
}

extension WebhookTest {
    /// The answer to `POST /v1/webhooks/{webhook}/test`.
    package var json: JSON {
        [
            "message": .string(message), "status": status.map { .integer($0) } ?? .null,
            "error": .optional(error), "answer": .string(answer),
            "milliseconds": .integer(milliseconds),
        ]
    }
}
