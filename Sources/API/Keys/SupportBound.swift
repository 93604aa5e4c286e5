import Core
import HTTPServer
import JSON
import Service

extension Route.Access {
    /// Whether the key belongs to support staff. They cannot see prices, need a ticket, and act within limits.
    var isOfSupport: Bool { key.role == .support }
}

extension Body {
    /// Returns the reason for a change. Support staff must also give a ticket.
    func reason(of call: Call) throws(Problem) -> AdminReason {
        let reason = try adminReason()
        try call.requireTicket(reason.ticket)
        return reason
    }

    /// Returns the call's ticket, which is mandatory for support staff.
    func ticket(of call: Call) throws(Problem) -> Ticket? {
        let ticket = try ticket()
        try call.requireTicket(ticket)
        return ticket
    }
}

extension Call {
    fileprivate func requireTicket(_ ticket: Ticket?) throws(Problem) {
        if access.isOfSupport, ticket == nil { throw .noTicket }
    }

    /// Returns the wish, restricted to the limits of the key's role.
    func limited<Answer>(_ wish: Wish<Answer>) -> Wish<Answer> {
        access.isOfSupport ? wish.withinSupportLimits : wish
    }
}

extension Problem {
    fileprivate static let noTicket = Problem(
        status: 400, code: "ticket_missing",
        detail: "A support key acts with a ticket; add the support case as \"ticket\".",
        member: "ticket")
}

extension JSON {
    private static let price = "price"

    /// The same value without prices, at any depth.
    var withoutPrices: JSON {
        switch self {
        case .object(let object):
            var rest = JSONObject()
            for member in object.members where member.name != JSON.price {
                rest.append(member.name, member.value.withoutPrices)
            }
            return .object(rest)
        case .array(let elements): return .array(elements.map(\.withoutPrices))
        default: return self
        }
    }

    /// Returns an event's payload without prices. Leaves out a payload that was damaged in the database, because it
    /// might contain a price anywhere.
    static func payloadWithoutPrices(_ text: String) -> JSON? {
        (try? JSON.read(text))?.withoutPrices
    }
}
