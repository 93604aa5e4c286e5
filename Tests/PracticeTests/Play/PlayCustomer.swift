import Core
import Evidence
import Histories
import JSON
import Practice
import Telemetry

/// A customer as Deed sees them, from the store's answers about the customer's tokens.
struct PlayCustomer {
    private(set) var state = CustomerState()
    /// All recorded facts.
    private(set) var recorded: [Facts] = []
    private var answers: [String: JSON] = [:]
    private var links: [String: String] = [:]
    private let prover = Prover(PlayEvidence(), metrics: Metrics())
    private let app = TrustedApp(id: id("com.example.game"), appleID: nil)

    static let catalog = Histories.catalog([
        product("pro", .autoRenewable(group: nil, level: 1)),
        product("premium", .autoRenewable(group: nil, level: 1)),
        product("sounds", .autoRenewable(group: nil, level: 1)),
        product("level2", .nonConsumable),
        product("film", .nonRenewing(duration: duration("P30D"), stacking: .overlap)),
        product("coins.100", .consumable(credits: [id("coins"): 100])),
    ])

    private static func product(_ name: String, _ terms: Product.Terms) -> Product {
        let unlocks = name == "coins.100" ? [] : [id(name) as EntitlementID]
        return Product(
            key: ProductKey(store: .google, id: id(name)), terms: terms, entitlements: unlocks)
    }

    /// Records each answer that differs from the last one about its token. Leaves out purchases
    /// that are not paid for.
    mutating func read(_ all: [String: JSON], at now: Instant) throws(RefusedEvidence) {
        for (token, answer) in all { links[token] = answer["linkedPurchaseToken"]?.string }
        for token in all.keys.sorted() {
            guard let answer = all[token], answer != answers[token] else { continue }
            answers[token] = answer
            let isSubscription = answer["subscriptionState"] != nil
            let word = answer["subscriptionState"]?.string ?? ""
            if word.contains("PENDING") || isUnpaid(answer) { continue }
            let kept = PlayAnswer(
                isSubscription ? .playSubscription : .playPurchase, body: answer.bytes,
                app: app.id, token: token, product: nil,
                root: TransactionID(playToken: root(token)),
                readAt: now)
            let facts = try prover.prove(kept.fetched, for: [app], now: now).facts
            recorded.append(facts)
            state.record(facts, catalog: Self.catalog)
        }
    }

    private func isUnpaid(_ answer: JSON) -> Bool {
        let state = answer["purchaseStateContext"]?["purchaseState"]?.string
        return state != nil && state != "PURCHASED" && answer["purchaseCompletionTime"] == nil
    }

    private func root(_ token: String) -> String {
        var root = token
        while let older = links[root] { root = older }
        return root
    }

    /// Returns the products that the customer may use, each with the end of the access.
    func usable(at now: Instant) -> Set<String> {
        let active = state.entitlements(at: now, catalog: Self.catalog).all.filter(\.isActive)
        return Set(active.map { "\($0.id) until \($0.run.end?.text ?? "ever")" })
    }

    var coins: Int64 { state.balance("coins") }
}
