import Core
import JSON

extension OrderOpened: PayloadCodable {
    var payload: JSON {
        .members([
            "order": .id(order), "token": .string(token.text), "product": .id(product),
            "opened_at": .instant(openedAt), "expires": .instant(expires),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            order: try payload.id("order"), token: try AccountToken(payload),
            product: try payload.optionalID("product"),
            openedAt: try payload.instant("opened_at"), expires: try payload.instant("expires"))
    }
}

extension OrderFulfilled: PayloadCodable {
    var payload: JSON {
        .members([
            "order": .id(order), "purchase": purchase.payload, "transaction": .id(transaction),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            order: try payload.id("order"), purchase: try payload.part("purchase"),
            transaction: try payload.id("transaction"))
    }
}

extension OrderClosed: PayloadCodable {
    var payload: JSON {
        .members(["order": .id(order), "cause": cause.payload, "at": .instant(at)])
    }

    init(_ payload: Payload) throws {
        self.init(
            order: try payload.id("order"), cause: try payload.part("cause"),
            at: try payload.instant("at"))
    }
}

extension OrderClosed.Cause: PayloadCodable {
    private enum Word: String {
        case stale, cancelled, settled
    }

    var payload: JSON {
        switch self {
        case .stale: .members(["kind": .string(Word.stale.rawValue)])
        case .cancelled(let reason, let ticket): payload(.cancelled, reason, ticket)
        case .settled(let reason, let ticket): payload(.settled, reason, ticket)
        }
    }

    private func payload(_ word: Word, _ reason: Reason, _ ticket: Ticket?) -> JSON {
        .members(["kind": .string(word.rawValue), "reason": .id(reason), "ticket": .id(ticket)])
    }

    init(_ payload: Payload) throws {
        switch try payload.word("kind") as Word {
        case .stale: self = .stale
        case .cancelled:
            self = .cancelled(try payload.id("reason"), ticket: try payload.optionalID("ticket"))
        case .settled:
            self = .settled(try payload.id("reason"), ticket: try payload.optionalID("ticket"))
        }
    }
}

extension TokenRegistered: PayloadCodable {
    var payload: JSON { .members(["token": .string(token.text)]) }

    init(_ payload: Payload) throws {
        self.init(token: try AccountToken(payload))
    }
}

extension AccountToken {
    init(_ payload: Payload) throws {
        guard let token = AccountToken(try payload.text("token")) else {
            throw Payload.Misfit(name: "token")
        }
        self = token
    }
}
