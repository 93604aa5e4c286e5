internal import Core

extension PracticeWorld {
    mutating func performOnPlaySubscription(_ step: Step, _ token: String) throws(PracticeError) {
        guard let one = play.subscriptions[token] else { return }
        if one.isOver || one.phase == .pending {
            throw .refused(
                "the subscription is \(one.phase.rawValue), so it cannot be changed")
        }
        switch step.do {
        case .cancel: try cancelInPlay(one, step)
        case .resume: try resumeInPlay(one)
        case .pause: try pause(one, days: step.days ?? 30)
        case .hold: try hold(one)
        case .recover: try recover(one)
        case .postpone: try postpone(one, byMilliseconds: (step.days ?? 0) * 86_400_000)
        case .consent: try consent(one)
        default:
            throw .invalid("Google Play has no \(step.do.rawValue); see docs/practice-store.md")
        }
    }

    private mutating func cancelInPlay(
        _ one: PlaySubscription, _ step: Step
    ) throws(PracticeError) {
        if let product = step.product?.prefix(while: { $0 != ":" }),
            let index = one.items.firstIndex(where: { $0.choice.product == product }), index > 0
        {
            return try remove(index, from: one)
        }
        try cancelInPlay(one, as: .user(now))
    }

    /// Ends only this item when its period ends.
    private mutating func remove(_ index: Int, from one: PlaySubscription) throws(PracticeError) {
        let item = one.items[index]
        if item.isRemoved { throw .refused("\(item.choice) is cancelled already") }
        if item.order == nil { throw .refused("\(item.choice) is not owned yet; see: change") }
        changeInPlay(one.token) {
            $0.items[index].isRemoved = true
            $0.items[index].renews = false
        }
        tellPlay(.itemsChanged, one.token)
    }

    mutating func cancelInPlay(
        _ one: PlaySubscription, as cancellation: PlaySubscription.Cancellation
    ) throws(PracticeError) {
        let isPrepaid = one.items.first?.kind == .prepaid
        if isPrepaid {
            throw .refused("a prepaid plan does not renew, so there is nothing to cancel")
        }
        guard one.renews, !one.items.contains(where: \.endsWithCommitment) else {
            throw .refused("the subscription is cancelled already")
        }
        if case .user = cancellation, one.items.contains(where: { $0.paymentsLeft ?? 0 > 0 }) {
            changeInPlay(one.token) { changed in
                for index in changed.items.indices {
                    changed.items[index].endsWithCommitment = true
                }
            }
            tellPlay(.cancellationScheduled, one.token)
            return
        }
        changeInPlay(one.token) { changed in
            changed.cancellation = cancellation
            changed.pause = nil
            for index in changed.items.indices { changed.items[index].renews = false }
            // A product that was to start later is not owned, and never will be.
            changed.items.removeAll { $0.order == nil }
            for index in changed.items.indices { changed.items[index].deferred = nil }
        }
        tellPlay(.canceled, one.token)
        // If no paid period remains, the subscription ends at once.
        if !one.isServing { endInPlay(one.token) }
    }

    /// Undoes a cancellation or a planned pause, or ends a pause.
    private mutating func resumeInPlay(_ one: PlaySubscription) throws(PracticeError) {
        if one.phase == .paused { return endPause(one) }
        if one.pause != nil {
            changeInPlay(one.token) { $0.pause = nil }
            tellPlay(.pauseChanged, one.token)
            return
        }
        if one.items.contains(where: \.endsWithCommitment) {
            changeInPlay(one.token) { changed in
                for index in changed.items.indices {
                    changed.items[index].endsWithCommitment = false
                }
            }
            tellPlay(.restarted, one.token)
            return
        }
        guard one.isServing, !one.renews, one.items.first?.kind != .prepaid else {
            throw .refused("the subscription is neither cancelled nor paused; see: recover")
        }
        changeInPlay(one.token) { changed in
            changed.cancellation = nil
            for index in changed.items.indices where !changed.items[index].isRemoved {
                changed.items[index].renews = true
            }
        }
        tellPlay(.restarted, one.token)
    }

    private mutating func pause(
        _ one: PlaySubscription, days: Int64
    ) throws(PracticeError) {
        guard (7...92).contains(days) else {
            throw .invalid("a pause must last 7 to 92 days, not \(days)")
        }
        guard one.phase == .active, one.renews else {
            throw .refused("only an active subscription that renews can be paused")
        }
        guard one.items.allSatisfy({ $0.kind == .autoRenewing }) else {
            throw .refused("prepaid plans and instalments cannot be paused")
        }
        if one.items.contains(where: { isLongerThanThreeMonths($0.choice) }) {
            throw .refused("a plan of more than three months cannot be paused")
        }
        if one.items.contains(where: { $0.phase?.price == 0 }) {
            throw .refused("a free trial cannot be paused")
        }
        changeInPlay(one.token) { $0.pause = PlaySubscription.Pause(days: days) }
        tellPlay(.pauseChanged, one.token)
    }

    private func isLongerThanThreeMonths(_ choice: PlayChoice) -> Bool {
        (shop.google?.plan(choice)?.period.milliseconds ?? 0) > 93 * 86_400_000
    }

    /// Puts the subscription on hold, as if a payment had failed and the grace period had ended.
    private mutating func hold(_ one: PlaySubscription) throws(PracticeError) {
        guard one.isServing, one.renews else {
            throw .refused("only a subscription that renews can be put on hold")
        }
        if holdLength(of: one) == nil {
            throw .refused("\(one.items[0].choice) has a hold of 0 days in shop.json")
        }
        play.brokenCards.insert(one.customer)
        putOnHold(one)
    }

    /// Makes the customer's payments succeed again.
    private mutating func recover(_ one: PlaySubscription) throws(PracticeError) {
        guard [.silent, .grace, .hold].contains(one.phase) else {
            throw .refused("no payment of the subscription failed; it is \(one.phase.rawValue)")
        }
        _ = fixPlayBilling(of: one.customer)
    }

    mutating func fixPlayBilling(of customer: String) -> Outcome {
        play.brokenCards.remove(customer)
        var outcome = Outcome(
            customer: customer, note: "payments of \(customer) in Google Play succeed again")
        for one in playSubscriptions(of: customer) where one.renews {
            switch one.phase {
            case .silent, .grace: renewInPlay(one, from: one.failedAt ?? now, .renewed)
            case .hold: renewInPlay(one, from: now, .recovered)
            default: continue
            }
            outcome.transaction = one.token
        }
        return outcome
    }

    /// Postpones the next payment, and with it the end of the current period.
    mutating func postpone(
        _ one: PlaySubscription, byMilliseconds length: Int64
    ) throws(PracticeError) {
        try requirePostponable(one, byMilliseconds: length)
        changeInPlay(one.token) { changed in
            for index in changed.items.indices {
                changed.items[index].expires = changed.items[index].expires?.advanced(
                    byMilliseconds: length)
            }
        }
        tellPlay(.deferred, one.token)
    }

    func requirePostponable(
        _ one: PlaySubscription, byMilliseconds length: Int64
    ) throws(PracticeError) {
        guard (86_400_000...365 * 86_400_000).contains(length) else {
            throw .invalid("a payment can be deferred by 1 to 365 days")
        }
        guard one.phase == .active, one.renews, one.items.first?.kind != .prepaid else {
            throw .refused("only an active subscription that renews can be deferred")
        }
    }

    private mutating func consent(_ one: PlaySubscription) throws(PracticeError) {
        guard one.items.contains(where: { $0.change?.isConsented == false }) else {
            throw .refused("no price change of the subscription is waiting for consent")
        }
        changeInPlay(one.token) { changed in
            for index in changed.items.indices { changed.items[index].change?.isConsented = true }
        }
        tellPlay(.priceChanged, one.token)
    }

    mutating func raisePlayPrice(
        _ step: Step, in shop: PlayShop
    ) throws(PracticeError) -> Outcome {
        guard let id = step.product else {
            throw .invalid("raise_price needs a subscription from the shop; see shop.json")
        }
        let choice = try playChoice(id, in: shop)
        guard let plan = shop.plan(choice), let price = step.price,
            price > playPrice(of: choice, plan)
        else { throw .invalid("raise_price needs a price above the current one for \(choice)") }
        play.prices[choice] = price
        let needsConsent = step.needsConsent ?? false
        let concerned = play.subscriptions.values.sorted { $0.number < $1.number }.filter { one in
            !one.isOver && one.items.contains { $0.choice == choice && $0.renews }
        }
        for one in concerned {
            changeInPlay(one.token) { changed in
                for index in changed.items.indices where changed.items[index].choice == choice {
                    changed.items[index].change = PlayItem.PriceChange(
                        price: price, needsConsent: needsConsent, isConsented: !needsConsent)
                }
            }
            tellPlay(.priceChanged, one.token)
        }
        return Outcome(note: "\(choice) costs \(price) from the next renewal on")
    }
}
