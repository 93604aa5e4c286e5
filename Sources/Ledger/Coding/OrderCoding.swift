import Core
import JSON

extension OrderOpened: PayloadCodable {
    var payload: JSON {
        .members([
            "order": .id(order), "token": .string(token), "product": .id(product),
            "opened_at": .instant(openedAt), "expires": .instant(expires),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            order: try payload.id("order"), token: try payload.text("token"),
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
        case .cancelled: .members(["kind": .string(Word.cancelled.rawValue)])
        case .settled(let reason, let ticket):
            .members([
                "kind": .string(Word.settled.rawValue), "reason": .id(reason),
                "ticket": .id(ticket),
            ])
        }
    }

    init(_ payload: Payload) throws {
        switch try payload.word("kind") as Word {
        case .stale: self = .stale
        case .cancelled: self = .cancelled
        case .settled:
            self = .settled(try payload.id("reason"), ticket: try payload.optionalID("ticket"))
        }
    }
}
