internal import Core

extension PlaySubscription {
    /// The reason why a purchase token is created.
    enum Entry: String, Codable, Sendable {
        case fresh
        /// A change that takes effect immediately. The rest of the old period becomes time for the new product.
        case prorated
        /// A change that takes effect when the old period ends.
        case deferred
        case addOn
        case topUp
        /// The customer subscribed again before the old period ended.
        case renewed
    }
}

extension PracticeWorld {
    /// Starts the purchase with that token after its first payment.
    mutating func begin(_ token: String) {
        guard var new = play.subscriptions[token] else { return }
        // If the old purchase ended during a pending change, the new purchase starts like any other.
        let old = new.linked.flatMap { play.subscriptions[$0] }.flatMap { $0.isServing ? $0 : nil }
        var charged: [PlayItem] = []
        switch new.entry {
        case .prorated: charged = exchange(&new, old)
        case .deferred where old != nil: wait(&new, old)
        case .addOn where old != nil: charged = add(&new, old)
        case .topUp, .renewed: charged = open(&new, from: max(now, old?.ends ?? now))
        case .fresh, .deferred, .addOn: charged = open(&new, from: now)
        }
        new.phase = .active
        new.started = now
        new.acknowledgeBy = acknowledgeLimit(of: new)
        play.subscriptions[token] = new
        if charged.isEmpty { play.orders[new.firstOrder] = nil }
        if !charged.isEmpty { book(new.firstOrder, of: new, charged, .processed) }
        if let linked = new.linked { replace(linked, by: token) }
        tellPlay(.purchased, token)
    }

    private mutating func replace(_ old: String, by new: String) {
        if play.subscriptions[old]?.isOver != false { return }
        changeInPlay(old) { [now] in
            $0.phase = .replaced
            $0.replacedBy = new
            $0.cancellation = .replacement
            $0.acknowledgeBy = nil
            $0.ended = now
        }
        tellPlay(.expired, old)
    }

    /// Returns the deadline for acknowledging the purchase. For a prepaid plan shorter than a week,
    /// it is half of the plan's length.
    private func acknowledgeLimit(of subscription: PlaySubscription) -> Instant {
        let usual = pace.end(ofDays: 3, after: now)
        guard let item = subscription.items.first, item.kind == .prepaid,
            let plan = shop.google?.plan(item.choice), plan.period.milliseconds < 7 * 86_400_000
        else { return usual }
        let whole = pace.end(of: plan.period, after: now).milliseconds - now.milliseconds
        return now.advanced(byMilliseconds: max(1, whole / 2))
    }

    /// Starts the first period of every item.
    private func open(_ new: inout PlaySubscription, from start: Instant) -> [PlayItem] {
        for index in new.items.indices {
            new.items[index] = next(of: new.items[index], from: start, order: new.firstOrder)
            // A top-up adds time after the current period but can be used immediately.
            new.items[index].begun = now
        }
        return new.items
    }

    /// Converts the unused money from the old period into time for the new product. If no money is
    /// left, charges a full period.
    private func exchange(_ new: inout PlaySubscription, _ old: PlaySubscription?) -> [PlayItem] {
        let replaced = old?.items.first
        let length = old.flatMap { old in
            replaced.flatMap { timeBought(by: $0, until: old.ends ?? now, for: new.items[0]) }
        }
        let mode = length == nil ? "CHARGE_FULL_PRICE" : "WITH_TIME_PRORATION"
        if let replaced { new.items[0].replaced = .init(of: replaced, mode, at: now) }
        guard let length else { return open(&new, from: now) }
        new.items[0].isProrated = true
        new.items[0].expires = now.advanced(byMilliseconds: length)
        new.items[0].order = new.firstOrder
        new.items[0].offer = nil
        return new.items
    }

    private func timeBought(
        by old: PlayItem, until ends: Instant, for new: PlayItem
    ) -> Int64? {
        guard let oldPlan = shop.google?.plan(old.choice), let plan = shop.google?.plan(new.choice)
        else { return nil }
        func length(_ wait: Wait) -> Double {
            Double(pace.end(of: wait, after: now).milliseconds - now.milliseconds)
        }
        let oldPrice = old.isProrated ? old.price : old.phase?.price ?? old.price
        let left = Double(max(0, ends.milliseconds - now.milliseconds))
        let money = left / length(old.phase?.period ?? oldPlan.period) * Double(oldPrice)
        guard money > 0, new.price > 0 else { return nil }
        // A conversion yields at most ten years, because dates have an upper limit.
        let time = min(money / Double(new.price) * length(plan.period), 10 * 366 * 86_400_000)
        return max(1, Int64(time))
    }

    /// Keeps the old product until its period ends. Until then, the answer also lists the new product, which is not
    /// owned.
    private func wait(_ new: inout PlaySubscription, _ old: PlaySubscription?) {
        guard let old, let kept = old.items.first else { return }
        var running = kept
        running.renews = false
        running.deferred = new.items[0].choice.product
        new.items[0].replaced = .init(of: kept, "DEFERRED", at: now)
        new.items.insert(running, at: 0)
    }

    /// Keeps the existing items, and adds one that ends at the same time for a proportional price.
    private func add(_ new: inout PlaySubscription, _ old: PlaySubscription?) -> [PlayItem] {
        guard let old, let ends = old.ends else { return [] }
        new.items[0].isProrated = true
        new.items[0].expires = ends
        new.items[0].order = new.firstOrder
        let charged = new.items
        let kept = old.items.map { item in
            var item = item
            item.replaced = .init(of: item, "KEEP_EXISTING", at: now)
            return item
        }
        new.items = kept + new.items
        return charged
    }

    /// Returns the item in its next period.
    func next(of item: PlayItem, from start: Instant, order: String) -> PlayItem {
        var item = item
        item.paid += 1
        if item.offer?.phase(ofPayment: item.paid - 1) == nil {
            item.offer = nil
            item.paid = 0
        }
        if item.phase == nil, let change = item.change, !change.isApplied {
            item.price = change.price
            item.change?.isApplied = true
        }
        let plan = shop.google?.plan(item.choice)
        let period = item.phase?.period ?? plan?.period ?? Wait(days: 30)
        item.begun = start
        item.expires = pace.end(of: period, after: start)
        item.order = order
        item.isProrated = false
        if item.kind == .instalments {
            item.paymentsLeft = paymentsLeft(after: item, plan)
            item.hasCommitted = true
        }
        return item
    }

    /// Returns the payments left after the item's current one, or `nil` if a commitment is over and
    /// no other one follows.
    private func paymentsLeft(after item: PlayItem, _ plan: PlayShop.BasePlan?) -> Int? {
        guard item.hasCommitted else { return plan?.payments.map { $0 - 1 } }
        guard let left = item.paymentsLeft else { return nil }
        return left > 0 ? left - 1 : plan?.laterPayments.map { $0 - 1 }
    }

    mutating func book(
        _ name: String, of subscription: PlaySubscription, _ items: [PlayItem],
        _ state: PlayOrder.State
    ) {
        let lines = items.map { item in
            PlayOrder.Line(
                product: item.choice.product, plan: item.choice.plan, offer: item.offer?.id,
                phase: item.phaseWord, price: charge(for: item), currency: item.currency,
                starts: item.expires == nil ? nil : item.begun, ends: item.expires)
        }
        var order = PlayOrder(
            id: name, token: subscription.token, state: state,
            created: play.orders[name]?.created ?? now, changed: now, lines: lines)
        if state == .processed { order.processed = now }
        play.orders[name] = order
    }

    /// Returns the amount that the customer pays for the item's current period.
    private func charge(for item: PlayItem) -> Int64 {
        guard item.isProrated, let ends = item.expires, let plan = shop.google?.plan(item.choice)
        else { return item.phase?.price ?? item.price }
        if item.replaced != nil { return 0 }
        let whole = pace.end(of: plan.period, after: item.begun).milliseconds
        let share =
            Double(ends.milliseconds - item.begun.milliseconds)
            / Double(max(1, whole - item.begun.milliseconds))
        return Int64(Double(item.price) * min(1, max(0, share)))
    }
}

extension PlayItem.Replaced {
    fileprivate init(of item: PlayItem, _ mode: String, at now: Instant) {
        self.init(choice: item.choice, offer: item.offer?.id, mode: mode, at: now)
    }
}

extension PlayItem {
    /// The name that orders use for this kind of phase.
    var phaseWord: String {
        guard let phase else { return "BASE" }
        return phase.price == 0 ? "FREE_TRIAL" : "INTRODUCTORY"
    }
}
