package import Core
package import JSON
package import Service

extension TrailAnswer {
    /// The answer to `GET /v1/trail`.
    package var json: JSON {
        [
            "project": .string(project.text),
            "entries": .array(entries.map { $0.json(actorNames) }), "next": .optional(next?.text),
        ]
    }
}

extension TrailEntry {
    package func json(_ names: [Actor: String]) -> JSON {
        let head: JSON = [
            "at": .instant(place.at), "actor": .string(actor.text),
            "actor_name": .optional(names[actor]),
        ]
        switch self {
        case .act(let act): return head.followed(by: act.json)
        case .refusal(let call): return head.followed(by: call.json)
        }
    }
}

extension RecordedAct {
    fileprivate var json: JSON {
        [
            "action": .string(type),
            "customer": stream.isOfProject ? .null : .string(stream.customer.text),
            "environment": stream.isOfProject ? .null : .string(stream.environment.rawValue),
            "reason": .optional(why.reason), "ticket": .optional(why.ticket), "refused": false,
            "code": .null, "version": .integer(version),
            "position": .string(position.description),
        ]
    }
}

extension RefusedCall {
    fileprivate var json: JSON {
        [
            "action": .string(call), "customer": .optional(customer?.text),
            "environment": .optional(environment?.rawValue), "reason": .optional(reason?.text),
            "ticket": .optional(ticket?.text), "refused": .bool(isRefused),
            "code": isRefused ? .string(code) : .null,
            "version": .null, "position": .null,
        ]
    }
}

extension TrailPlace {
    /// The place in the format of `next` and `after`.
    package var text: String {
        switch self {
        case .act(let at, let position): "\(at.milliseconds):\(position)"
        case .refusal(let at, let id): "\(at.milliseconds):r:\(id)"
        }
    }

    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let at = Int64(parts[0]) else { return nil }
        if parts[1] == "r" {
            let isPlain = parts[2].utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            guard (1...64).contains(parts[2].utf8.count), isPlain else { return nil }
            self = .refusal(Instant(milliseconds: at), id: String(parts[2]))
        } else if let position = Position("\(parts[1]):\(parts[2])") {
            self = .act(Instant(milliseconds: at), position)
        } else {
            return nil
        }
    }
}
