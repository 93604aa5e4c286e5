package import Core

/// The actions that the store takes on its own as time passes.
extension PracticeWorld {
    /// The earliest instant at which something is due.
    package var nextDue: Instant? { nextItem?.at }

    /// The next due item. At the same instant, the store's own actions come first, then the steps
    /// of scenarios, and then notifications.
    private var nextItem: (at: Instant, item: Item)? {
        var found = nextRenewal.map { (at: $0.at, item: Item.subscription($0.original)) }
        if let due = nextPlayDue, found.map({ due.at < $0.at }) ?? true {
            found = (due.at, .purchaseToken(due.token))
        }
        if let plan = plans.first, found.map({ plan.at < $0.at }) ?? true {
            found = (plan.at, .plan)
        }
        for index in openPostings {
            guard let next = postings[index].next else { continue }
            if found.map({ next < $0.at }) ?? true { found = (next, .posting(index)) }
        }
        return found
    }

    /// The next subscription on which the store will act on its own.
    var nextRenewal: (at: Instant, original: String)? {
        subscriptions.values
            .compactMap { subscription in subscription.due.map { ($0, subscription.original) } }
            .min { $0 < $1 }
            .map { (at: $0.0, original: $0.1) }
    }

    mutating func renewWhatIsDue() {
        while let due = nextRenewal, due.at <= now { renewOrEnd(due.original) }
        while let due = nextPlayDue, due.at <= now { actInPlay(due.token) }
    }

    private enum Item {
        case subscription(String)
        /// A purchase token in Google Play.
        case purchaseToken(String)
        case plan
        case posting(Int)
    }

    /// The result of performing the next due item.
    package enum Done: Sendable {
        /// Nothing is due by the limit.
        case nothing
        case changed(Outcome)
        /// The caller must send the notification and record the result.
        case post(Int)
        /// A step of a scenario, which the store refused.
        case refused(Step, PracticeError)
    }

    /// Performs the next item that is due by `limit`, at its own instant.
    package mutating func doNext(by limit: Instant) -> Done {
        forgetOldPostings()
        guard let (at, item) = nextItem, at <= limit else {
            now = max(now, limit)
            return .nothing
        }
        now = max(now, at)
        switch item {
        case .posting(let index): return .post(index)
        case .subscription(let original):
            renewOrEnd(original)
            let subscription = subscriptions[original]
            return .changed(
                Outcome(
                    customer: subscription?.customer, transaction: subscription?.latest,
                    note: subscription.map { "\($0.product) is \($0.phase.rawValue)" }))
        case .purchaseToken(let token):
            actInPlay(token)
            return .changed(playOutcome(of: token))
        case .plan:
            let plan = plans.removeFirst()
            var changed = self
            do throws(PracticeError) {
                var outcome = try changed.perform(plan.step)
                outcome.note = outcome.note ?? plan.step.do.rawValue
                self = changed
                return .changed(outcome)
            } catch {
                return .refused(plan.step, error)
            }
        }
    }

    /// Schedules the steps of a scenario.
    package mutating func plan(_ steps: [(at: Instant, step: Step)]) {
        var number = (plans.map(\.number).max() ?? -1) + 1
        for (at, step) in steps {
            plans.append(Plan(at: max(at, now), number: number, step: step))
            number += 1
        }
        plans.sort { ($0.at, $0.number) < ($1.at, $1.number) }
    }

    /// Performs the action that is due for a subscription.
    mutating func renewOrEnd(_ original: String) {
        guard let subscription = subscriptions[original] else { return }
        defer { lastChange = now }
        switch subscription.phase {
        case .active where subscription.renewsAt != nil:
            // If the renewal fails now, it is tried once more when the period ends.
            subscriptions[original]?.renewsAt = nil
            if case .renews = fate(of: subscription) { endPeriod(subscription) }
        case .active: endPeriod(subscription)
        case .grace:
            if subscription.willRenew {
                subscriptions[original]?.phase = .retry
                subscriptions[original]?.graceUntil = nil
                tell("GRACE_PERIOD_EXPIRED", nil, original)
            } else {
                end(original, .cancelled, "VOLUNTARY")
            }
        case .retry: end(original, .billing, "BILLING_RETRY")
        case .ended, .revoked: break
        }
    }

    /// What happens to a subscription when its period ends.
    private enum Fate {
        case ends(Subscription.Intent, subtype: String)
        case fails
        case renews
    }

    private func fate(of subscription: Subscription) -> Fate {
        let isLast = isLastOfCommitment(subscription)
        if !subscription.willRenew || isLast && isCommitmentCancelled(subscription) {
            return .ends(.cancelled, subtype: "VOLUNTARY")
        }
        if isWithdrawn(subscription.nextProduct), !isCommitted(subscription) || isLast {
            return .ends(.withdrawn, subtype: "PRODUCT_NOT_FOR_SALE")
        }
        if let change = subscription.change, !change.isConsented {
            return .ends(.priceRefused, subtype: "PRICE_INCREASE")
        }
        return brokenCards.contains(subscription.customer) ? .fails : .renews
    }

    private mutating func endPeriod(_ subscription: Subscription) {
        let original = subscription.original
        switch fate(of: subscription) {
        case .ends(let intent, let subtype): end(original, intent, subtype)
        case .fails: failToRenew(subscription, isCommitted(subscription))
        case .renews:
            renew(original, from: subscription.ends)
            tell("DID_RENEW", nil, original)
        }
    }

    private func isWithdrawn(_ product: String) -> Bool {
        withdrawn.contains(product) || shop.article(product) == nil
    }

    private mutating func failToRenew(_ subscription: Subscription, _ isCommitted: Bool) {
        let original = subscription.original
        // The store tries to collect the payment for sixty days, or for ninety in a commitment.
        subscriptions[original]?.retryUntil = pace.end(
            ofDays: isCommitted ? 90 : 60, after: subscription.ends)
        subscriptions[original]?.intent = .billing
        guard !isCommitted, let grace = shop.article(subscription.product)?.grace else {
            subscriptions[original]?.phase = .retry
            tell("DID_FAIL_TO_RENEW", nil, original)
            return
        }
        subscriptions[original]?.phase = .grace
        subscriptions[original]?.graceUntil = pace.end(of: grace, after: subscription.ends)
        tell("DID_FAIL_TO_RENEW", "GRACE_PERIOD", original)
    }

    mutating func renew(_ original: String, from start: Instant) {
        guard let subscription = subscriptions[original] else { return }
        let offer = renewalOffer(of: subscription)
        subscriptions[original]?.nextOffer = nil
        let streakStart = streakStart(of: subscription, from: start)
        subscriptions[original]?.streakStart = streakStart
        openPeriod(of: original, from: start, isRenewal: true, offer: offer)
    }

    /// Returns the offer for the next period, if there is one.
    func renewalOffer(of subscription: Subscription) -> Article.Offer? {
        subscription.nextOffer ?? (subscription.paymentsLeft > 0 ? subscription.offer : nil)
    }

    /// Returns the price for the next period.
    func renewalPrice(of subscription: Subscription) -> Int64 {
        if let price = price(under: renewalOffer(of: subscription)) { return price }
        if let change = subscription.change { return change.price }
        guard subscription.nextProduct != subscription.product,
            let next = shop.article(subscription.nextProduct)
        else { return subscription.price }
        return price(of: next)
    }

    /// Returns the beginning of the run of periods that includes a period starting at `start`. A
    /// gap of less than sixty days does not end a run.
    func streakStart(of subscription: Subscription, from start: Instant) -> Instant {
        start < pace.end(ofDays: 60, after: subscription.ends) ? subscription.streakStart : start
    }

    /// Returns the win-back offers for a customer whose subscription has ended.
    func winBackOffers(for subscription: Subscription) -> [String] {
        guard subscription.phase == .ended, subscription.sharedFrom == nil else { return [] }
        let offers = shop.article(subscription.product)?.offers ?? []
        return offers.filter { $0.kind == .winBack }.map(\.id)
    }

    mutating func end(_ original: String, _ intent: Subscription.Intent, _ subtype: String) {
        subscriptions[original]?.phase = .ended
        subscriptions[original]?.intent = intent
        subscriptions[original]?.willRenew = false
        subscriptions[original]?.graceUntil = nil
        tell("EXPIRED", subtype, original)
    }
}

extension PracticeWorld {
    /// The state of a purchase in the store's own records.
    package struct Standing: Hashable, Sendable {
        package let original: String
        package let product: String
        package let isActive: Bool
        /// Whether another period follows; `nil` for a purchase without periods.
        package let renews: Bool?
        /// The current month in a commitment, as text.
        package let commitment: String?
        /// When access ends if nothing else happens; `nil` if it never ends or if that depends on the catalog.
        package let until: Instant?
        package let word: String
        package var store = Store.apple
        /// The purchased quantity that has not been refunded, if the store counts it.
        package var quantity: Int64?
    }

    package func standings(of customer: String) -> [Standing] {
        let renewing = subscriptions(of: customer).map { subscription in
            let end = subscription.phase == .grace ? subscription.graceUntil : subscription.ends
            return Standing(
                original: subscription.original, product: runningProduct(of: subscription),
                isActive: subscription.isServing && end.map { now < $0 } ?? false,
                renews: subscription.willRenew
                    && !(isLastOfCommitment(subscription) && isCommitmentCancelled(subscription)),
                commitment: subscription.isServing ? commitment(of: subscription) : nil,
                until: subscription.isServing ? end : nil, word: subscription.phase.rawValue)
        }
        let others = sales(of: customer).filter { $0.kind != .autoRenewable }.map { sale in
            let isRevoked = sale.revocation != nil
            return Standing(
                original: sale.original, product: sale.product, isActive: !isRevoked, renews: nil,
                commitment: nil, until: nil,
                word: isRevoked ? "revoked" : sale.kind == .consumable ? "sold" : "active")
        }
        return renewing + others + playStandings(of: customer)
    }

    /// Returns the product of the current period. A change that was charged early takes effect only
    /// when that period ends.
    private func runningProduct(of subscription: Subscription) -> String {
        guard let latest = sale(subscription.latest), now < latest.purchased else {
            return subscription.product
        }
        let begun = sales(of: subscription.customer).last {
            $0.original == subscription.original && $0.purchased <= now
        }
        return begun?.product ?? subscription.product
    }

    private func commitment(of subscription: Subscription) -> String? {
        sale(subscription.latest)?.commitment.map {
            "month \($0.number) of \(Sale.Commitment.total)"
                + (subscription.willCommitAgain ? "" : ", cancelled")
        }
    }
}
