import Core
import JSON
import Practice

/// One customer in the store's records, and where Deed disagrees.
struct ToldLife {
    private let life: PracticeLife
    private let world: PracticeWorld
    private let standings: [PracticeWorld.Standing]
    private(set) var complaints: [String] = []

    init(_ life: PracticeLife, by world: PracticeWorld) {
        self.life = life
        self.world = world
        standings = world.standings(of: life.customer)
    }

    /// The states of the subscriptions.
    var states: Set<String> {
        Set(world.subscriptions(of: life.customer).map(\.phase.rawValue))
    }

    /// Compares everything in the answer that the store also records.
    mutating func compare(_ answer: JSON) {
        compareSubscriptions(answer["subscriptions"]?.array ?? [])
        compareEntitlements(answer["entitlements"]?.object?.members ?? [])
        let coins = answer["balances"]?["coins"]?.integer ?? 0
        let bought = life.coins(world)
        check(coins == bought, "\(coins) coins, not \(bought)")
    }

    private mutating func check(_ isRight: Bool, _ text: @autoclosure () -> String) {
        if !isRight { complaints.append("\(life.customer): \(text()) at \(world.now.text)") }
    }

    /// Compares members of Deed's answer with their expected values.
    private mutating func check(_ told: JSON, _ wanted: [(String, JSON)], _ what: String) {
        for (name, value) in wanted {
            let found = told[name] ?? .null
            check(found == value, "\(name) of \(what) is \(found.text), not \(value.text)")
        }
    }
}

extension ToldLife {
    private mutating func compareSubscriptions(_ told: [JSON]) {
        let renewing = told.filter { $0["kind"]?.string == "auto_renewable" }
        let known = Set(renewing.compactMap { $0["purchase"]?.string })
        let subscriptions = world.subscriptions(of: life.customer)
        let sold = Set(subscriptions.map { "apple:\($0.original)" })
        check(known == sold, "subscriptions are \(known.sorted()), not \(sold.sorted())")
        for subscription in subscriptions {
            let purchase = "apple:\(subscription.original)"
            guard let told = renewing.first(where: { $0["purchase"]?.string == purchase }),
                let standing = standings.first(where: { $0.original == subscription.original })
            else { continue }
            check(told, members(of: subscription, standing), "\(subscription.product)")
        }
    }

    private func members(
        of subscription: Subscription, _ standing: PracticeWorld.Standing
    ) -> [(String, JSON)] {
        var members: [(String, JSON)] = [
            ("product", .string(standing.product)), ("active", .bool(standing.isActive)),
            ("state", .string(subscription.phase.told)),
            ("will_renew", .bool(standing.renews ?? false)),
        ]
        if standing.isActive { members.append(("until", .optional(standing.until?.text))) }
        if subscription.phase != .ended, subscription.phase != .revoked {
            members.append(("next_product", .string(subscription.nextProduct)))
        }
        if subscription.phase == .ended {
            members.append(("expiration_reason", .optional(subscription.intent?.told)))
        }
        return members
    }

    private mutating func compareEntitlements(_ told: [JSONObject.Member]) {
        let wanted = entitlements
        let active = Set(told.filter { $0.value["active"]?.bool == true }.map(\.name))
        let held = Set(wanted.keys)
        check(active == held, "\(active.sorted()) are active, not \(held.sorted())")
        for member in told where active.contains(member.name) {
            check(member.value, wanted[member.name] ?? [], member.name)
        }
    }

    /// What the customer may use, and until when.
    private var entitlements: [String: [(String, JSON)]] {
        var held: [String: [(String, JSON)]] = [:]
        let subscriptions = Dictionary(
            uniqueKeysWithValues: world.subscriptions(of: life.customer).map { ($0.original, $0) })
        for standing in standings where standing.isActive {
            let subscription = subscriptions[standing.original]
            for entitlement in PracticeLife.unlocked[standing.product] ?? [] {
                let until = changeAhead(of: subscription, unlocking: entitlement) ?? standing.until
                held[entitlement] = [
                    ("until", .optional(until?.text)),
                    ("state", .string(subscription?.phase.told ?? "active")),
                    ("will_renew", .bool(standing.renews ?? false)),
                    ("product", .string(standing.product)),
                ]
            }
        }
        let seasons = world.sales(of: life.customer).filter {
            $0.product == "season" && $0.revocation == nil
        }
        let ends = seasons.compactMap { CalendarDuration("P3M")?.end(after: $0.purchased) }
        if let end = ends.max(), world.now < end {
            held["season_pass"] = [
                ("until", .string(end.text)), ("state", "active"), ("will_renew", false),
            ]
        }
        return held
    }

    /// Returns when a product that has already been charged ends the entitlement.
    private func changeAhead(of subscription: Subscription?, unlocking entitlement: String)
        -> Instant?
    {
        guard let subscription, let latest = world.sale(subscription.latest),
            world.now < latest.purchased,
            PracticeLife.unlocked[latest.product]?.contains(entitlement) != true
        else { return nil }
        return latest.purchased
    }
}

extension Subscription.Phase {
    /// Deed's word for the state.
    fileprivate var told: String {
        switch self {
        case .active, .grace, .retry, .revoked: rawValue
        case .ended: "expired"
        }
    }
}

extension Subscription.Intent {
    fileprivate var told: String {
        switch self {
        case .cancelled: "cancelled"
        case .billing: "billing_error"
        case .priceRefused: "price_increase_refused"
        case .withdrawn: "product_unavailable"
        case .other: "other"
        }
    }
}
