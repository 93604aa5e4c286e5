import Core
import JSON

extension RefundFact: PayloadCodable {
    var payload: JSON {
        var reason: RefundReason?
        if case .requested(let told) = stage { reason = told }
        return .members([
            "id": .id(id), "store": .string(store.rawValue),
            "environment": .string(environment.rawValue), "app": .id(app),
            "original": .id(original), "transaction": .id(transaction),
            "declined": .flag(stage == .declined), "reason": reason?.payload,
            "signed_at": .instant(signedAt), "rank": .string(rank.word),
        ])
    }

    init(_ payload: Payload) throws {
        let reason: RefundReason? = try payload.optionalPart("reason")
        self.init(
            try payload.id("id"),
            try payload.flag("declined") ? .declined : .requested(reason),
            app: try payload.id("app"), store: try payload.word("store"),
            environment: try payload.word("environment"), original: try payload.id("original"),
            transaction: try payload.id("transaction"),
            signedAt: try payload.instant("signed_at"), rank: try Rank(payload))
    }
}

extension ConsentFact: PayloadCodable {
    var payload: JSON {
        .members([
            "id": .id(id), "store": .string(store.rawValue),
            "environment": .string(environment.rawValue), "app": .id(app),
            "app_transaction": .id(appTransaction), "signed_at": .instant(signedAt),
            "rank": .string(rank.word),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            try payload.id("id"), store: try payload.word("store"),
            environment: try payload.word("environment"), app: try payload.id("app"),
            appTransaction: try payload.id("app_transaction"),
            signedAt: try payload.instant("signed_at"), rank: try Rank(payload))
    }
}

extension RefundReason: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("unintended_purchase", .unintendedPurchase), ("fulfillment_issue", .fulfillmentIssue),
        ("unsatisfied", .unsatisfied), ("legal", .legal), ("other", .other),
    ]

    var unknown: StoreWord? {
        if case .unknown(let word) = self { word } else { nil }
    }
}
