import Core
import JSON

extension CustomerMerged: PayloadCodable {
    var payload: JSON {
        JSON.members(["into": .id(into), "through": .id(through)])
            .followed(by: act.payload).followed(by: left.payload)
    }

    init(_ payload: Payload) throws {
        self.init(
            into: try payload.id("into"), through: try payload.optionalID("through"),
            try MergeAct(payload), left: try BelongingNames(payload))
    }
}

extension CustomerJoined: PayloadCodable {
    var payload: JSON {
        JSON.members(["from": .id(from), "others": others.isEmpty ? nil : .ids(others)])
            .followed(by: act.payload).followed(by: belongings.payload)
    }

    init(_ payload: Payload) throws {
        self.init(
            from: try payload.id("from"), others: try payload.ids("others"),
            try MergeAct(payload), belongings: try Belongings(payload))
    }
}

extension CustomerParted: PayloadCodable {
    var payload: JSON {
        JSON.members(["to": .id(to)]).followed(by: act.payload).followed(by: left.payload)
    }

    init(_ payload: Payload) throws {
        self.init(
            to: try payload.id("to"), try MergeAct(payload), left: try BelongingNames(payload))
    }
}

extension CustomerUnmerged: PayloadCodable {
    var payload: JSON {
        JSON.members(["from": .id(from)]).followed(by: act.payload)
            .followed(by: belongings.payload)
    }

    init(_ payload: Payload) throws {
        self.init(
            from: try payload.id("from"), try MergeAct(payload),
            belongings: try Belongings(payload))
    }
}

extension MergeAct: PayloadCodable {
    var payload: JSON {
        .members([
            "reason": .id(reason), "ticket": .id(ticket), "at": .instant(at),
            "following": following == 0 ? nil : .integer(Int64(following)),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            reason: try payload.id("reason"), ticket: try payload.optionalID("ticket"),
            at: try payload.instant("at"),
            following: Int(try payload.optionalInteger("following") ?? 0))
    }
}

/// Member names that the events above share.
private enum Name {
    static let (grants, orders, tokens) = ("grants", "orders", "tokens")
    static let (balances, consents) = ("balances", "consents")
}

extension BelongingNames: PayloadCodable {
    var payload: JSON {
        .members([
            "grants": grants.isEmpty ? nil : .ids(grants),
            "orders": orders.isEmpty ? nil : .ids(orders),
            "tokens": tokens.isEmpty ? nil : .array(tokens.map { .string($0.text) }),
            "balances": balances.isEmpty ? nil : .amounts(balances),
            "consents": consents.isEmpty ? nil : .ids(consents),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            grants: try payload.ids(Name.grants), orders: try payload.ids(Name.orders),
            tokens: try payload.tokens(Name.tokens), balances: try payload.amounts(Name.balances),
            consents: try payload.ids(Name.consents))
    }
}

extension Belongings: PayloadCodable {
    var payload: JSON {
        .members([
            "grants": grants.isEmpty ? nil : .parts(grants),
            "orders": orders.isEmpty ? nil : .parts(orders),
            "tokens": tokens.isEmpty ? nil : .array(tokens.map { .string($0.text) }),
            "balances": coins.amounts.isEmpty ? nil : .amounts(coins.amounts),
            "credits": coins.credits.isEmpty ? nil : .parts(KeptCredit.all(of: coins)),
            "earned": coins.earnings.isEmpty ? nil : .parts(KeptEarning.all(of: coins)),
            "apps": apps.isEmpty ? nil : .parts(apps),
            "accounts": accounts.isEmpty ? nil : .ids(accounts),
            "consents": consents.isEmpty ? nil : .parts(consents),
        ])
    }

    init(_ payload: Payload) throws {
        self.init()
        grants = try payload.parts(Name.grants)
        orders = try payload.parts(Name.orders)
        tokens = try payload.tokens(Name.tokens)
        coins.amounts = try payload.amounts(Name.balances)
        for kept in try payload.parts("credits") as [KeptCredit] {
            coins.credits[kept.key] = kept.credit
        }
        for kept in try payload.parts("earned") as [KeptEarning] {
            coins.earnings[kept.currency] = kept.earning
        }
        apps = try payload.parts("apps")
        accounts = try payload.ids("accounts")
        consents = try payload.parts(Name.consents)
    }
}

extension Grant: PayloadCodable {
    var payload: JSON {
        .members([
            "given": given.payload, "changed": change?.payload, "revoked": revocation?.payload,
            "given_at": .instant(givenAt), "given_by": .id(givenBy), "revoked_by": .id(revokedBy),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            try payload.part("given"), changed: try payload.optionalPart("changed"),
            revoked: try payload.optionalPart("revoked"),
            givenAt: try payload.optionalInstant("given_at"),
            givenBy: try payload.optionalID("given_by"),
            revokedBy: try payload.optionalID("revoked_by"))
    }
}

extension Order: PayloadCodable {
    var payload: JSON {
        .members([
            "opened": opened.payload, "closed": closed?.payload, "fulfilled": fulfilled?.payload,
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            try payload.part("opened"), closed: try payload.optionalPart("closed"),
            fulfilled: try payload.optionalPart("fulfilled"))
    }
}

extension Arrival: PayloadCodable {
    var payload: JSON {
        .members(["from": .id(from), "cause": cause.payload, "at": .instant(at)])
    }

    init(_ payload: Payload) throws {
        self.init(
            from: try payload.id("from"), cause: try payload.part("cause"),
            at: try payload.instant("at"))
    }
}

/// A transaction's credit, minus refunds.
struct KeptCredit: PayloadCodable {
    let key: Credit.Key
    let credit: Credit

    static func all(of coins: Coins) -> [KeptCredit] {
        coins.credits.map { KeptCredit(key: $0.key, credit: $0.value) }.sorted { one, other in
            (one.key.purchase, one.key.transaction, one.key.currency)
                < (other.key.purchase, other.key.transaction, other.key.currency)
        }
    }

    private init(key: Credit.Key, credit: Credit) {
        (self.key, self.credit) = (key, credit)
    }

    var payload: JSON {
        .members([
            "purchase": key.purchase.payload, "transaction": .id(key.transaction),
            "currency": .id(key.currency), "per_piece": .integer(credit.perPiece),
            "net": .integer(credit.net),
        ])
    }

    init(_ payload: Payload) throws {
        key = Credit.Key(
            try payload.part("purchase"), try payload.id("transaction"),
            try payload.id("currency"))
        credit = Credit(
            perPiece: try payload.integer("per_piece"), net: try payload.integer("net"))
    }
}

/// The amount that back ends credited on one day. Days are counted from 1 January 1970.
struct KeptEarning: PayloadCodable {
    let currency: CurrencyID
    let earning: Coins.Earning

    static func all(of coins: Coins) -> [KeptEarning] {
        coins.earnings.sorted { $0.key < $1.key }
            .map { KeptEarning(currency: $0.key, earning: $0.value) }
    }

    private init(currency: CurrencyID, earning: Coins.Earning) {
        (self.currency, self.earning) = (currency, earning)
    }

    var payload: JSON {
        .members([
            "currency": .id(currency), "day": .integer(earning.day),
            "amount": .integer(earning.amount),
        ])
    }

    init(_ payload: Payload) throws {
        currency = try payload.id("currency")
        earning = Coins.Earning(
            day: try payload.integer("day"), amount: try payload.integer("amount"))
    }
}

extension JSON {
    fileprivate static func amounts(_ amounts: [CurrencyID: Int64]) -> JSON {
        .object(each: amounts.sorted { $0.key < $1.key }) { ($0.key.text, .integer($0.value)) }
    }
}

extension Payload {
    func tokens(_ name: String) throws -> [AccountToken] {
        try texts(name).map { text in
            guard let token = AccountToken(text) else { throw Misfit(name: name) }
            return token
        }
    }

    fileprivate func amounts(_ name: String) throws -> [CurrencyID: Int64] {
        guard let json = value[name] else { return [:] }
        guard let object = json.object else { throw Misfit(name: name) }
        var amounts: [CurrencyID: Int64] = [:]
        for member in object.members {
            amounts[try CurrencyID(member.name)] = try Payload(json).integer(member.name)
        }
        return amounts
    }
}
