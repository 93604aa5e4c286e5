package import Core
package import JSON
package import Service

extension RecordedMovement {
    /// `POST /v1/customers/{c}/balances/{currency}/spend` and `…/adjust`
    package func json(of stream: Stream) -> JSON {
        var object = JSONObject()
        object.append("customer", .string(stream.customer.text))
        object.append("environment", .string(stream.environment.rawValue))
        object.append("position", .string(recorded.position.description))
        object.append("currency", .string(movement.currency.text))
        for member in members.members { object.append(member.name, member.value) }
        return .object(object)
    }

    fileprivate var members: JSONObject {
        var object = JSONObject()
        object.append("version", .integer(recorded.version))
        object.append("type", .string(recorded.event.typeName))
        object.append("amount", .integer(movement.amount))
        object.append("balance", .integer(balance))
        object.append("recorded_at", .instant(recorded.recordedAt))
        object.append("purchase", .optional(movement.purchase?.description))
        object.append("transaction", .optional(movement.transaction?.text))
        object.append("reason", .optional(movement.reason?.text))
        object.append("ticket", .optional(movement.ticket?.text))
        return object
    }
}

extension MovementsAnswer {
    /// `GET /v1/customers/{c}/balances/{currency}/history`
    package var json: JSON {
        [
            "customer": .string(stream.customer.text),
            "environment": .string(stream.environment.rawValue),
            "currency": .string(currency.text),
            "movements": .array(movements.map { .object($0.members) }),
            "next": next.map(JSON.integer) ?? .null,
        ]
    }
}
