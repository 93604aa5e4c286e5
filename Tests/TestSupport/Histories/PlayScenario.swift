package import Core

/// Returns a subscription's item as Google shows it.
package func playItem(
    _ product: String, _ order: String? = "GPA.1", to end: Instant?, renews: Bool = true,
    _ change: (inout Reading.Item) -> Void = { _ in }
) -> Reading.Item {
    var item = Reading.Item(
        id(product), order: order.map { id($0) }, isOwned: order != nil, expires: end)
    item.willRenew = renews
    change(&item)
    return item
}

/// Returns a one-time purchase.
package func playGood(
    _ product: String, _ quantity: Int64 = 1, left: Int64? = nil, order: String? = "GPA.1",
    _ change: (inout Reading.Item) -> Void = { _ in }
) -> Reading.Item {
    var item = Reading.Item(
        id(product), order: order.map { id($0) }, isOwned: true, expires: nil)
    (item.quantity, item.refundable) = (quantity, left)
    change(&item)
    return item
}

/// Returns Google's answer about a token at that time. In these tests, a token's id is the token itself.
package func playReading(
    _ state: Reading.State, _ token: String = "t1", of root: String? = nil, at instant: Instant,
    from start: Instant? = at(0), _ items: [Reading.Item], mark: String? = nil,
    _ change: (inout Reading) -> Void = { _ in }
) -> TransactionFact {
    var reading = Reading(token: token, name: id(token), state, startedAt: start, items: items)
    reading.isAcknowledged = true
    // Each state of a purchase needs a different mark.
    reading.mark = mark
    change(&reading)
    let main = reading.mainItem
    var fact = TransactionFact(
        store: .google, environment: .production, app: id("com.example.game"),
        transaction: main?.order ?? id(token), original: id(root ?? token),
        product: main?.product ?? .ofNothing, purchased: start ?? instant, signedAt: instant,
        rank: .serverAPI)
    let isOnce = state == .purchased || state == .takenBack
    fact.kind = isOnce ? main?.isRented == true ? .nonRenewing : nil : .autoRenewable
    (fact.expires, fact.quantity) = (main?.expires, main?.quantity ?? 1)
    (fact.offer, fact.price) = (main?.offer, main?.price)
    fact.reading = reading
    return fact
}

/// The products that the tests sell in Google Play.
package let playShop = catalog([
    playProduct("coins", .consumable(credits: [id("coins"): 100])),
    playProduct("level2", .nonConsumable, ["level2"]),
    playProduct("film", .nonRenewing(duration: duration("P30D"), stacking: .extend), ["film"]),
    playProduct("plus", .autoRenewable(group: "membership", level: 1), ["plus"]),
    playProduct("pro", .autoRenewable(group: "membership", level: 2), ["pro"]),
    playProduct("extra", .autoRenewable(group: nil, level: 1), ["extra"]),
])

private func playProduct(
    _ name: String, _ terms: Product.Terms, _ entitlements: [String] = []
) -> Product {
    Product(
        key: ProductKey(store: .google, id: id(name)), terms: terms,
        entitlements: entitlements.map { id($0) }, isFamilyShared: true)
}
