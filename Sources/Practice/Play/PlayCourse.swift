internal import Core

/// The actions that Google Play takes on its own as time passes.
extension PracticeWorld {
    /// The purchase token on which Google Play will act next.
    var nextPlayDue: (at: Instant, token: String)? {
        let all =
            play.subscriptions.values.compactMap { one in one.due.map { ($0, one.token) } }
            + play.goods.values.compactMap { good in good.due.map { ($0, good.token) } }
        return all.min { $0 < $1 }.map { (at: $0.0, token: $0.1) }
    }

    /// Performs the action that is due for a purchase token.
    mutating func actInPlay(_ token: String) {
        defer { lastChange = now }
        if let good = play.goods[token] { return act(on: good) }
        guard let one = play.subscriptions[token] else { return }
        if let limit = one.acknowledgeBy, limit <= now { return takeBack(one) }
        switch one.phase {
        case .active: endPlayPeriod(one)
        case .silent: endSilence(one)
        case .grace: continueGrace(one)
        case .hold: endUnpaid(one)
        case .paused: endPause(one)
        case .pending, .declined, .ended, .revoked, .replaced: break
        }
    }

    /// Returns the new state of the purchase, for the list of events.
    func playOutcome(of token: String) -> Outcome {
        if let good = play.goods[token] {
            return Outcome(
                customer: good.customer, transaction: token,
                note: "\(good.product) is \(good.phase.rawValue)")
        }
        let one = play.subscriptions[token]
        let products = one?.items.map(\.choice.product).joined(separator: ", ") ?? ""
        return Outcome(
            customer: one?.customer, transaction: token,
            note: "\(products) is \(one?.phase.rawValue ?? "unknown")")
    }

    private mutating func act(on good: PlayGood) {
        if good.phase == .purchased { return takeBack(good) }
        // A pre-order is charged when the product is released.
        if play.brokenCards.contains(good.customer) {
            dropGood(good.token)
        } else {
            payGood(good.token)
        }
    }

    private mutating func endPlayPeriod(_ one: PlaySubscription) {
        let isLastOfCommitment = one.items.contains {
            $0.endsWithCommitment && $0.paymentsLeft == 0
        }
        if isLastOfCommitment {
            changeInPlay(one.token) { [now] in $0.cancellation = .user(now) }
            tellPlay(.canceled, one.token)
            endInPlay(one.token)
        } else if !one.renews {
            endInPlay(one.token)
        } else if let pause = one.pause {
            beginPause(one, days: pause.days)
        } else if one.items.contains(where: { $0.renews && isRefused($0) }) {
            endUnpaid(one)
        } else if play.brokenCards.contains(one.customer) {
            beginSilence(one)
        } else {
            renewInPlay(one, from: one.ends ?? now, .renewed)
        }
    }

    /// Returns whether the item does not renew because the customer did not agree to a higher price
    /// or the plan is no longer sold.
    private func isRefused(_ item: PlayItem) -> Bool {
        let isUnconsented = item.change.map { !$0.isConsented && !$0.isApplied } ?? false
        return isUnconsented || shop.google?.plan(item.choice) == nil
    }

    mutating func renewInPlay(
        _ one: PlaySubscription, from start: Instant, _ kind: PlayMessage.Kind
    ) {
        let name = "\(one.firstOrder)..\(one.renewals)"
        let items = one.items.filter(\.renews).map { next(of: $0, from: start, order: name) }
        changeInPlay(one.token) {
            $0.items = items
            $0.renewals += 1
            $0.phase = .active
            $0.pause = nil
            $0.failedAt = nil
            $0.graceUntil = nil
            $0.holdUntil = nil
        }
        book(name, of: one, items, .processed)
        tellPlay(kind, one.token)
        if items.count < one.items.count { tellPlay(.itemsChanged, one.token) }
    }

    mutating func endInPlay(_ token: String) {
        changeInPlay(token) { [now] in
            $0.phase = .ended
            $0.ended = now
            $0.acknowledgeBy = nil
            $0.pause = nil
            for index in $0.items.indices { $0.items[index].renews = false }
        }
        if let one = play.subscriptions[token] {
            closeOrder("\(one.firstOrder)..\(one.renewals)", .cancelled)
        }
        tellPlay(.expired, token)
    }

    private mutating func endUnpaid(_ one: PlaySubscription) {
        changeInPlay(one.token) { $0.cancellation = .system }
        tellPlay(.canceled, one.token)
        endInPlay(one.token)
    }
}

/// What Google Play does after failed payments.
extension PracticeWorld {
    private var aDay: Int64 { pace.milliseconds(86_400_000) }

    /// Starts the day on which the store retries a payment without reporting it, while access continues.
    private mutating func beginSilence(_ one: PlaySubscription) {
        let ends = one.ends ?? now
        bookUnpaid(one)
        changeInPlay(one.token) {
            $0.phase = .silent
            $0.failedAt = ends
        }
        extend(one.token, to: ends.advanced(byMilliseconds: aDay))
    }

    /// Records the order whose payment failed.
    private mutating func bookUnpaid(_ one: PlaySubscription) {
        let name = "\(one.firstOrder)..\(one.renewals)"
        book(name, of: one, one.items.filter(\.renews), .pending)
    }

    private mutating func endSilence(_ one: PlaySubscription) {
        if !one.renews { return endInPlay(one.token) }
        let failedAt = one.failedAt ?? now
        let graces = one.items.map { item in
            shop.google?.plan(item.choice)?.grace.map { pace.end(of: $0, after: failedAt) }
                ?? failedAt
        }
        let graceUntil = graces.min() ?? failedAt
        guard now < graceUntil else { return stopServing(one) }
        changeInPlay(one.token) {
            $0.phase = .grace
            $0.graceUntil = graceUntil
        }
        extend(one.token, to: min(graceUntil, now.advanced(byMilliseconds: aDay)))
        tellPlay(.inGrace, one.token)
    }

    /// Moves the end of the period forward by a day, as long as the grace period lasts.
    private mutating func continueGrace(_ one: PlaySubscription) {
        if !one.renews { return endInPlay(one.token) }
        guard let limit = one.graceUntil, now < limit else { return stopServing(one) }
        extend(one.token, to: min(limit, now.advanced(byMilliseconds: aDay)))
    }

    private mutating func extend(_ token: String, to end: Instant) {
        changeInPlay(token) {
            for index in $0.items.indices where $0.items[index].expires != nil {
                $0.items[index].expires = end
            }
        }
    }

    private mutating func stopServing(_ one: PlaySubscription) {
        if holdLength(of: one) == nil { endUnpaid(one) } else { putOnHold(one) }
    }

    /// Returns how long the hold lasts, or `nil` if the plan has none.
    func holdLength(of one: PlaySubscription) -> Wait? {
        let waits = one.items.map { shop.google?.plan($0.choice)?.hold ?? Wait(days: 30) }
        let shortest = waits.min { $0.milliseconds < $1.milliseconds }
        return shortest.flatMap { $0.milliseconds > 0 ? $0 : nil }
    }

    mutating func putOnHold(_ one: PlaySubscription) {
        let length = holdLength(of: one) ?? Wait(days: 30)
        bookUnpaid(one)
        changeInPlay(one.token) { [now, pace] in
            $0.phase = .hold
            $0.pause = nil
            $0.graceUntil = nil
            $0.holdUntil = pace.end(of: length, after: now)
        }
        cut(one.token)
        tellPlay(.onHold, one.token)
    }

    /// Ends the items' periods now, unless they have already ended.
    mutating func cut(_ token: String) {
        changeInPlay(token) { [now] in
            for index in $0.items.indices {
                $0.items[index].expires = $0.items[index].expires.map { min($0, now) }
            }
        }
    }
}

extension PracticeWorld {
    private mutating func beginPause(_ one: PlaySubscription, days: Int64) {
        changeInPlay(one.token) { [now, pace] in
            $0.phase = .paused
            $0.pause?.until = pace.end(ofDays: days, after: now)
        }
        tellPlay(.paused, one.token)
    }

    mutating func endPause(_ one: PlaySubscription) {
        if play.brokenCards.contains(one.customer) { return stopServing(one) }
        renewInPlay(one, from: now, .recovered)
    }
}
