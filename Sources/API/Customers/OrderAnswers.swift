package import Core
package import JSON
package import Service

extension OrderAnswer {
    /// The answer to `POST /v1/customers/{c}/orders`, `…/close` and `GET /v1/orders/{id}`.
    package var json: JSON {
        .answer(about: stream, at: position, ["order": order.json(at: at)])
    }
}

extension OrdersAnswer {
    /// The answer to `GET /v1/customers/{c}/orders`.
    package var json: JSON {
        .answer(
            about: stream, at: position,
            [
                "orders": .array(orders.map { $0.json(at: at) }),
                "next": next.map(JSON.integer) ?? .null,
            ])
    }
}

extension TokenAnswer {
    /// The answer to `PUT /v1/customers/{c}/account_token`.
    package var json: JSON {
        .answer(about: stream, at: position, ["token": .string(token.text)])
    }
}

extension Order {
    func json(at instant: Instant) -> JSON {
        [
            "id": .string(id.text), "token": .string(opened.token.text),
            "product": .optional(opened.product?.text),
            "state": .string(state(at: instant).rawValue),
            "opened_at": .instant(opened.openedAt), "expires_at": .instant(opened.expires),
            "purchase": .optional(fulfilled?.purchase.description),
            "transaction": .optional(fulfilled?.transaction.text),
            "closed_at": .instant(closed?.at),
            "reason": .optional(closed?.adminReason?.reason.text),
            "ticket": .optional(closed?.adminReason?.ticket?.text),
        ]
    }
}

extension OrderClosed {
    /// States in which an admin may close an order.
    package enum Word: String, CaseIterable, Sendable {
        case cancelled, settled

        package func cause(_ reason: AdminReason) -> Cause {
            switch self {
            case .cancelled: .cancelled(reason.reason, ticket: reason.ticket)
            case .settled: .settled(reason.reason, ticket: reason.ticket)
            }
        }
    }

    fileprivate var adminReason: AdminReason? {
        switch cause {
        case .stale: nil
        case .cancelled(let reason, let ticket), .settled(let reason, let ticket):
            AdminReason(reason: reason, ticket: ticket)
        }
    }
}
