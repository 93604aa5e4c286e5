internal import Core

extension PracticeWorld {
    mutating func buyInPlay(
        _ step: Step, in shop: PlayShop, for customer: String
    ) throws(PracticeError) -> Outcome {
        guard let id = step.product else { throw .invalid("buy needs a product") }
        try requirePayment(step, of: customer)
        if let product = shop.product(id) { return try buyGood(product, step, for: customer) }
        let choice = try playChoice(id, in: shop)
        if let quantity = step.quantity, quantity > 1 {
            throw .invalid(
                "\(choice) is a subscription, so its quantity must be 1 and not \(quantity)")
        }
        try requireUnowned(choice.product, by: customer)
        let offer = try playOffer(step.offer, of: choice, in: shop, for: customer)
        return try subscribe([(choice, offer)], .fresh, instead: nil, step, for: customer)
    }

    func requirePayment(_ step: Step, of customer: String) throws(PracticeError) {
        if step.pending != true, play.brokenCards.contains(customer) {
            throw .refused(
                "payments of \(customer) fail; repair them with: fix-billing --store google")
        }
    }

    func requireUnowned(_ product: String, by customer: String) throws(PracticeError) {
        let owner = playSubscriptions(of: customer).last { one in
            !one.isOver && one.items.contains { $0.choice.product == product }
        }
        guard let owner else { return }
        let hint =
            switch owner.phase {
            case .pending: "approve, decline"
            case .hold, .paused: "recover, resume"
            default: owner.renews ? "change, cancel" : "top-up, resubscribe"
            }
        throw .refused("\(customer) owns \(product) already; see: \(hint)")
    }

    /// Returns the offer with that name, if the customer is eligible for it.
    func playOffer(
        _ id: String?, of choice: PlayChoice, in shop: PlayShop, for customer: String
    ) throws(PracticeError) -> PlayShop.Offer? {
        guard let id else { return nil }
        guard let offer = shop.plan(choice)?.offers?.first(where: { $0.id == id }) else {
            throw .invalid("\(choice) has no offer \(id); see shop.json")
        }
        let isKnown = playSubscriptions(of: customer).contains { one in
            one.phase != .declined && one.items.contains { $0.choice.product == choice.product }
        }
        if offer.forNew == true, isKnown {
            throw .refused(
                "\(customer) had \(choice.product) before, so \(id) is not available to them")
        }
        return offer
    }

    /// Creates a purchase token with those items. The purchase starts once it has been paid for.
    mutating func subscribe(
        _ choices: [(PlayChoice, PlayShop.Offer?)], _ entry: PlaySubscription.Entry,
        instead old: PlaySubscription?, _ step: Step, for customer: String
    ) throws(PracticeError) -> Outcome {
        let shop = try playShop()
        var items: [PlayItem] = []
        for (choice, offer) in choices {
            guard let plan = shop.plan(choice) else { throw .invalid("\(choice) is not sold") }
            items.append(
                PlayItem(
                    choice: choice, kind: plan.kind, offer: offer,
                    price: playPrice(of: choice, plan), currency: plan.currency ?? "USD",
                    begun: now, renews: plan.kind != .prepaid))
        }
        let token = playToken()
        var new = PlaySubscription(
            token: token, customer: customer, number: play.named, phase: .pending, items: items,
            linked: old?.token, accountToken: step.token ?? old?.accountToken,
            firstOrder: playOrderName())
        new.entry = entry
        play.subscriptions[token] = new
        if step.pending == true {
            book(new.firstOrder, of: new, items, .pending)
            return Outcome(
                customer: customer, transaction: token,
                note: "is waiting for payment; see: approve, decline")
        }
        begin(token)
        return Outcome(customer: customer, transaction: token)
    }

    /// Completes a pending purchase with the customer's payment, or discards it.
    mutating func decideInPlay(
        _ step: Step, for customer: String
    ) throws(PracticeError) -> Outcome {
        let isPaid = step.do == .approve
        let waiting = playSubscriptions(of: customer).filter { $0.phase == .pending }
        let goods = playGoods(of: customer).filter { $0.phase == .pending && $0.released == nil }
        var tokens = waiting.map(\.token) + goods.map(\.token)
        if let token = step.transaction { tokens.removeAll { $0 != token } }
        guard !tokens.isEmpty else {
            throw .refused("no purchase by \(customer) is waiting for payment")
        }
        for token in tokens {
            if play.goods[token] != nil {
                if isPaid { payGood(token) } else { dropGood(token) }
            } else {
                if isPaid { begin(token) } else { decline(token) }
            }
        }
        return Outcome(
            customer: customer, transaction: tokens.last, note: "\(tokens.count) decided")
    }

    private mutating func decline(_ token: String) {
        changeInPlay(token) { [now] in
            $0.phase = .declined
            $0.ended = now
        }
        closeOrder(play.subscriptions[token]?.firstOrder, .cancelled)
        tellPlay(.pendingCanceled, token)
    }
}

extension PracticeWorld {
    private mutating func buyGood(
        _ product: PlayShop.Product, _ step: Step, for customer: String
    ) throws(PracticeError) -> Outcome {
        if let offer = step.offer {
            throw .invalid(
                "\(product.id) is not a subscription, so the offer \(offer) does not apply to it")
        }
        let quantity = max(1, step.quantity ?? 1)
        if quantity > 1, product.multiQuantity != true {
            throw .invalid("\(product.id) is sold one at a time; see multi_quantity in shop.json")
        }
        if playGoods(of: customer).contains(where: {
            $0.product == product.id && $0.isOwned(at: now)
        }) {
            throw .refused(
                "\(customer) already owns \(product.id); it can be bought again once consumed")
        }
        let release = product.release.flatMap { now < $0 ? $0 : nil }
        if release != nil, step.pending == true {
            throw .refused("\(product.id) is a pre-order, and is charged when it is released")
        }
        let token = playToken()
        let good = PlayGood(
            token: token, customer: customer, number: play.named, product: product.id,
            option: release != nil ? .preorder : product.rental != nil ? .rent : .buy,
            quantity: quantity, phase: .pending, asked: now, released: release,
            accountToken: step.token, order: playOrderName())
        play.goods[token] = good
        let line = PlayOrder.Line(
            product: product.id, plan: good.option.rawValue, offer: nil, phase: nil,
            price: product.price, currency: product.currency ?? "USD", quantity: quantity,
            starts: nil, ends: nil)
        play.orders[good.order] = PlayOrder(
            id: good.order, token: token, state: .pending, created: now, changed: now, lines: [line]
        )
        if step.pending == true || release != nil {
            let note = release.map { "will be charged at \($0.text)" } ?? "is waiting for payment"
            return Outcome(customer: customer, transaction: token, note: note)
        }
        payGood(token)
        return Outcome(customer: customer, transaction: token)
    }

    mutating func payGood(_ token: String) {
        guard var good = play.goods[token] else { return }
        good.phase = .purchased
        good.purchased = now
        good.acknowledgeBy = pace.end(ofDays: 3, after: now)
        if good.option == .rent, let rental = shop.google?.product(good.product)?.rental {
            good.rentedUntil = pace.end(of: rental, after: now)
        }
        play.goods[token] = good
        play.orders[good.order]?.processed = now
        closeOrder(good.order, .processed)
        tellPlay(.productPurchased, token)
    }

    mutating func dropGood(_ token: String) {
        play.goods[token]?.phase = .cancelled
        closeOrder(play.goods[token]?.order, .cancelled)
        tellPlay(.productCanceled, token)
    }

    mutating func closeOrder(_ id: String?, _ state: PlayOrder.State) {
        guard let id else { return }
        play.orders[id]?.state = state
        play.orders[id]?.changed = now
    }
}
