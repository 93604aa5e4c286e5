import Core
import JSON

extension GrantGiven: PayloadCodable {
    var payload: JSON {
        let json: JSON = [
            "grant": .string(grant.text), "entitlement": .string(entitlement.text),
            "start": .string(start.text), "end": .optional(end?.text),
            "reason": .string(reason.text), "ticket": .optional(ticket?.text),
        ]
        return json.with("after_current", .text(afterCurrent?.text))
            .with("begins", .instant(outlook.begins))
            .with("given_anyway", outlook.givenAnyway?.payload)
    }

    init(_ payload: Payload) throws {
        self.init(
            grant: try payload.id("grant"), entitlement: try payload.id("entitlement"),
            start: try payload.instant("start"), end: try payload.optionalInstant("end"),
            afterCurrent: try payload.optionalDuration("after_current"),
            reason: try payload.id("reason"), ticket: try payload.optionalID("ticket"),
            outlook: GrantOutlook(
                begins: try payload.optionalInstant("begins"),
                givenAnyway: try payload.optionalPart("given_anyway")))
    }
}

extension GrantChanged: PayloadCodable {
    var payload: JSON {
        let json: JSON = [
            "grant": .string(grant.text), "entitlement": .string(entitlement.text),
            "end": .optional(end?.text), "reason": .string(reason.text),
            "ticket": .optional(ticket?.text),
        ]
        return json.with("lasts", .text(lasts?.text)).with("begins", .instant(begins))
    }

    init(_ payload: Payload) throws {
        self.init(
            grant: try payload.id("grant"), entitlement: try payload.id("entitlement"),
            end: try payload.optionalInstant("end"),
            lasts: try payload.optionalDuration("lasts"),
            begins: try payload.optionalInstant("begins"),
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
    var payload: JSON {
        .members([
            "reason": .id(reason), "ticket": .id(ticket),
            "purchases": .string(treatment.rawValue),
            "forgotten": forgotten.isEmpty ? nil : .array(forgotten.map { .string($0.text) }),
            "ended": ended.isEmpty ? nil : .ids(ended),
            "dropped": dropped.isEmpty ? nil : .ids(dropped),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            reason: try payload.id("reason"), ticket: try payload.optionalID("ticket"),
            treatment: try payload.optionalWord("purchases") ?? .free,
            forgotten: try payload.texts("forgotten").map { text in
                guard let mark = PurchaseMark(text) else {
                    throw Payload.Misfit(name: "forgotten")
                }
                return mark
            }, ended: try payload.ids("ended"), dropped: try payload.ids("dropped"))
    }
}
