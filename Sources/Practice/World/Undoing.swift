internal import Core

/// Refunds, and family sharing.
extension PracticeWorld {
    mutating func refund(_ step: Step, of customer: String) throws(PracticeError) -> String {
        let sale = try sale(step, of: customer)
        if sale.isShared { throw .refused("\(sale.id) is shared; refund the customer who paid") }
        if sale.revocation != nil { throw .refused("\(sale.id) has already been refunded") }
        let percent = step.percent.map { Int64(($0 * 1000).rounded()) }
        if percent == 0 { throw .invalid("percent must be at least 0.001") }
        let isProrated = step.prorated ?? (percent != nil && percent != 100_000)
        let share = percent ?? (isProrated ? unusedShare(of: sale) : 100_000)
        guard let share, share > 0 else {
            throw .invalid("a prorated refund of \(sale.product) requires a percent")
        }
        // A renewal that was charged early is also refunded. Refunding only the renewal would not end any access.
        let (charged, shared) = undoRenewals(of: sale.original)
        if let charged, charged == sale.id {
            for one in [sale.original] + shares(of: sale.original).map(\.original) {
                subscriptions[one]?.willRenew = false
            }
            post("REFUND", about: charged)
            for copy in shared { post("REVOKE", about: copy) }
            return charged
        }
        changeSale(sale.id) { [now] in
            $0.revocation = Sale.Revocation(
                at: now, extent: isProrated ? .prorated : .full, milliPercent: share,
                isForApp: step.forApp ?? false)
        }
        if let charged { post("REFUND", about: charged) }
        for copy in shared { post("REVOKE", about: copy) }
        // If another period has already followed this one, only this period ends, and the subscription continues.
        endForGood(sale)
        post("REFUND", about: sale.id)
        revokeShares(of: sale)
        return sale.id
    }

    /// Refunds a renewal whose period has not started, and removes its shares.
    private mutating func undoRenewals(of original: String) -> (String?, shared: [String]) {
        guard let charged = undoRenewal(of: original) else { return (nil, []) }
        return (charged, shares(of: original).compactMap { undoRenewal(of: $0.original) })
    }

    /// Stops a subscription whose newest period was refunded: it does not renew, and its payment is not retried. A
    /// period that has already expired is treated in the same way, although the real store's documentation does not
    /// cover that case.
    private mutating func endForGood(_ sale: Sale) {
        guard let subscription = subscriptions[sale.original], subscription.latest == sale.id
        else { return }
        subscriptions[sale.original]?.phase = .revoked
        subscriptions[sale.original]?.willRenew = false
        subscriptions[sale.original]?.refundedGrace = subscription.graceUntil
        subscriptions[sale.original]?.graceUntil = nil
        subscriptions[sale.original]?.retryUntil = nil
    }

    /// Returns the remaining part of a period, in thousandths of a percent.
    private func unusedShare(of sale: Sale) -> Int64? {
        guard let expires = sale.expires, expires > sale.purchased else { return nil }
        let whole = expires.milliseconds - sale.purchased.milliseconds
        let left = max(0, expires.milliseconds - now.milliseconds)
        return max(1, Int64(Double(left) / Double(whole) * 100_000))
    }

    mutating func reverse(_ step: Step, of customer: String) throws(PracticeError) -> String {
        var step = step
        if step.transaction == nil {
            step.transaction =
                sales.last { sale in
                    sale.customer == customer
                        && sale.revocation.map { $0.at >= sale.purchased } ?? false
                        && (step.product == nil || sale.product == step.product)
                }?.id
        }
        guard step.transaction != nil else { throw .refused("\(customer) has no refund") }
        let sale = try sale(step, of: customer)
        guard let revocation = sale.revocation, revocation.extent != .family else {
            throw .refused("\(sale.id) is not refunded")
        }
        if let subscription = subscriptions[sale.original], subscription.latest != sale.id,
            let expires = sale.expires, now < expires
        {
            throw .refused(
                "\(sale.original) has been bought again since; that period would count twice")
        }
        changeSale(sale.id) { $0.revocation = nil }
        restore(sale.original, after: sale.id)
        post("REFUND_REVERSED", about: sale.id)
        giveBackShares(of: sale.original, takenAt: revocation.at)
        return sale.id
    }

    /// Restores a subscription whose newest period was revoked.
    private mutating func restore(_ original: String, after sale: String) {
        guard let subscription = subscriptions[original], subscription.latest == sale,
            subscription.phase == .revoked
        else { return }
        if subscription.ends > now {
            subscriptions[original]?.phase = .active
        } else if let grace = subscription.refundedGrace, grace > now {
            subscriptions[original]?.phase = .grace
            subscriptions[original]?.graceUntil = grace
        } else {
            subscriptions[original]?.phase = .ended
            subscriptions[original]?.intent = subscription.intent ?? .cancelled
        }
        subscriptions[original]?.refundedGrace = nil
    }
}

extension PracticeWorld {
    /// Returns the family members' shares of a subscription, in order.
    func shares(of original: String) -> [Subscription] {
        subscriptions.values.filter { $0.sharedFrom == original && $0.phase != .revoked }
            .sorted { $0.original < $1.original }
    }

    mutating func share(_ step: Step, of customer: String) throws(PracticeError) -> Outcome {
        guard let member = step.with, member != customer else {
            throw .invalid("share requires another customer to share with")
        }
        let sale = try sale(step, of: customer)
        guard shop.article(sale.product)?.familyShareable == true, !sale.isShared else {
            throw .refused("\(sale.product) cannot be shared with a family; see shop.json")
        }
        if sharedSales(of: sale.original).contains(where: { $0.customer == member }) {
            throw .refused("\(sale.product) is already shared with \(member)")
        }
        install(member)
        if sale.kind == .nonConsumable { return shareForGood(sale, with: member) }
        guard let parent = subscriptions[sale.original], parent.isServing else {
            throw .refused("\(sale.original) gives no access that could be shared")
        }
        let name = transactionName()
        var copy = parent.copy(named: name, for: member)
        copy.streakStart = now
        subscriptions[name] = copy
        appendShare(of: parent, to: copy, from: now, isRenewal: false)
        post("SUBSCRIBED", "INITIAL_BUY", about: name)
        return Outcome(customer: member, transaction: name)
    }

    private mutating func shareForGood(_ sale: Sale, with member: String) -> Outcome {
        let name = transactionName()
        var copy = Sale(
            id: name, original: name, customer: member, product: sale.product, kind: sale.kind,
            group: nil, purchased: now, originallyPurchased: now, lineItem: transactionName(),
            order: sale.order, price: 0, currency: sale.currency, changed: now)
        copy.sharedFrom = sale.original
        sales.append(copy)
        post("ONE_TIME_CHARGE", about: name)
        return Outcome(customer: member, transaction: name)
    }

    private mutating func appendShare(
        of parent: Subscription, to child: Subscription, from start: Instant, isRenewal: Bool
    ) {
        guard let source = sale(parent.latest) else { return }
        let name = isRenewal ? transactionName() : child.original
        var copy = Sale(
            id: name, original: child.original, customer: child.customer, product: source.product,
            kind: source.kind, group: source.group, purchased: start,
            originallyPurchased: sale(child.original)?.originallyPurchased ?? start,
            expires: source.expires, lineItem: transactionName(), order: source.order,
            isRenewal: isRenewal, price: 0, currency: source.currency, changed: now)
        copy.sharedFrom = parent.original
        sales.append(copy)
        subscriptions[child.original]?.latest = name
    }

    /// Returns the transactions that currently give family members a share.
    private func sharedSales(of original: String) -> [Sale] {
        shares(of: original).compactMap { sale($0.latest) }
            + sales.filter {
                $0.sharedFrom == original && $0.kind != .autoRenewable && $0.revocation == nil
            }
    }

    /// Ends the access of one family member, or of all members.
    mutating func unshare(_ step: Step, of customer: String) throws(PracticeError) -> String {
        if let product = step.product { _ = try article(product) }
        func copies(of sale: Sale) -> [Sale] {
            sharedSales(of: sale.original).filter { step.with == nil || $0.customer == step.with }
        }
        let source = sales.last {
            $0.customer == customer && (step.product == nil || $0.product == step.product)
                && (step.transaction == nil || $0.id == step.transaction) && !copies(of: $0).isEmpty
        }
        guard let source else {
            let what = step.transaction ?? step.product ?? "anything"
            let member = step.with ?? "anyone"
            throw .refused("\(customer) does not share \(what) with \(member)")
        }
        for copy in copies(of: source) { revoke(copy) }
        return source.id
    }

    private mutating func revokeShares(of sale: Sale) {
        // Revoking a period does not end access if another period has followed it.
        if let parent = subscriptions[sale.original], parent.phase != .revoked { return }
        for share in sharedSales(of: sale.original) { revoke(share) }
    }

    private mutating func revoke(_ share: Sale) {
        changeSale(share.id) { [now] in
            $0.revocation = Sale.Revocation(
                at: now, extent: .family, milliPercent: nil, isForApp: false)
        }
        subscriptions[share.original]?.phase = .revoked
        subscriptions[share.original]?.willRenew = false
        subscriptions[share.original]?.graceUntil = nil
        post("REVOKE", about: share.id)
    }

    /// Restores the shares that family members lost through a refund, when the refund is reversed.
    private mutating func giveBackShares(of original: String, takenAt instant: Instant) {
        let taken = sales.filter {
            $0.sharedFrom == original && $0.revocation?.extent == .family
                && $0.revocation?.at == instant && $0.purchased <= instant
        }
        for share in taken {
            changeSale(share.id) { $0.revocation = nil }
            if let parent = subscriptions[original] {
                subscriptions[share.original]?.phase = parent.phase
                subscriptions[share.original]?.intent = parent.intent
            }
            post("REFUND_REVERSED", about: share.id)
        }
    }

    /// Reports a change to a subscription, and the same change to each of its shares.
    mutating func tell(_ type: String, _ subtype: String?, _ original: String) {
        guard let parent = subscriptions[original] else { return }
        post(type, subtype, about: parent.latest)
        let opened = ["SUBSCRIBED", "DID_RENEW", "DID_CHANGE_RENEWAL_PREF", "OFFER_REDEEMED"]
            .contains(type)
        for child in shares(of: original) {
            guard let latest = sale(child.latest), let source = sale(parent.latest) else {
                continue
            }
            var copy = parent.copy(named: child.original, for: child.customer)
            copy.latest = child.latest
            copy.streakStart = child.streakStart
            subscriptions[child.original] = copy
            if opened, latest.expires != source.expires || latest.product != source.product {
                if subtype == "UPGRADE" { markUpgraded(child.original) }
                appendShare(of: parent, to: child, from: source.purchased, isRenewal: true)
            }
            let name = subscriptions[child.original]?.latest
            post(type, subtype, about: name)
        }
    }
}

extension Subscription {
    /// Returns a copy of the subscription for a family member, under a different name.
    fileprivate func copy(named name: String, for member: String) -> Subscription {
        var copy = Subscription(
            original: name, customer: member, group: group, product: product,
            nextProduct: nextProduct, latest: name, ends: ends, streakStart: streakStart,
            price: 0)
        copy.willRenew = willRenew
        copy.phase = phase
        copy.graceUntil = graceUntil
        copy.retryUntil = retryUntil
        copy.intent = intent
        copy.sharedFrom = original
        return copy
    }
}
