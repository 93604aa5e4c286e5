internal import Core

/// The actions that customers take in Google Play.
extension PracticeWorld {
    mutating func performInPlay(_ step: Step) throws(PracticeError) -> Outcome {
        let shop = try playShop()
        if step.do == .raisePrice { return try raisePlayPrice(step, in: shop) }
        guard let customer = step.customer, !customer.isEmpty else {
            throw .invalid("\(step.do.rawValue) needs a customer")
        }
        switch step.do {
        case .buy: return try buyInPlay(step, in: shop, for: customer)
        case .approve, .decline: return try decideInPlay(step, for: customer)
        case .change: return try switchPlan(step, in: shop, for: customer)
        case .topUp: return try topUp(step, in: shop, for: customer)
        case .addOn: return try addOn(step, in: shop, for: customer)
        case .resubscribe: return try resubscribe(step, in: shop, for: customer)
        case .refund: return try refundInPlay(step, of: customer)
        case .finish: return try finishInPlay(step, of: customer)
        case .failBilling:
            play.brokenCards.insert(customer)
            return Outcome(
                customer: customer, note: "payments of \(customer) in Google Play fail from now on")
        case .fixBilling: return fixPlayBilling(of: customer)
        default:
            let token = try playSubscription(step, of: customer).token
            try performOnPlaySubscription(step, token)
            return Outcome(customer: customer, transaction: token)
        }
    }

    func playShop() throws(PracticeError) -> PlayShop {
        guard let google = shop.google else {
            throw .refused(
                "shop.json has no google; add what the shop sells there, and start again")
        }
        return google
    }

    /// Returns the subscription and base plan with that name. A name without a base plan stands for
    /// the subscription's first one.
    func playChoice(_ name: String, in shop: PlayShop) throws(PracticeError) -> PlayChoice {
        let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
        let subscription = shop.subscriptions.first { $0.id == parts.first }
        let plan =
            parts.count > 1
            ? subscription?.basePlans.first { $0.id == parts[1] } : subscription?.basePlans.first
        guard let subscription, let plan else {
            let names = shop.subscriptions.flatMap { subscription in
                subscription.basePlans.map { "\(subscription.id):\($0.id)" }
            }
            let all = names + shop.products.map(\.id)
            let hint =
                nearest(to: name, among: all).map { "the nearest is \($0)" }
                ?? "it sells \(all.prefix(12).joined(separator: ", "))"
            throw .invalid("this store sells no \(name) in Google Play; \(hint); see shop.json")
        }
        return PlayChoice(product: subscription.id, plan: plan.id)
    }

    /// Returns the purchase that the step applies to: the one with the given token, otherwise the
    /// newest with the product, otherwise the newest that is not over.
    func playSubscription(
        _ step: Step, of customer: String
    ) throws(PracticeError) -> PlaySubscription {
        let all = playSubscriptions(of: customer)
        if let token = step.transaction {
            guard let found = all.first(where: { $0.token == token }) else {
                throw .refused("\(customer) has no such purchase token; see: deed-practice show")
            }
            return found
        }
        let product = step.do == .change ? nil : step.product.map(productOnly)
        let fitting = all.filter { one in
            product == nil || one.items.contains { $0.choice.product == product }
        }
        guard let found = fitting.last(where: { !$0.isOver }) ?? fitting.last else {
            let what = product.map { " of \($0)" } ?? ""
            throw .refused("\(customer) has no subscription\(what) in Google Play")
        }
        return found
    }

    func playSubscriptions(of customer: String) -> [PlaySubscription] {
        play.subscriptions.values.filter { $0.customer == customer }
            .sorted { $0.number < $1.number }
    }

    func playGoods(of customer: String) -> [PlayGood] {
        play.goods.values.filter { $0.customer == customer }.sorted { $0.number < $1.number }
    }

    /// Returns the one-time purchase that a step applies to, or `nil` for other steps.
    func playGood(_ step: Step, of customer: String) -> PlayGood? {
        playGoods(of: customer).last { good in
            step.transaction.map { $0 == good.token } ?? (step.product == good.product)
        }
    }

    /// Acknowledges a purchase or consumes a product, as the app would.
    private mutating func finishInPlay(
        _ step: Step, of customer: String
    ) throws(PracticeError) -> Outcome {
        if let good = playGood(step, of: customer) {
            guard good.phase == .purchased else {
                throw .refused("\(good.product) is not paid for, or has been refunded")
            }
            let isConsumed = shop.google?.product(good.product)?.consumable == true
            if isConsumed { play.goods[good.token]?.isConsumed = true }
            acknowledgeInPlay(good.token)
            return Outcome(
                customer: customer, transaction: good.token,
                note: isConsumed ? "consumed" : "acknowledged")
        }
        let subscription = try playSubscription(step, of: customer)
        guard subscription.isServing else {
            throw .refused(
                "the subscription is \(subscription.phase.rawValue), so the app does not have it")
        }
        acknowledgeInPlay(subscription.token)
        return Outcome(customer: customer, transaction: subscription.token, note: "acknowledged")
    }

    mutating func acknowledgeInPlay(_ token: String) {
        play.goods[token]?.acknowledgeBy = nil
        play.goods[token]?.isAcknowledged = true
        if play.subscriptions[token]?.acknowledgeBy == nil { return }
        changeInPlay(token) {
            $0.acknowledgeBy = nil
            $0.isAcknowledged = true
            // From now on, the store no longer names the expired token. The real store does the same.
            $0.expiredToken = nil
        }
    }

    /// Changes a subscription and its entity tag.
    mutating func changeInPlay(_ token: String, _ change: (inout PlaySubscription) -> Void) {
        guard var changed = play.subscriptions[token] else { return }
        change(&changed)
        changed.revision += 1
        play.subscriptions[token] = changed
    }

    mutating func tellPlay(
        _ kind: PlayMessage.Kind, _ token: String, order: String? = nil, isPartial: Bool? = nil
    ) {
        let customer = play.subscriptions[token]?.customer ?? play.goods[token]?.customer ?? ""
        play.messages.append(
            PlayMessage(
                kind: kind, at: now, token: token, customer: customer, order: order,
                isPartial: isPartial))
        let surplus = play.messages.count - PlayBooks.messageLimit
        if surplus > 0 { play.messages.removeFirst(surplus) }
    }
}

/// Returns the product in a name such as `pro:monthly`.
private func productOnly(_ name: String) -> String {
    String(name.prefix { $0 != ":" })
}

extension PracticeWorld {
    private mutating func nextPlayLuck() -> Luck {
        play.named += 1
        return Luck(seed: seed ^ (play.named &* 0x9E37_79B9_7F4A_7C15) ^ 0x706C_6179)
    }

    /// Returns a token that looks like the real store's: letters, a dot, and other characters, some
    /// of which must be escaped in a path.
    mutating func playToken() -> String {
        var luck = nextPlayLuck()
        let letters = Array("abcdefghijklmnop")
        let mixed = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
        let head = (0..<24).map { _ in letters[Int(luck.next() % UInt64(letters.count))] }
        let tail = (0..<60).map { _ in mixed[Int(luck.next() % UInt64(mixed.count))] }
        return String(head) + ".AO-J1O" + String(tail)
    }

    mutating func playOrderName() -> String {
        var luck = nextPlayLuck()
        let groups = [4, 4, 4, 5].map { count in
            String((0..<count).map { _ in Character(String(luck.next() % 10)) })
        }
        return "GPA." + groups.joined(separator: "-")
    }

    func playPrice(of choice: PlayChoice, _ plan: PlayShop.BasePlan) -> Int64 {
        play.prices[choice] ?? plan.price
    }
}
