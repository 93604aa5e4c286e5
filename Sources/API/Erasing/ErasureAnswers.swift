package import Core
package import JSON
package import Service

extension ErasureLook {
    /// The answer to `POST /v1/customers/{c}/erase` without an intent.
    package var json: JSON {
        [
            "dry_run": true, "customer": .string(customer.text), "intent": .string(intent.text),
            "intent_until": .instant(intent.until),
            "environments": .array(sides.map { $0.json(besides: customer) }),
        ]
    }
}

extension ErasureLook.Side {
    /// Returns the part's members. They name the customer who owned the part, if that customer was merged into the
    /// erased one.
    fileprivate func json(besides customer: CustomerID) -> JSON {
        let other = stream.customer == customer ? nil : stream.customer
        let head = JSON.object(JSONObject()).with("customer", other.map { .string($0.text) })
        return head.followed(by: [
            "environment": .string(stream.environment.rawValue), "version": .integer(version),
            "goes": kept.json, "ending": .array(ending.map { .string($0.text) }),
            "renewing": .array(renewing.map { .string($0.description) }),
            "came_from": .array(cameFrom.map { .string($0.text) }),
        ])
    }
}

extension KeptCounts {
    package var json: JSON {
        .object(each: all) { kind, count in (kind, .integer(count)) }
    }
}

extension ErasureAnswer {
    /// The answer to `POST /v1/customers/{c}/erase` with an intent.
    package var json: JSON {
        [
            "customer": .string(customer.text),
            "erased": .array(erasures.compactMap(\.erasureJSON)), "emptied": .bool(isEmptied),
        ]
    }
}

extension ErasedAnswer {
    /// `deed customer erased`
    package var json: JSON {
        ["customer": .string(customer.text), "environments": .array(sides.map(\.json))]
    }
}

extension ErasedAnswer.Side {
    fileprivate var json: JSON {
        [
            "environment": .string(stream.environment.rawValue),
            "erased": .array(erasures.compactMap(\.erasureJSON)), "left": left.json,
            "lives_again": .bool(livesAgain),
        ]
    }
}

extension RecordedEvent {
    /// The data for repeating an erasure that a restore has lost.
    package var listedErasureJSON: JSON? {
        guard case .customerErased(let erased) = event else { return nil }
        return erasureJSON?.with("marks", .array(erased.forgotten.map { .string($0.text) }))
    }

    /// An erasure as shown in answers.
    package var erasureJSON: JSON? {
        guard case .customerErased(let erased) = event else { return nil }
        return [
            "project": .string(stream.project.text), "customer": .string(stream.customer.text),
            "environment": .string(stream.environment.rawValue), "version": .integer(version),
            "position": .string(position.description), "erased_at": .instant(recordedAt),
            "by": .string(actor.text), "reason": .string(erased.reason.text),
            "ticket": .optional(erased.ticket?.text),
            "purchases": .string(erased.treatment.rawValue),
            "forgotten": .integer(erased.forgotten.count),
            "ended": .array(erased.ended.map { .string($0.text) }),
        ]
    }
}
