import Core
import JSON

extension PurchaseID: PayloadCodable {
    var payload: JSON { .string(description) }

    init(_ payload: Payload) throws {
        guard let purchase = payload.value.string.flatMap(PurchaseID.init) else {
            throw Payload.Misfit(name: "purchase")
        }
        self = purchase
    }
}

extension PurchaseAttached: PayloadCodable {
    var payload: JSON {
        .members([
            "purchase": purchase.payload, "from": .id(from), "cause": cause.payload,
            "at": .instant(at), "transactions": .parts(transactions),
            "renewals": .parts(renewals),
            "refunds": refunds.isEmpty ? nil : .parts(refunds),
            "reports": reports.isEmpty ? nil : .parts(reports),
        ])
    }

    init(_ payload: Payload) throws {
        var facts = Facts()
        facts.transactions = try payload.parts("transactions")
        facts.renewals = try payload.parts("renewals")
        facts.refunds = try payload.parts("refunds")
        self.init(
            purchase: try payload.part("purchase"), from: try payload.id("from"),
            cause: try payload.part("cause"), at: try payload.instant("at"), facts: facts,
            reports: try payload.parts("reports"))
    }
}

extension PurchaseDetached: PayloadCodable {
    var payload: JSON {
        .members([
            "purchase": purchase.payload, "to": .id(to), "cause": cause.payload,
            "at": .instant(at),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            purchase: try payload.part("purchase"), to: try payload.id("to"),
            cause: try payload.part("cause"), at: try payload.instant("at"))
    }
}

extension MoveCause: PayloadCodable {
    private enum Word: String {
        case claimed, transferred, admin, undone
    }

    var payload: JSON {
        switch self {
        case .claimed: MoveCause.payload(.claimed)
        case .transferred: MoveCause.payload(.transferred)
        case .admin(let reason, let ticket): MoveCause.payload(.admin, reason, ticket)
        case .undone(let reason, let ticket): MoveCause.payload(.undone, reason, ticket)
        }
    }

    private static func payload(
        _ word: Word, _ reason: Reason? = nil, _ ticket: Ticket? = nil
    ) -> JSON {
        .members(["kind": .string(word.rawValue), "reason": .id(reason), "ticket": .id(ticket)])
    }

    init(_ payload: Payload) throws {
        switch try payload.word("kind") as Word {
        case .claimed: self = .claimed
        case .transferred: self = .transferred
        case .admin:
            self = .admin(try payload.id("reason"), ticket: try payload.optionalID("ticket"))
        case .undone:
            self = .undone(try payload.id("reason"), ticket: try payload.optionalID("ticket"))
        }
    }
}

extension AccountJoined: PayloadCodable {
    var payload: JSON { .members(["app_transaction": .id(account), "customer": .id(customer)]) }

    init(_ payload: Payload) throws {
        self.init(
            account: try payload.id("app_transaction"), customer: try payload.id("customer"))
    }
}
