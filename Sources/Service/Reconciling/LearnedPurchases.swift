import Core

/// What a rehearsal read about purchases and a run would have recorded: by that the steps behind it see
/// what they would see in a run.
struct LearnedPurchases {
    /// The number of purchases that a rehearsal remembers. It may count those beyond it twice.
    private static let limit = 200_000

    private enum Standing {
        /// The store told all that it should have told.
        case told
        case due(Purchase)
    }
    private var standings: [StorePurchase: Standing] = [:]
    private var given: Set<StorePurchase> = []

    /// Takes in what a customer would have.
    mutating func learn(_ purchase: Purchase, at place: StorePurchase, now: Instant) {
        if standings.count >= LearnedPurchases.limit, standings[place] == nil { return }
        let isDue = purchase.inquiryAt.map { $0 <= now } ?? false
        standings[place] = isDue ? .due(purchase) : .told
    }

    /// Takes in that the store told how a purchase stands, whoever holds it.
    mutating func learnTold(_ place: StorePurchase) {
        if standings.count >= LearnedPurchases.limit, standings[place] == nil { return }
        standings[place] = .told
    }

    /// The purchase as a run would see it; `nil` where it would have nothing to ask.
    mutating func due(_ purchase: Purchase, at place: StorePurchase) -> Purchase? {
        given.insert(place)
        return switch standings[place] {
        case nil: purchase
        case .told: nil
        case .due(let learned): learned
        }
    }

    /// Those about which a run would ask and that no customer has so far.
    var others: [(place: StorePurchase, purchase: Purchase)] {
        standings.compactMap { place, standing in
            guard case .due(let purchase) = standing, !given.contains(place) else { return nil }
            return (place, purchase)
        }
    }
}
