import Core
import Practice

/// Compares one customer by Deed's rules with the practice store's records.
struct Comparison {
    private let customer: String
    private let life: String
    private var judge: Judge
    private(set) var boundaries = 0
    /// Where Deed disagrees with the store's records.
    private(set) var complaints: [String] = []
    /// The states that the purchases had.
    private(set) var seen: Set<String> = []

    init(of customer: String, _ life: String) throws {
        self.customer = customer
        self.life = life
        judge = try Judge()
    }

    /// Compares the store's current records with Deed's result.
    mutating func compare(_ world: PracticeWorld) throws {
        try judge.takeNotifications(of: world, about: customer)
        boundaries += 1
        let now = world.now
        let known = judge.state.subscriptions(at: now, catalog: judge.catalog)
        for standing in world.standings(of: customer) {
            seen.insert(standing.word)
            guard Shop.example.article(standing.product)?.kind == .autoRenewable else { continue }
            let status = known.first { $0.purchase.original.text == standing.original }
            let pair = "\(standing) beside \(status.map { "\($0)" } ?? "nothing")"
            check(status?.isActive == standing.isActive, pair, now)
            if standing.isActive { check(status?.run.end == standing.until, pair, now) }
        }
        try compareOthers(world)
    }

    private mutating func compareOthers(_ world: PracticeWorld) throws {
        let now = world.now
        let sales = world.sales(of: customer).filter { $0.kind != .autoRenewable }
        let answer = judge.state.entitlements(at: now, catalog: judge.catalog)
        let hasMap = sales.contains { $0.kind == .nonConsumable && $0.revocation == nil }
        check(
            (answer[try EntitlementID("level2")]?.isActive ?? false) == hasMap, "level2", now)
        let hasSeason = sales.contains { sale in
            guard sale.kind == .nonRenewing, sale.revocation == nil else { return false }
            let ends = CalendarDuration("P3M")?.end(after: sale.purchased) ?? sale.purchased
            return now < ends
        }
        check(
            (answer[try EntitlementID("season")]?.isActive ?? false) == hasSeason, "season",
            now)
        var coins: Int64 = 0
        for sale in sales where sale.kind == .consumable {
            let whole = 100 * sale.quantity
            let share = sale.revocation.map { $0.milliPercent ?? 100_000 } ?? 0
            coins += whole - whole * share / 100_000
        }
        check(judge.state.balances[try CurrencyID("coins")] == coins, "coins", now)
    }

    private mutating func check(_ isRight: Bool, _ text: String, _ now: Instant) {
        if !isRight { complaints.append("\(life) at \(now.text), \(customer): \(text)") }
    }
}
