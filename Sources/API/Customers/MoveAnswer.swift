import Core
package import JSON
package import Service

extension MoveAnswer {
    /// The answer to `POST /v1/customers/{c}/purchases/{p}/transfer` and `…/undo_transfer`.
    package var json: JSON {
        [
            "purchase": .string(moved.purchase.description),
            "environment": .string(stream.environment.rawValue),
            "from": .string(stream.customer.text), "to": .string(moved.to.text),
            "position": .string(position.description), "moved_at": .instant(moved.at),
            "reason": .optional(moved.cause.adminReason?.reason.text),
            "ticket": .optional(moved.cause.adminReason?.ticket?.text),
        ]
    }
}

extension AttachAnswer {
    /// The answer to `POST /v1/unclaimed/{p}/attach`.
    package var json: JSON {
        [
            "purchase": .string(attached.purchase.description),
            "environment": .string(stream.environment.rawValue),
            "customer": .string(stream.customer.text),
            "position": .string(position.description), "attached_at": .instant(attached.at),
            "reason": .optional(attached.cause.adminReason?.reason.text),
            "ticket": .optional(attached.cause.adminReason?.ticket?.text),
        ]
    }
}

extension BlockAnswer {
    /// The answer to `POST /v1/customers/{c}/purchases/{p}/block` and `…/unblock`.
    package var json: JSON {
        .answer(
            about: stream, at: position,
            [
                "purchase": .string(change.purchase.description), "blocked": .bool(isBlocked),
                "at": .instant(change.at), "reason": .string(change.reason.text),
                "ticket": .optional(change.ticket?.text),
            ])
    }
}

extension MoveCause {
    fileprivate var adminReason: AdminReason? {
        switch self {
        case .claimed, .transferred, .named, .merged, .unmerged: nil
        case .admin(let reason, let ticket), .undone(let reason, let ticket):
            AdminReason(reason: reason, ticket: ticket)
        }
    }
}
