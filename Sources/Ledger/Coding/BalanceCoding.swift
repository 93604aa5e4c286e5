import Core
import JSON

extension BalanceCredited: PayloadCodable {
    var payload: JSON {
        .members([
            "currency": .id(currency), "amount": .integer(amount), "purchase": purchase.payload,
            "transaction": .id(transaction), "per_piece": .integer(perPiece),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            currency: try payload.id("currency"), amount: try payload.integer("amount"),
            purchase: try payload.part("purchase"), transaction: try payload.id("transaction"),
            perPiece: try payload.integer("per_piece"))
    }
}

extension BalanceDebited: PayloadCodable {
    var payload: JSON {
        .members([
            "currency": .id(currency), "amount": .integer(amount), "purchase": purchase.payload,
            "transaction": .id(transaction),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            currency: try payload.id("currency"), amount: try payload.integer("amount"),
            purchase: try payload.part("purchase"), transaction: try payload.id("transaction"))
    }
}

extension BalanceSpent: PayloadCodable {
    var payload: JSON {
        .members([
            "currency": .id(currency), "amount": .integer(amount), "reason": .id(reason),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            currency: try payload.id("currency"), amount: try payload.integer("amount"),
            reason: try payload.optionalID("reason"))
    }
}

extension BalanceAdjusted: PayloadCodable {
    var payload: JSON {
        .members([
            "currency": .id(currency), "amount": .integer(amount), "reason": .id(reason),
            "ticket": .id(ticket), "earned_at": .instant(earnedAt),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            currency: try payload.id("currency"), amount: try payload.integer("amount"),
            reason: try payload.id("reason"), ticket: try payload.optionalID("ticket"),
            earnedAt: try payload.optionalInstant("earned_at"))
    }
}
