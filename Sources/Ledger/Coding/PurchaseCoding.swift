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
            "earlier_tokens": earlierTokens.isEmpty ? nil : .parts(earlierTokens),
            "blocks": blocks.isEmpty ? nil : .parts(blocks), "arrived": arrived?.payload,
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
            reports: try payload.parts("reports"),
            earlierTokens: try payload.parts("earlier_tokens"),
            blocks: try payload.parts("blocks"), arrived: try payload.optionalPart("arrived"))
    }
}

extension Block: PayloadCodable {
    var payload: JSON {
        .members([
            "since": .instant(since), "until": .instant(until), "reason": .id(reason),
            "ticket": .id(ticket),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            since: try payload.instant("since"), until: try payload.optionalInstant("until"),
            reason: try payload.id("reason"), ticket: try payload.optionalID("ticket"))
    }
}

extension BlockChanged: PayloadCodable {
    var payload: JSON {
        .members([
            "purchase": purchase.payload, "at": .instant(at), "reason": .id(reason),
            "ticket": .id(ticket),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            purchase: try payload.part("purchase"), at: try payload.instant("at"),
            reason: try payload.id("reason"), ticket: try payload.optionalID("ticket"))
    }
}

extension CarriedToken: PayloadCodable {
    var payload: JSON {
        .members([
            "token": .string(token.text), "first": places?.lowerBound.payload,
            "last": places?.upperBound.payload,
        ])
    }

    init(_ payload: Payload) throws {
        let first: Place? = try payload.optionalPart("first")
        let last: Place? = try payload.optionalPart("last")
        var places: ClosedRange<Place>?
        if let first, let last {
            guard first <= last else { throw Payload.Misfit(name: "last") }
            places = first...last
        }
        self.init(try AccountToken(payload), places: places)
    }
}

extension CarriedToken.Place: PayloadCodable {
    var payload: JSON {
        .members(["purchased": .instant(purchased), "transaction": .id(transaction)])
    }

    init(_ payload: Payload) throws {
        self.init(
            purchased: try payload.instant("purchased"),
            transaction: try payload.id("transaction"))
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
        case claimed, transferred, named, admin, undone, merged, unmerged
    }

    var payload: JSON {
        switch self {
        case .claimed: MoveCause.payload(.claimed)
        case .transferred: MoveCause.payload(.transferred)
        case .named(let token): MoveCause.payload(.named, token: token)
        case .admin(let reason, let ticket): MoveCause.payload(.admin, reason, ticket)
        case .undone(let reason, let ticket): MoveCause.payload(.undone, reason, ticket)
        case .merged: MoveCause.payload(.merged)
        case .unmerged: MoveCause.payload(.unmerged)
        }
    }

    private static func payload(
        _ word: Word, _ reason: Reason? = nil, _ ticket: Ticket? = nil,
        token: AccountToken? = nil
    ) -> JSON {
        .members([
            "kind": .string(word.rawValue), "reason": .id(reason), "ticket": .id(ticket),
            "token": .text(token?.text),
        ])
    }

    init(_ payload: Payload) throws {
        switch try payload.word("kind") as Word {
        case .claimed: self = .claimed
        case .transferred: self = .transferred
        case .named: self = .named(try AccountToken(payload))
        case .admin:
            self = .admin(try payload.id("reason"), ticket: try payload.optionalID("ticket"))
        case .undone:
            self = .undone(try payload.id("reason"), ticket: try payload.optionalID("ticket"))
        case .merged: self = .merged
        case .unmerged: self = .unmerged
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
