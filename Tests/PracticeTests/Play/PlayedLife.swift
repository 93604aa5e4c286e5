import Core
import JSON
import Practice
import Testing

/// A customer of Google Play with a separate store.
struct PlayedLife {
    var world: PracticeWorld

    init(seed: UInt64 = 5, _ change: (inout PlayShop) -> Void = { _ in }) throws {
        var shop = Shop.example
        var google = try #require(shop.google)
        change(&google)
        shop.google = google
        world = PracticeWorld(shop, from: opening, seed: seed)
    }

    /// Takes a step. Returns the purchase token.
    @discardableResult
    mutating func take(
        _ act: Step.Act, _ product: String? = nil, _ change: (inout Step) -> Void = { _ in }
    ) throws -> String {
        var step = Step(act, customer: act == .raisePrice ? nil : "u1", product: product)
        step.store = .google
        change(&step)
        return try world.perform(step).transaction ?? ""
    }

    /// Buys a product, and lets the app acknowledge it.
    mutating func own(
        _ product: String, _ change: (inout Step) -> Void = { _ in }
    ) throws -> String {
        let token = try take(.buy, product, change)
        try acknowledge(token)
        return token
    }

    mutating func acknowledge(_ token: String) throws {
        try take(.finish) { $0.transaction = token }
    }

    /// Returns the sentence with which the store refuses a step.
    mutating func refusal(
        _ act: Step.Act, _ product: String? = nil, _ change: (inout Step) -> Void = { _ in }
    ) -> String {
        do {
            try take(act, product, change)
            return "nothing was refused"
        } catch {
            return "\(error)"
        }
    }

    mutating func advance(days: Int64) {
        advance(to: world.now.days(days))
    }

    mutating func advance(to end: Instant) {
        while true {
            if case .nothing = world.doNext(by: end) { return }
        }
    }

    func answer(_ token: String) -> JSON { world.playAnswer(token) ?? .null }

    func state(_ token: String) -> String {
        (answer(token)["subscriptionState"]?.string ?? "").replacing(
            "SUBSCRIPTION_STATE_", with: "")
    }

    func items(_ token: String) -> [JSON] { answer(token)["lineItems"]?.array ?? [] }

    func expiry(_ token: String, _ index: Int = 0) -> Instant? {
        items(token)[index]["expiryTime"]?.string.flatMap { Instant(text: $0) }
    }

    /// The products that the customer may use, according to the store's records.
    var usable: Set<String> {
        Set(world.standings(of: "u1").filter(\.isActive).map(\.product))
    }

    /// The same products with their ends, but without consumables.
    var usableUntil: Set<String> {
        let active = world.standings(of: "u1").filter { $0.isActive && $0.product != "coins.100" }
        let byProduct = Dictionary(grouping: active, by: \.product)
        return Set(
            byProduct.map { product, standings in
                let ends = standings.map(\.until)
                let last = ends.contains(nil) ? nil : ends.compactMap(\.self).max()
                return "\(product) until \(last?.text ?? "ever")"
            })
    }

    /// A hundred coins for each piece that is paid for and not refunded.
    var coins: Int64 {
        world.standings(of: "u1").filter { $0.isActive && $0.product == "coins.100" }
            .reduce(0) { $0 + 100 * ($1.quantity ?? 0) }
    }

    /// Returns the kinds of the messages since the last call.
    mutating func news() -> [PlayMessage.Kind] {
        defer { told = world.play.messages.count }
        return world.play.messages.dropFirst(told).map(\.kind)
    }

    private var told = 0

    func order(_ id: String) -> PlayOrder? { world.play.orders[id] }
}
