import Core
import JSON

/// The format in which a customer's state is kept beside the log. `KeptState.number` identifies the
/// format. Unlike old events, states in an older format are never read.
extension CustomerContent: PayloadCodable {
    var payload: JSON {
        let texts: [JSON] = tokens.map { .string($0.text) }
        let marks: [JSON] = forgotten.map { .string($0.text) }
        return .members([
            "version": .integer(version),
            "purchases": .parts(purchases.map(\.parts)),
            "apps": .parts(apps), "installed_by": .ids(installedBy),
            "account_customers": .ids(accountCustomers), "consents": .parts(consents),
            "grants": .parts(grants), "notes": .parts(notes), "balances": balances.payload,
            "orders": .parts(orders),
            "tokens": .array(texts),
            "departures": .parts(departures),
            "ended": .parts(KeptEnd.all(of: endedAccess)),
            "recorded_at": .instant(lastRecord?.at),
            "catalog_version": .number(lastRecord?.catalogVersion),
            "erased_at": .number(erasedAt), "erased_on": .instant(erasedOn),
            "forgotten": .array(marks),
            "lacks_erasure": .flag(lacksErasure), "merged_into": .id(mergedInto),
            "joined": .parts(joined), "has_readings": .flag(hasReadings),
        ])
    }

    init(_ payload: Payload) throws {
        self.init()
        version = try payload.integer("version")
        purchases = try (payload.parts("purchases") as [PurchaseParts]).map(Purchase.init(of:))
        apps = try payload.parts("apps")
        installedBy = try payload.ids("installed_by")
        accountCustomers = try payload.ids("account_customers")
        consents = try payload.parts("consents")
        grants = try payload.parts("grants")
        notes = try payload.parts("notes")
        balances = try payload.part("balances")
        orders = try payload.parts("orders")
        tokens = try payload.tokens("tokens")
        departures = try payload.parts("departures")
        for end in try payload.parts("ended") as [KeptEnd] {
            endedAccess[end.entitlement] = end.access
        }
        if let at = try payload.optionalInstant("recorded_at") {
            lastRecord = LastRecord(
                at: at, catalogVersion: try payload.integer("catalog_version"))
        }
        erasedAt = try payload.optionalInteger("erased_at")
        erasedOn = try payload.optionalInstant("erased_on")
        forgotten = try payload.texts("forgotten").map { text in
            guard let mark = PurchaseMark(text) else { throw Payload.Misfit(name: "forgotten") }
            return mark
        }
        lacksErasure = try payload.flag("lacks_erasure")
        mergedInto = try payload.optionalID("merged_into")
        joined = try payload.parts("joined")
        hasReadings = try payload.flag("has_readings")
    }
}

/// The last published end of access to an entitlement.
private struct KeptEnd: PayloadCodable {
    let entitlement: EntitlementID
    let access: EndedAccess

    static func all(of ended: [EntitlementID: EndedAccess]) -> [KeptEnd] {
        ended.sorted { $0.key < $1.key }
            .map { KeptEnd(entitlement: $0.key, access: $0.value) }
    }

    private init(entitlement: EntitlementID, access: EndedAccess) {
        (self.entitlement, self.access) = (entitlement, access)
    }

    var payload: JSON {
        .members([
            "entitlement": .id(entitlement), "at": .instant(access.at),
            "position": .text(access.position?.description),
        ])
    }

    init(_ payload: Payload) throws {
        entitlement = try payload.id("entitlement")
        let position = try payload.optionalText("position").map { text in
            guard let position = Position(text) else { throw Payload.Misfit(name: "position") }
            return position
        }
        access = EndedAccess(at: try payload.instant("at"), position: position)
    }
}

extension PurchaseParts: PayloadCodable {
    var payload: JSON {
        .members([
            "id": id.payload, "evidence": .parts(evidence), "renewals": .parts(renewals),
            "refunds": refundNews.isEmpty ? nil : .parts(refundNews),
            "reports": reports.isEmpty ? nil : .parts(reports),
            "blocks": blocks.isEmpty ? nil : .parts(blocks), "arrival": arrival?.payload,
            "carried": carried.isEmpty ? nil : .parts(carried),
            "readings": readings.isEmpty ? nil : .parts(readings),
            "announced": announced.isEmpty
                ? nil : .parts(KeptAnnouncement.all(of: announced)),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(try payload.part("id"))
        evidence = try payload.parts("evidence")
        renewals = try payload.parts("renewals")
        refundNews = try payload.parts("refunds")
        reports = try payload.parts("reports")
        blocks = try payload.parts("blocks")
        arrival = try payload.optionalPart("arrival")
        carried = try payload.parts("carried")
        readings = try payload.parts("readings")
        for one in try payload.parts("announced") as [KeptAnnouncement] {
            announced[one.transaction] = one.at
        }
        if !fits { throw Payload.Misfit(name: "evidence") }
    }
}

/// When a transaction's product was announced.
private struct KeptAnnouncement: PayloadCodable {
    let transaction: Int
    let at: Instant

    static func all(of announced: [Int: Instant]) -> [KeptAnnouncement] {
        announced.sorted { $0.key < $1.key }.map { KeptAnnouncement($0.key, $0.value) }
    }

    private init(_ transaction: Int, _ at: Instant) {
        (self.transaction, self.at) = (transaction, at)
    }

    var payload: JSON {
        .members(["transaction": .integer(Int64(transaction)), "at": .instant(at)])
    }

    init(_ payload: Payload) throws {
        transaction = Int(try payload.integer("transaction"))
        at = try payload.instant("at")
    }
}

extension TransactionEvidence: PayloadCodable {
    var payload: JSON { .members(["signed": signed?.payload, "legacy": legacy?.payload]) }

    init(_ payload: Payload) throws {
        let signed: TransactionFact? = try payload.optionalPart("signed")
        let legacy: TransactionFact? = try payload.optionalPart("legacy")
        switch (signed, legacy) {
        case (let signed?, let legacy?): self = .both(signed: signed, legacy: legacy)
        case (let signed?, nil): self = .signed(signed)
        case (nil, let legacy?): self = .legacy(legacy)
        case (nil, nil): throw Payload.Misfit(name: "signed")
        }
    }
}

extension Balances: PayloadCodable {
    var payload: JSON {
        var coins = Coins()
        (coins.credits, coins.earnings) = (credits, earnings)
        let shares = totals.mapValues { JoinedCustomer.Share(amount: $0, base: 0) }
        return .members([
            "totals": .parts(KeptShare.all(of: shares)),
            "credits": .parts(KeptCredit.all(of: coins)),
            "earned": .parts(KeptEarning.all(of: coins)),
        ])
    }

    init(_ payload: Payload) throws {
        var (credits, earnings) = ([Credit.Key: Credit](), [CurrencyID: Coins.Earning]())
        for kept in try payload.parts("credits") as [KeptCredit] {
            credits[kept.key] = kept.credit
        }
        for kept in try payload.parts("earned") as [KeptEarning] {
            earnings[kept.currency] = kept.earning
        }
        self.init(
            totals: try KeptShare.read(payload, "totals").mapValues(\.amount), credits: credits,
            earnings: earnings)
    }
}

extension JoinedCustomer: PayloadCodable {
    var payload: JSON {
        let texts: [JSON] = tokens.map(\.text).sorted().map { .string($0) }
        return .members([
            "customer": .id(customer), "others": .ids(others), "at": .instant(at),
            "purchases": .parts(purchases.sorted()),
            "grants": .ids(grants.sorted()), "orders": .ids(orders.sorted()),
            "tokens": .array(texts),
            "apps": .parts(apps), "accounts": .ids(accounts), "consents": .parts(consents),
            "coins": .parts(KeptShare.all(of: coins)),
        ])
    }

    init(_ payload: Payload) throws {
        var rest = Belongings()
        rest.apps = try payload.parts("apps")
        rest.accounts = try payload.ids("accounts")
        rest.consents = try payload.parts("consents")
        self.init(
            try payload.id("customer"), with: try payload.ids("others"),
            at: try payload.instant("at"),
            names: BelongingNames(
                grants: try payload.ids("grants"), orders: try payload.ids("orders"),
                tokens: try payload.tokens("tokens")),
            purchases: Set(try payload.parts("purchases") as [PurchaseID]), rest,
            coins: try KeptShare.read(payload, "coins"))
    }
}

/// An amount in a currency. It is stored as text because it may exceed the range of JSON numbers.
private struct KeptShare: PayloadCodable {
    let currency: CurrencyID
    let share: JoinedCustomer.Share

    static func all(of shares: [CurrencyID: JoinedCustomer.Share]) -> [KeptShare] {
        shares.sorted { $0.key < $1.key }
            .map { KeptShare(currency: $0.key, share: $0.value) }
    }

    static func read(
        _ payload: Payload, _ name: String
    ) throws -> [CurrencyID: JoinedCustomer.Share] {
        var shares: [CurrencyID: JoinedCustomer.Share] = [:]
        for kept in try payload.parts(name) as [KeptShare] { shares[kept.currency] = kept.share }
        return shares
    }

    private init(currency: CurrencyID, share: JoinedCustomer.Share) {
        (self.currency, self.share) = (currency, share)
    }

    var payload: JSON {
        .members([
            "currency": .id(currency), "amount": .string(String(share.amount)),
            "base": share.base == 0 ? nil : .string(String(share.base)),
            "gone": share.gone == 0 ? nil : .string(String(share.gone)),
            "owed": share.owed == 0 ? nil : .string(String(share.owed)),
        ])
    }

    init(_ payload: Payload) throws {
        func wide(_ text: String, _ name: String) throws -> Int128 {
            guard let number = Int128(text) else { throw Payload.Misfit(name: name) }
            return number
        }
        currency = try payload.id("currency")
        share = JoinedCustomer.Share(
            amount: try wide(try payload.text("amount"), "amount"),
            base: try wide(try payload.optionalText("base") ?? "0", "base"),
            gone: try wide(try payload.optionalText("gone") ?? "0", "gone"),
            owed: try wide(try payload.optionalText("owed") ?? "0", "owed"))
    }
}
