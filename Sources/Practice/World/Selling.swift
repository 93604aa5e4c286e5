internal import Core

extension PracticeWorld {
    mutating func buy(_ step: Step, for customer: String) throws(PracticeError) -> Outcome {
        guard let id = step.product else { throw .invalid("buy needs a product") }
        let article = try self.article(id)
        if let offer = step.offer, !article.isRenewing {
            throw .invalid(
                "\(id) is not a subscription, so the offer \(offer) does not apply to it")
        }
        if let quantity = step.quantity, quantity > 1, article.kind != .consumable {
            throw .invalid(
                "\(id) is not a consumable, so its quantity must be 1 and not \(quantity)")
        }
        if withdrawn.contains(id) { throw .refused("\(id) is no longer sold") }
        if brokenCards.contains(customer) {
            throw .refused("payments of \(customer) fail; repair them with: fix-billing")
        }
        if step.ask == true {
            let name = uuid()
            asks[name] = Ask(customer: customer, buy: step.changed { $0.ask = nil })
            return Outcome(
                customer: customer, note: "is waiting for a parent; see: approve, decline")
        }
        if article.isRenewing { return try subscribe(step, article, for: customer) }
        return buyOnce(step, article, for: customer)
    }

    /// Applies a parent's decision to the purchases that wait for it.
    mutating func decide(_ step: Step, for customer: String) throws(PracticeError) -> Outcome {
        let waiting = asks.filter { $0.value.customer == customer }.keys.sorted()
        guard !waiting.isEmpty else { throw .refused("no purchase by \(customer) is waiting") }
        var outcome = Outcome(customer: customer, note: "\(waiting.count) decided")
        for name in waiting {
            guard let ask = asks.removeValue(forKey: name), step.do == .approve else { continue }
            outcome.transaction = try buy(ask.buy, for: customer).transaction
        }
        return outcome
    }

    private mutating func buyOnce(
        _ step: Step, _ article: Article, for customer: String
    ) -> Outcome {
        // A permanent purchase is not sold twice. The store restores it instead.
        if article.kind == .nonConsumable,
            let known = sales.last(where: {
                $0.customer == customer && $0.product == article.id && $0.revocation == nil
            })
        {
            return Outcome(
                customer: customer, transaction: known.id, note: "was bought before; restored")
        }
        let name = transactionName()
        var sale = Sale(
            id: name, original: name, customer: customer, product: article.id, kind: article.kind,
            group: nil, purchased: now, originallyPurchased: now, lineItem: transactionName(),
            order: orderName(), price: price(of: article), currency: article.currency ?? "USD",
            token: step.token, changed: now)
        sale.quantity = article.kind == .consumable ? max(1, step.quantity ?? 1) : 1
        sale.price *= sale.quantity
        sales.append(sale)
        post("ONE_TIME_CHARGE", about: name)
        return Outcome(customer: customer, transaction: name)
    }

    private mutating func subscribe(
        _ step: Step, _ article: Article, for customer: String
    ) throws(PracticeError) -> Outcome {
        guard let group = article.group else { throw .invalid("\(article.id) has no group") }
        let offer = try offer(step.offer, of: article, for: customer)
        let known = subscriptions(of: customer).last { $0.group == group && $0.sharedFrom == nil }
        if let known, known.phase == .retry {
            throw .refused("\(known.original) cannot be paid for; repair this with: fix-billing")
        }
        if let known, known.isServing {
            guard let offer, known.product == article.id else {
                throw .refused("\(customer) has \(known.product) already; see: change, cancel")
            }
            subscriptions[known.original]?.nextOffer = offer
            subscriptions[known.original]?.willRenew = true
            tell("OFFER_REDEEMED", nil, known.original)
            return Outcome(customer: customer, transaction: known.latest)
        }
        let original = known?.original ?? transactionName()
        var subscription = Subscription(
            original: original, customer: customer, group: group, product: article.id,
            nextProduct: article.id, latest: original, ends: now, token: step.token,
            streakStart: known.map { streakStart(of: $0, from: now) } ?? now,
            price: price(of: article))
        subscription.extensions = known?.extensions ?? []
        subscriptions[original] = subscription
        openPeriod(of: original, from: now, isRenewal: false, offer: offer)
        tell("SUBSCRIBED", known == nil ? "INITIAL_BUY" : "RESUBSCRIBE", original)
        return Outcome(customer: customer, transaction: subscriptions[original]?.latest)
    }

    /// Returns the offer with that name, if the customer is eligible for it.
    func offer(
        _ id: String?, of article: Article, for customer: String
    ) throws(PracticeError) -> Article.Offer? {
        guard let id else { return nil }
        guard let offer = article.offers?.first(where: { $0.id == id }) else {
            throw .invalid("\(article.id) has no offer \(id); see shop.json")
        }
        let past = sales.filter { $0.customer == customer && $0.group == article.group }
        if offer.kind == .introductory, !past.isEmpty {
            throw .refused("\(customer) subscribed before, so \(id) is not available to them")
        }
        let subscribes = subscriptions(of: customer).contains {
            $0.group == article.group && $0.isServing
        }
        if offer.kind == .winBack, past.isEmpty || subscribes {
            throw .refused("\(id) is only for customers who left")
        }
        return offer
    }

    /// Starts a period of the next product.
    mutating func openPeriod(
        of original: String, from start: Instant, isRenewal: Bool, offer: Article.Offer?
    ) {
        guard var subscription = subscriptions[original],
            let article = shop.article(subscription.nextProduct)
        else { return }
        let commitment = nextCommitment(of: subscription, article, from: start, isRenewal)
        let ends = pace.end(of: offer?.period ?? article.period ?? Wait(days: 30), after: start)
        let isFirst = sale(subscription.original) == nil
        let name = isFirst ? original : transactionName()
        if subscription.product != article.id { subscription.price = price(of: article) }
        if let change = subscription.change {
            subscription.price = change.price
            subscription.change = nil
        }
        subscription.product = article.id
        subscription.phase = .active
        subscription.ends = ends
        subscription.renewsAt = renewal(before: ends, since: start)
        subscription.latest = name
        subscription.graceUntil = nil
        subscription.retryUntil = nil
        subscription.intent = nil
        if !isRenewal || offer != subscription.offer {
            subscription.offer = offer
            subscription.paymentsLeft = offer?.payments ?? 1
        }
        subscription.paymentsLeft = max(0, subscription.paymentsLeft - 1)
        subscriptions[original] = subscription
        var sale = Sale(
            id: name, original: original, customer: subscription.customer, product: article.id,
            kind: article.kind, group: article.group, purchased: start,
            originallyPurchased: self.sale(original)?.originallyPurchased ?? start, expires: ends,
            lineItem: transactionName(), order: orderName(), isRenewal: isRenewal,
            price: price(under: offer) ?? subscription.price,
            currency: article.currency ?? "USD", offer: offer, token: subscription.token,
            commitment: commitment, changed: now)
        sale.sharedFrom = subscription.sharedFrom
        sales.append(sale)
    }

    /// Returns when the store charges for the next period: a tenth of the current period's length
    /// before the next one starts, but at most a day before.
    func renewal(before ends: Instant, since start: Instant) -> Instant? {
        if shop.app.renewsEarly == false { return nil }
        let length = ends.milliseconds - start.milliseconds
        return ends.advanced(byMilliseconds: -min(86_400_000, length / 10))
    }

    /// Refunds a renewal whose period has not started. The previous period becomes the newest one again.
    @discardableResult
    mutating func undoRenewal(of original: String) -> String? {
        guard let subscription = subscriptions[original], let charged = sale(subscription.latest),
            charged.purchased > now,
            let running = sales.last(where: {
                $0.original == original && $0.expires == charged.purchased
            })
        else { return nil }
        changeSale(charged.id) { [now] in
            $0.revocation = Sale.Revocation(
                at: now, extent: charged.isShared ? .family : .full,
                milliPercent: charged.isShared ? nil : 100_000, isForApp: false)
        }
        subscriptions[original]?.latest = running.id
        subscriptions[original]?.product = running.product
        subscriptions[original]?.ends = charged.purchased
        subscriptions[original]?.renewsAt = nil
        return charged.id
    }

    func price(under offer: Article.Offer?) -> Int64? {
        guard let offer else { return nil }
        return offer.discount == .freeTrial ? 0 : offer.price ?? 0
    }
}

extension PracticeWorld {
    func isCommitted(_ subscription: Subscription) -> Bool {
        shop.article(subscription.product)?.commitment == true
    }

    /// Returns the position of the next period in a commitment. A late payment postpones the end of the commitment.
    private func nextCommitment(
        of subscription: Subscription, _ article: Article, from start: Instant, _ isRenewal: Bool
    ) -> Sale.Commitment? {
        guard article.commitment == true, let period = article.period else { return nil }
        if isRenewal, let last = sale(subscription.latest), var next = last.commitment,
            next.number < Sale.Commitment.total, last.product == article.id
        {
            next.number += 1
            let late = start.milliseconds - subscription.ends.milliseconds
            next.ends = next.ends.advanced(byMilliseconds: late)
            return next
        }
        var ends = start
        for _ in 0..<Sale.Commitment.total { ends = pace.end(of: period, after: ends) }
        return Sale.Commitment(number: 1, ends: ends)
    }

    /// Returns whether the customer still pays but no new commitment follows the current one.
    func isCommitmentCancelled(_ subscription: Subscription) -> Bool {
        isCommitted(subscription) && !subscription.willCommitAgain
    }

    func isLastOfCommitment(_ subscription: Subscription) -> Bool {
        sale(subscription.latest)?.commitment?.number == Sale.Commitment.total
    }
}
