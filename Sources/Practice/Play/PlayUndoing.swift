internal import Core

/// Refunds in Google Play.
extension PracticeWorld {
    /// Refunds a purchase's newest order.
    mutating func refundInPlay(
        _ step: Step, of customer: String
    ) throws(PracticeError) -> Outcome {
        if let good = playGood(step, of: customer) {
            try refund(good, step)
            return Outcome(customer: customer, transaction: good.token)
        }
        let one = try playSubscription(step, of: customer)
        if step.quantity != nil {
            throw .invalid("a subscription has no quantity; only products are refunded in pieces")
        }
        if let product = step.product?.prefix(while: { $0 != ":" }), one.items.count > 1,
            one.items.first?.choice.product != String(product)
        {
            try refundItem(String(product), of: one)
        } else {
            guard let order = one.lastOrder else {
                throw .refused("the subscription has not been paid for yet")
            }
            try refundOrder(order, revokes: step.keepAccess != true, by: .customer)
        }
        return Outcome(customer: customer, transaction: one.token)
    }

    private mutating func refund(_ good: PlayGood, _ step: Step) throws(PracticeError) {
        guard let quantity = step.quantity else {
            return try refundOrder(good.order, revokes: step.keepAccess != true, by: .customer)
        }
        if step.keepAccess == true {
            throw .invalid("a refund of some pieces always revokes them; leave out --keep-access")
        }
        let left = good.quantity - good.refunded
        guard good.phase == .purchased, !good.isRefunded else {
            throw .refused("\(good.product) is not paid for, or has already been refunded")
        }
        guard good.quantity > 1 else { throw .refused("only one \(good.product) was bought") }
        guard quantity <= left else { throw .refused("only \(left) pieces are left to refund") }
        if quantity == left {
            return try refundOrder(good.order, revokes: true, by: .customer)
        }
        play.goods[good.token]?.refunded += quantity
        let price = play.orders[good.order]?.lines.first?.price ?? 0
        refundPart(of: good.order, price * quantity)
        appendVoid(of: good.order, by: .customer, quantity: quantity)
        tellPlay(.voided, good.token, order: good.order, isPartial: true)
    }

    /// Refunds the remaining amount of an order. If `revokes` is true, also ends the rights that the order gave.
    mutating func refundOrder(
        _ id: String, revokes: Bool, by source: PlayVoid.Source, reason: Int64 = 0
    ) throws(PracticeError) {
        guard let order = play.orders[id] else { throw .refused("there is no order \(id)") }
        guard [.processed, .partlyRefunded].contains(order.state) else {
            throw .refused("order \(id) is \(order.state.rawValue), so nothing is left to refund")
        }
        closeOrder(id, .refunded)
        if let good = play.goods[order.token] {
            play.goods[good.token]?.refunded = good.quantity
            play.goods[good.token]?.isRefunded = true
            if revokes {
                play.goods[good.token]?.phase = .cancelled
                play.goods[good.token]?.acknowledgeBy = nil
            }
        } else if revokes, let one = playHead(of: order.token), !one.isOver {
            revoke(one)
        }
        // A refund without revocation does not appear in the list of voided purchases.
        guard revokes else { return }
        appendVoid(of: id, by: source, reason: reason)
        tellPlay(.voided, order.token, order: id, isPartial: false)
    }

    /// Returns the newest purchase that continues the one with that token.
    private func playHead(of token: String) -> PlaySubscription? {
        var found = play.subscriptions[token]
        while let next = found?.replacedBy { found = play.subscriptions[next] }
        return found
    }

    /// Ends a subscription permanently, even in a paid period.
    private mutating func revoke(_ one: PlaySubscription) {
        changeInPlay(one.token) { [now] in
            $0.phase = .revoked
            $0.ended = now
            $0.acknowledgeBy = nil
            $0.pause = nil
            $0.cancellation = $0.cancellation ?? .developer
            for index in $0.items.indices { $0.items[index].renews = false }
            $0.items.removeAll { $0.order == nil }
        }
        cut(one.token)
        tellPlay(.revoked, one.token)
    }

    /// Revokes a subscription, and refunds the rest of the current period.
    mutating func revokeProrated(_ one: PlaySubscription) throws(PracticeError) {
        guard let id = one.lastOrder, let order = play.orders[id], one.isServing else {
            throw .refused("the subscription is \(one.phase.rawValue), so nothing can be revoked")
        }
        let share = one.items.first.map(unusedShare) ?? 0
        refundPart(of: id, Int64(Double(order.left) * share))
        revoke(one)
        appendVoid(of: id, by: .developer)
        tellPlay(.voided, one.token, order: id, isPartial: false)
    }

    private func unusedShare(of item: PlayItem) -> Double {
        guard let ends = item.expires, ends > item.begun else { return 0 }
        let whole = Double(ends.milliseconds - item.begun.milliseconds)
        return min(1, max(0, Double(ends.milliseconds - now.milliseconds) / whole))
    }

    /// Refunds one of several items. Only that item ends.
    mutating func refundItem(_ product: String, of one: PlaySubscription) throws(PracticeError) {
        guard one.isServing, one.items.count > 1,
            let item = one.items.first(where: { $0.choice.product == product }),
            let order = item.order
        else {
            throw .refused(
                "\(product) is not one of several items of the subscription, or is not owned")
        }
        let price = play.orders[order]?.lines.first { $0.product == product }?.price ?? 0
        refundPart(of: order, price)
        changeInPlay(one.token) { changed in
            changed.items.removeAll { $0.choice.product == product }
        }
        tellPlay(.itemsChanged, one.token)
    }

    private mutating func refundPart(of id: String, _ amount: Int64) {
        guard let order = play.orders[id] else { return }
        let part = min(order.left, amount)
        play.orders[id]?.partialRefunds.append(PlayOrder.PartialRefund(at: now, amount: part))
        closeOrder(id, .partlyRefunded)
    }

    private mutating func appendVoid(
        of id: String, by source: PlayVoid.Source, reason: Int64 = 0, quantity: Int64? = nil
    ) {
        guard let order = play.orders[id] else { return }
        play.voids.append(
            PlayVoid(
                order: id, token: order.token, purchased: order.created, at: now, source: source,
                reason: reason, isSubscription: play.subscriptions[order.token] != nil,
                quantity: quantity))
    }

    /// Refunds a purchase that was not acknowledged in time. A prepaid plan loses all of its time,
    /// including the time from earlier payments.
    mutating func takeBack(_ one: PlaySubscription) {
        changeInPlay(one.token) { $0.cancellation = .system }
        takeBack(order: one.firstOrder, of: one.token)
        if let changed = play.subscriptions[one.token], !changed.isOver { revoke(changed) }
    }

    mutating func takeBack(_ good: PlayGood) {
        takeBack(order: good.order, of: good.token)
        play.goods[good.token]?.phase = .cancelled
        play.goods[good.token]?.acknowledgeBy = nil
    }

    private mutating func takeBack(order id: String, of token: String) {
        try? refundOrder(id, revokes: true, by: .store, reason: PlayVoid.unacknowledged)
    }
}

extension PlaySubscription {
    /// The newest paid order.
    var lastOrder: String? {
        guard items.contains(where: { $0.order != nil }) else { return nil }
        return renewals > 0 ? "\(firstOrder)..\(renewals - 1)" : items.compactMap(\.order).last
    }
}
