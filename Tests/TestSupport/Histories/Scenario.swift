package import Core

package let day: Int64 = 86_400_000
package let hour: Int64 = 3_600_000

/// Returns a valid identifier. If the text is invalid, the test is wrong.
package func id<Kind>(_ text: String) -> Identifier<Kind> {
    do {
        return try Identifier(text)
    } catch {
        preconditionFailure("\"\(text)\" \(error)")
    }
}

package func purchaseID(_ original: String) -> PurchaseID {
    PurchaseID(store: .apple, original: id(original))
}

/// Returns the instant this many days and milliseconds after 1 January 2026.
package func at(_ days: Int64, _ milliseconds: Int64 = 0) -> Instant {
    Instant(milliseconds: 1_767_225_600_000 + days * day + milliseconds)
}

package func instant(_ text: String) -> Instant {
    guard let instant = Instant(text: text) else { preconditionFailure("\(text) is no instant") }
    return instant
}

package func noteText(_ text: String) -> NoteText {
    do {
        return try NoteText(text)
    } catch {
        preconditionFailure("\(text) \(error)")
    }
}

package func duration(_ text: String) -> CalendarDuration {
    guard let duration = CalendarDuration(text) else {
        preconditionFailure("\(text) is no duration")
    }
    return duration
}

/// Returns a statement about one transaction, with only the details that examples need.
package func transaction(
    _ transaction: String, of original: String? = nil, _ product: String, _ kind: ProductKind?,
    _ start: Instant, to end: Instant? = nil, signed: Instant? = nil,
    _ change: (inout TransactionFact) -> Void = { _ in }
) -> TransactionFact {
    var fact = TransactionFact(
        store: .apple, environment: .production, app: id("com.example.game"),
        transaction: id(transaction), original: id(original ?? transaction), product: id(product),
        purchased: start, signedAt: signed ?? start, rank: .notification)
    fact.kind = kind
    fact.expires = end
    change(&fact)
    return fact
}

package func renewal(
    of original: String, signed: Instant, on: Bool = true,
    _ change: (inout RenewalFact) -> Void = { _ in }
) -> RenewalFact {
    var fact = RenewalFact(
        store: .apple, environment: .production, app: id("com.example.game"),
        original: id(original), willRenew: on, signedAt: signed, rank: .notification)
    change(&fact)
    return fact
}

package func refund(
    at instant: Instant, _ extent: Revocation.Extent? = .full, _ reason: Revocation.Reason = .other,
    milliPercent: Int64? = nil
) -> Revocation {
    var revocation = Revocation(at: instant)
    revocation.extent = extent
    revocation.reason = reason
    revocation.milliPercent = milliPercent
    return revocation
}

package func installation(
    _ version: String, on start: Instant?, signed: Instant? = nil,
    environment: Environment = .production
) -> AppFact {
    AppFact(
        store: .apple, environment: environment, app: id("com.example.game"),
        originalVersion: version, originallyPurchased: start, signedAt: signed ?? at(0),
        rank: .offlineReceipt)
}

package func rescission(_ news: String, signed: Instant) -> ConsentFact {
    ConsentFact(
        id(news), store: .apple, environment: .production, app: id("com.example.game"),
        appTransaction: id("account1"), signedAt: signed, rank: .notification)
}

package func facts(
    _ transactions: [TransactionFact] = [], renewals: [RenewalFact] = [], apps: [AppFact] = []
) -> Facts {
    var facts = Facts()
    facts.transactions = transactions
    facts.renewals = renewals
    facts.apps = apps
    return facts
}

package func product(
    _ name: String, _ terms: Product.Terms, _ entitlements: [String] = [], family: Bool = true
) -> Product {
    Product(
        key: ProductKey(store: .apple, id: id(name)), terms: terms,
        entitlements: entitlements.map { id($0) }, isFamilyShared: family)
}

package func catalog(_ products: [Product], rules: [OriginalVersionRule] = []) -> Catalog {
    var draft = CatalogDraft()
    draft.products = products
    draft.originalVersionRules = rules
    do {
        return try draft.validated()
    } catch {
        preconditionFailure("\(error)")
    }
}

/// The products of the worked examples.
package let shop = catalog(
    [
        product("coins", .consumable(credits: [id("coins"): 100])),
        product("chest", .consumable(credits: [id("coins"): 1000, id("gems"): 5])),
        product("level2", .nonConsumable, ["level2"]),
        product("level3", .nonConsumable, ["level3"], family: false),
        product("season", .nonRenewing(duration: duration("P30D"), stacking: .extend), ["season"]),
        product("boost", .nonRenewing(duration: duration("P30D"), stacking: .restart), ["boost"]),
        product("pass", .nonRenewing(duration: duration("P30D"), stacking: .overlap), ["pass"]),
        product("plus", .autoRenewable(group: "membership", level: 1), ["ad_free"]),
        product("pro", .autoRenewable(group: "membership", level: 2), ["ad_free", "pro"]),
        product(
            "solo", .autoRenewable(group: "solo", level: 1), ["solo", "pro"], family: false),
    ],
    rules: [OriginalVersionRule(below: "2.0", entitlements: [id("legacy")])])

extension CustomerState {
    /// Creates the state after pieces of evidence were recorded one by one.
    package init(recording evidence: [Facts], catalog: Catalog = shop) {
        self.init()
        for facts in evidence { record(facts, catalog: catalog) }
    }

    @discardableResult
    package mutating func record(_ facts: Facts, catalog: Catalog = shop) -> [Event] {
        let events = decide(RecordFacts(facts, catalog: catalog))
        for event in events { apply(event) }
        return events
    }

    package mutating func record(_ transactions: TransactionFact...) -> [String] {
        record(Histories.facts(transactions)).map(\.type.name)
    }

    package func balance(_ currency: String) -> Int64 { balances[id(currency)] }
}
