import Core
import JSON

extension GrantGiven: PayloadCodable {
    var payload: JSON {
        [
            "grant": .string(grant.text), "entitlement": .string(entitlement.text),
            "start": .string(start.text), "end": .optional(end?.text),
            "reason": .string(reason.text), "ticket": .optional(ticket?.text),
        ]
    }

    init(_ payload: Payload) throws {
        self.init(
            grant: try payload.id("grant"), entitlement: try payload.id("entitlement"),
            start: try payload.instant("start"), end: try payload.optionalInstant("end"),
            reason: try payload.id("reason"), ticket: try payload.optionalID("ticket"))
    }
}

extension GrantRevoked: PayloadCodable {
    var payload: JSON {
        [
            "grant": .string(grant.text), "entitlement": .string(entitlement.text),
            "at": .string(at.text), "reason": .string(reason.text),
            "ticket": .optional(ticket?.text),
        ]
    }

    init(_ payload: Payload) throws {
        self.init(
            grant: try payload.id("grant"), entitlement: try payload.id("entitlement"),
            at: try payload.instant("at"), reason: try payload.id("reason"),
            ticket: try payload.optionalID("ticket"))
    }
}

extension CustomerErased: PayloadCodable {
    var payload: JSON { .members(["reason": .id(reason), "ticket": .id(ticket)]) }

    init(_ payload: Payload) throws {
        self.init(reason: try payload.id("reason"), ticket: try payload.optionalID("ticket"))
    }
}
