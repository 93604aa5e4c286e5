package import Core
package import JSON
package import Service

extension RecordedMovement {
    /// Returns the answer to `POST /v1/customers/{c}/balances/{currency}/spend` and `…/adjust`.
    package func json(of stream: Stream) -> JSON {
        let head: JSON = ["currency": .string(movement.currency.text)]
        return .answer(about: stream, at: recorded.position, head.followed(by: members))
    }

    fileprivate var members: JSON {
        [
            "version": .integer(recorded.version), "type": .string(recorded.event.type.name),
            "amount": .integer(movement.amount), "balance": .integer(balance),
            "recorded_at": .instant(recorded.recordedAt),
            "purchase": .optional(movement.purchase?.description),
            "transaction": .optional(movement.transaction?.text),
            "reason": .optional(movement.reason?.text), "ticket": .optional(movement.ticket?.text),
        ]
    }
}

extension MovementsAnswer {
    /// The answer to `GET /v1/customers/{c}/balances/{currency}/history`.
    package var json: JSON {
        .answer(
            about: stream,
            [
                "currency": .string(currency.text), "movements": .array(movements.map(\.members)),
                "next": next.map(JSON.integer) ?? .null,
            ])
    }
}
