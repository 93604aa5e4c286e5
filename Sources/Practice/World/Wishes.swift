internal import Core

/// The result of a step.
package struct Outcome: Sendable {
    package var customer: String?
    /// The transaction that the step created or changed.
    package var transaction: String?
    /// The store's comment on the result.
    package var note: String?

    package init(customer: String? = nil, transaction: String? = nil, note: String? = nil) {
        self.customer = customer
        self.transaction = transaction
        self.note = note
    }
}

extension PracticeWorld {
    /// Performs a step at the store's current time.
    package mutating func perform(_ step: Step) throws(PracticeError) -> Outcome {
        if let mistake = step.mistake { throw .invalid(mistake) }
        tick()
        defer { lastChange = now }
        if step.seller == .google { return try performInPlay(step) }
        if step.do.isForAll { return try performForAll(step) }
        guard let customer = step.customer, !customer.isEmpty else {
            throw .invalid("\(step.do.rawValue) needs a customer")
        }
        install(customer, version: step.version)
        var outcome = Outcome(customer: customer)
        switch step.do {
        case .install: break
        case .buy: outcome = try buy(step, for: customer)
        case .approve, .decline: outcome = try decide(step, for: customer)
        case .refund: outcome.transaction = try refund(step, of: customer)
        case .reverse: outcome.transaction = try reverse(step, of: customer)
        case .requestRefund, .declineRefund:
            let sale = try sale(step, of: customer)
            if step.do == .requestRefund {
                let reason = step.reason ?? .unintendedPurchase
                post("CONSUMPTION_REQUEST", about: sale.id, because: reason)
            } else {
                post("REFUND_DECLINED", about: sale.id)
            }
            outcome.transaction = sale.id
        case .failBilling:
            brokenCards.insert(customer)
            outcome.note = "payments of \(customer) fail from now on"
        case .fixBilling: outcome = fixBilling(of: customer)
        case .share: outcome = try share(step, of: customer)
        case .unshare: outcome.transaction = try unshare(step, of: customer)
        case .setToken: try setToken(step, of: customer)
        case .finish:
            let sale = try sale(step, of: customer)
            changeSale(sale.id) { $0.isFinished = true }
            outcome.transaction = sale.id
        case .rescindConsent: postRescindedConsent(of: customer)
        default: outcome.transaction = try performOnSubscription(step, of: customer)
        }
        return outcome
    }

    /// Moves the clock so that two changes never happen at the same instant. It is then always clear which statement is
    /// newer. Anything that is due by the later instant happens first.
    mutating func tick() {
        renewWhatIsDue()
        while lastChange >= now {
            now = lastChange.advanced(byMilliseconds: 1)
            renewWhatIsDue()
        }
    }

    private mutating func performForAll(_ step: Step) throws(PracticeError) -> Outcome {
        if step.do == .testNotification {
            post("TEST", about: nil)
            return Outcome(note: postings.last?.id)
        }
        guard let id = step.product else {
            throw .invalid("\(step.do.rawValue) needs a product from the shop; see shop.json")
        }
        let article = try article(id)
        if step.do == .withdraw {
            withdrawn.insert(article.id)
            return Outcome(note: "\(id) is no longer sold, and does not renew")
        }
        guard let price = step.price, price > self.price(of: article) else {
            throw .invalid("raise_price needs a price above \(self.price(of: article))")
        }
        prices[id] = price
        let needsConsent = step.needsConsent ?? false
        for original in renewals(of: id) {
            subscriptions[original]?.change = Subscription.PriceChange(
                price: price, needsConsent: needsConsent, isConsented: !needsConsent)
            tell("PRICE_INCREASE", needsConsent ? "PENDING" : "ACCEPTED", original)
        }
        return Outcome(note: "\(id) costs \(price) from the next renewal on")
    }

    /// Returns the subscriptions that will renew with that product, in order.
    private func renewals(of product: String) -> [String] {
        subscriptions.values
            .filter { $0.nextProduct == product && $0.isServing && $0.sharedFrom == nil }
            .map(\.original).sorted()
    }

    private mutating func performOnSubscription(
        _ step: Step, of customer: String
    ) throws(PracticeError) -> String? {
        let subscription = try subscription(step, of: customer)
        let original = subscription.original
        switch step.do {
        case .cancel: try cancel(subscription)
        case .resume: try resume(subscription)
        case .change: try change(subscription, step)
        case .extend:
            if let mistake = extend(original, byDays: step.days ?? 0) {
                throw .refused(mistake.sentence)
            }
        case .consent:
            guard subscription.change?.isConsented == false else {
                throw .refused("no price change of \(original) is waiting for consent")
            }
            subscriptions[original]?.change?.isConsented = true
            tell("PRICE_INCREASE", "ACCEPTED", original)
        default: throw .invalid("\(step.do.rawValue) cannot be used for a subscription")
        }
        return subscriptions[original]?.latest
    }

    func article(_ id: String) throws(PracticeError) -> Article {
        guard let article = shop.article(id) else {
            let names = shop.products.map(\.id)
            let hint =
                nearest(to: id, among: names).map { "the nearest is \($0)" }
                ?? "it sells \(names.prefix(12).joined(separator: ", "))"
            throw .invalid("the shop has no product \(id); \(hint); see shop.json")
        }
        return article
    }

    /// Returns the transaction that the step applies to.
    func sale(_ step: Step, of customer: String) throws(PracticeError) -> Sale {
        if let id = step.transaction {
            guard let sale = sale(id), sale.customer == customer else {
                throw .refused("\(customer) has no transaction \(id); see: deed-practice show")
            }
            if let product = step.product, sale.product != product {
                throw .refused("\(id) is a transaction for \(sale.product), not for \(product)")
            }
            return sale
        }
        if let product = step.product { _ = try article(product) }
        let all = sales.filter {
            $0.customer == customer && (step.product == nil || $0.product == step.product)
        }
        // A charged renewal whose period has not started is used only if the step names it.
        guard let found = all.last(where: { $0.purchased <= now }) ?? all.last else {
            throw .refused("\(customer) has bought no \(step.product ?? "product") yet")
        }
        return found
    }

    /// Returns the subscription that the step applies to: the one with the named product, otherwise
    /// the newest one that renews, otherwise the newest one.
    private func subscription(
        _ step: Step, of customer: String
    ) throws(PracticeError) -> Subscription {
        var group: String?
        if step.transaction != nil {
            let sale = try sale(step, of: customer)
            guard let found = subscriptions[sale.original] else {
                throw .refused(
                    "\(sale.id) is a transaction for \(sale.product), which is not a subscription")
            }
            return found
        }
        if let id = step.product {
            group = try article(id).group
            if group == nil {
                throw .invalid("\(id) is not a subscription; name one, or leave the product out")
            }
        }
        let all = subscriptions(of: customer).filter { group == nil || $0.group == group }
        guard let found = all.last(where: { $0.phase != .ended }) ?? all.last else {
            throw .refused("\(customer) has no subscription\(group.map { " in \($0)" } ?? "")")
        }
        return found
    }
}

extension PracticeWorld {
    private mutating func cancel(_ subscription: Subscription) throws(PracticeError) {
        let original = subscription.original
        if subscription.sharedFrom != nil {
            throw .refused("\(original) is shared by another customer, who has to cancel it")
        }
        if subscription.phase == .ended || subscription.phase == .revoked {
            throw .refused("\(original) has ended already")
        }
        if isCommitted(subscription) {
            subscriptions[original]?.willCommitAgain = false
        } else {
            guard subscription.willRenew else { throw .refused("\(original) is cancelled already") }
            subscriptions[original]?.willRenew = false
        }
        tell("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", original)
        if subscription.phase == .retry {
            lastChange = now
            tick()
            end(original, .cancelled, "VOLUNTARY")
        }
    }

    private mutating func resume(_ subscription: Subscription) throws(PracticeError) {
        let isOff = !subscription.willRenew || !subscription.willCommitAgain
        guard subscription.isServing, isOff, subscription.sharedFrom == nil else {
            throw .refused(
                "\(subscription.original) is not cancelled, or is over; if it is over, buy it again"
            )
        }
        subscriptions[subscription.original]?.willRenew = true
        subscriptions[subscription.original]?.willCommitAgain = true
        tell("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", subscription.original)
    }

    /// Changes the product. An upgrade takes effect immediately, a downgrade when the next period starts.
    private mutating func change(_ old: Subscription, _ step: Step) throws(PracticeError) {
        let original = old.original
        guard old.phase == .active, old.sharedFrom == nil else {
            throw .refused(
                "\(original) is \(old.phase.rawValue); only an active one can be changed")
        }
        guard let id = step.product, case let target = try article(id), target.group == old.group,
            let present = shop.article(old.product)
        else { throw .invalid("change needs a product in the group \(old.group)") }
        let offer = try offer(step.offer, of: target, for: old.customer)
        if target.id == old.product {
            guard old.nextProduct != old.product else {
                throw .refused("\(original) is already \(target.id), and no change is pending")
            }
            subscriptions[original]?.nextProduct = target.id
            tell("DID_CHANGE_RENEWAL_PREF", nil, original)
            return
        }
        let (level, oldLevel) = (target.level ?? 1, present.level ?? 1)
        let isNow = level > oldLevel || level == oldLevel && target.period == present.period
        subscriptions[original]?.willRenew = true
        subscriptions[original]?.nextProduct = target.id
        if isNow {
            markUpgraded(original)
            subscriptions[original]?.change = nil
            openPeriod(of: original, from: now, isRenewal: false, offer: offer)
        } else {
            subscriptions[original]?.nextOffer = offer
        }
        tell(
            offer == nil ? "DID_CHANGE_RENEWAL_PREF" : "OFFER_REDEEMED",
            isNow ? "UPGRADE" : "DOWNGRADE", original)
    }

    /// Repairs a customer's payment method, and collects failed payments.
    private mutating func fixBilling(of customer: String) -> Outcome {
        brokenCards.remove(customer)
        var outcome = Outcome(customer: customer, note: "payments of \(customer) succeed again")
        for subscription in subscriptions(of: customer)
        where subscription.sharedFrom == nil && subscription.willRenew {
            let start: Instant
            switch subscription.phase {
            case .grace: start = subscription.ends
            case .retry: start = now
            default: continue
            }
            renew(subscription.original, from: start)
            tell("DID_RENEW", "BILLING_RECOVERY", subscription.original)
            outcome.transaction = subscriptions[subscription.original]?.latest
        }
        return outcome
    }

    private mutating func setToken(
        _ step: Step, of customer: String
    ) throws(PracticeError) {
        guard let token = step.token else { throw .invalid("set_token needs a token") }
        let sale = try sale(step, of: customer)
        setToken(token, of: sale.original)
    }

    /// Adds the token to all later statements about the purchase.
    mutating func setToken(_ token: String, of original: String) {
        for sale in sales where sale.original == original {
            changeSale(sale.id) { $0.token = token }
        }
        subscriptions[original]?.token = token
    }
}

/// Why a subscription cannot be extended, with the code from the server API.
struct ExtensionRefusal: Sendable {
    let code: Int64
    let sentence: String
}

extension PracticeWorld {
    /// Extends the current period. Returns `nil` on success.
    mutating func extend(_ original: String, byDays days: Int64) -> ExtensionRefusal? {
        guard let subscription = subscriptions[original] else {
            return ExtensionRefusal(code: 4_040_005, sentence: "Original transaction id not found.")
        }
        if !(1...90).contains(days) {
            return ExtensionRefusal(code: 4_000_009, sentence: "Invalid extend by days value.")
        }
        if subscription.sharedFrom != nil {
            return ExtensionRefusal(
                code: 4_030_007, sentence: "Family-shared subscriptions cannot be extended.")
        }
        if subscription.phase != .active || subscription.offer?.discount == .freeTrial {
            return ExtensionRefusal(
                code: 4_030_004, sentence: "The subscription is not eligible for an extension.")
        }
        let year = now.advanced(byMilliseconds: -365 * 86_400_000)
        if subscription.extensions.count(where: { $0 > year }) >= 2 {
            return ExtensionRefusal(
                code: 4_030_005, sentence: "The subscription was extended twice within a year.")
        }
        let ends = pace.end(ofDays: days, after: subscription.ends)
        subscriptions[original]?.ends = ends
        let renewsAt = sale(subscription.latest).flatMap {
            renewal(before: ends, since: $0.purchased)
        }
        subscriptions[original]?.renewsAt = renewsAt
        subscriptions[original]?.extensions.append(now)
        changeSale(subscription.latest) { $0.expires = ends }
        for child in shares(of: original) {
            subscriptions[child.original]?.ends = ends
            changeSale(child.latest) { $0.expires = ends }
        }
        tell("RENEWAL_EXTENDED", nil, original)
        return nil
    }
}
