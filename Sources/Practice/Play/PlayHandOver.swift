internal import Core
package import JSON

/// What an app gives its back end after a purchase in Google Play.
package struct PlayHandOver: Sendable {
    package let customer: String?
    /// The purchase token.
    package let token: String?
    package let package: String
    package let product: String?
    package let order: String?
    package let note: String?
    /// The messages that the store sends as a result.
    package let told: [PlayMessage]

    init(_ outcome: Outcome, in world: PracticeWorld, told: [PlayMessage]) {
        let one = outcome.transaction.flatMap { world.play.subscriptions[$0] }
        let good = outcome.transaction.flatMap { world.play.goods[$0] }
        customer = outcome.customer
        token = outcome.transaction
        package = world.shop.google?.packageName ?? ""
        product = good?.product ?? one?.items.first?.choice.product
        order = good.flatMap { $0.phase == .pending ? nil : $0.order } ?? one?.lastOrder
        note = outcome.note
        self.told = told
    }

    package var json: JSON {
        let answer: JSON = [
            "customer": .optional(customer), "transaction": .optional(token),
            "order": .optional(order), "note": .optional(note),
            "messages": .array(told.map(\.json)), "notifications": .array([]),
        ]
        guard let token else { return answer }
        return answer.with("google", .array([PracticeWorld.handOver(package, token, product)]))
    }
}

extension PracticeWorld {
    static func handOver(_ package: String, _ token: String, _ product: String?) -> JSON {
        let entry: JSON = ["package": .string(package), "token": .string(token)]
        return entry.with("product", product.map(JSON.string))
    }

    /// Returns what an app on a new phone gives its back end: subscriptions that are not over, and
    /// products that are not consumed.
    func playTokens(of customer: String) -> [JSON] {
        let package = shop.google?.packageName ?? ""
        let subscriptions = playSubscriptions(of: customer).filter { !$0.isOver }.map {
            PracticeWorld.handOver(package, $0.token, $0.items.first?.choice.product)
        }
        let goods = playGoods(of: customer).filter { $0.phase == .purchased && !$0.isConsumed }.map
        {
            PracticeWorld.handOver(package, $0.token, $0.product)
        }
        return subscriptions + goods
    }
}

extension PlayMessage {
    package var json: JSON {
        let members: JSON = [
            "at": .string(at.text), "type": .string(kind.rawValue),
            "customer": .string(customer), "token": .string(token),
        ]
        return members.with("order", order.map(JSON.string))
            .with("partial", isPartial.map(JSON.bool))
    }
}
