internal import Core

/// Purchases that continue another one with a new token.
extension PracticeWorld {
    /// Changes the subscription or base plan, either immediately or when the current period ends.
    mutating func switchPlan(
        _ step: Step, in shop: PlayShop, for customer: String
    ) throws(PracticeError) -> Outcome {
        guard let id = step.product else { throw .invalid("change needs a product") }
        let choice = try playChoice(id, in: shop)
        let old = try playSubscription(step, of: customer)
        guard old.phase == .active else {
            throw .refused(
                "the subscription is \(old.phase.rawValue); only an active one can be changed")
        }
        guard old.items.count == 1, let present = old.items.first else {
            throw .refused(
                "the subscription has \(old.items.count) items; first cancel all but one")
        }
        if present.choice == choice { throw .refused("\(customer) has \(choice) already") }
        if present.choice.product != choice.product {
            try requireUnowned(choice.product, by: customer)
        }
        try requirePayment(step, of: customer)
        let isDeferred = step.when == .deferred
        let kinds = [present.kind, shop.plan(choice)?.kind]
        if isDeferred, kinds.contains(.prepaid) {
            throw .refused(
                "a prepaid plan does not renew, so changes to or from it cannot be deferred")
        }
        if present.paymentsLeft ?? 0 > 0, !isDeferred {
            throw .refused("the commitment to \(present.choice) has not ended; use --when deferred")
        }
        if isDeferred, step.pending == true {
            throw .refused("a deferred change is not charged yet, so its payment cannot be pending")
        }
        if isDeferred, !present.renews {
            throw .refused(
                "\(present.choice) is cancelled; only an item that renews can be changed later")
        }
        let offer = try playOffer(step.offer, of: choice, in: shop, for: customer)
        let entry: PlaySubscription.Entry = isDeferred ? .deferred : .prorated
        return try subscribe([(choice, offer)], entry, instead: old, step, for: customer)
    }

    /// Pays for another period of a prepaid plan.
    mutating func topUp(
        _ step: Step, in shop: PlayShop, for customer: String
    ) throws(PracticeError) -> Outcome {
        let old = try playSubscription(step, of: customer)
        guard let item = old.items.first, item.kind == .prepaid else {
            throw .refused(
                "the subscription renews automatically; only a prepaid one can be topped up")
        }
        guard old.isServing else {
            throw .refused("the prepaid plan is \(old.phase.rawValue); buy it again")
        }
        try requirePayment(step, of: customer)
        return try subscribe([(item.choice, nil)], .topUp, instead: old, step, for: customer)
    }

    private static let mostItems = 50

    /// Adds an item to a subscription.
    mutating func addOn(
        _ step: Step, in shop: PlayShop, for customer: String
    ) throws(PracticeError) -> Outcome {
        guard let id = step.product else { throw .invalid("add-on needs a product") }
        let choice = try playChoice(id, in: shop)
        try requireUnowned(choice.product, by: customer)
        let old = try playSubscription(step.changed { $0.product = nil }, of: customer)
        guard old.phase == .active, old.renews else {
            throw .refused("only an active subscription that renews can have add-ons")
        }
        guard let base = old.items.first, let plan = shop.plan(choice),
            let basePlan = shop.plan(base.choice),
            plan.kind == .autoRenewing, base.kind == .autoRenewing
        else {
            throw .refused("add-ons and the items that they are added to must renew automatically")
        }
        guard plan.period.duration == basePlan.period.duration else {
            throw .refused(
                "\(choice) lasts \(plan.period.text) and \(base.choice) \(basePlan.period.text): all "
                    + "items of a purchase have one period")
        }
        if old.items.contains(where: { $0.deferred != nil }) {
            throw .refused("a deferred change is pending; add items after it")
        }
        guard old.items.count < Self.mostItems else {
            throw .refused("a purchase has at most \(Self.mostItems) items")
        }
        try requirePayment(step, of: customer)
        return try subscribe([(choice, nil)], .addOn, instead: old, step, for: customer)
    }

    /// Resubscribes a returning customer, either in the app or, after the subscription has expired, in the Play Store
    /// app.
    mutating func resubscribe(
        _ step: Step, in shop: PlayShop, for customer: String
    ) throws(PracticeError) -> Outcome {
        let old = try playSubscription(step, of: customer)
        let isExpired = [.ended, .revoked].contains(old.phase)
        if step.inStore == true, !isExpired {
            throw .refused(
                "the subscription has not expired, so the Play Store app restarts it; see: resume")
        }
        guard isExpired || old.isServing && !old.renews, let item = old.items.first,
            item.kind != .prepaid
        else {
            throw .refused(
                "the subscription is \(old.phase.rawValue) and renews, or is prepaid, so there is nothing to renew"
            )
        }
        if isExpired { try requireUnowned(item.choice.product, by: customer) }
        try requirePayment(step, of: customer)
        let choices = [(item.choice, nil as PlayShop.Offer?)]
        if !isExpired {
            return try subscribe(choices, .renewed, instead: old, step, for: customer)
        }
        // The Play Store app does not know the app's accounts, so such a purchase has no account identifier.
        let outcome = try subscribe(choices, .fresh, instead: nil, step, for: customer)
        if step.inStore == true, let token = outcome.transaction {
            changeInPlay(token) { $0.expiredToken = old.token }
        }
        return outcome
    }
}
