internal import Core

/// The states of purchases in Google Play's records, and the access that they give.
extension PracticeWorld {
    var playCustomers: Set<String> {
        Set(play.subscriptions.values.map(\.customer)).union(play.goods.values.map(\.customer))
    }

    func playStandings(of customer: String) -> [Standing] {
        let renewing = playSubscriptions(of: customer).map { one in
            (one.number, one.items.map { standing(of: $0, in: one) })
        }
        let goods = playGoods(of: customer).map { ($0.number, [standing(of: $0)]) }
        return (renewing + goods).sorted { $0.0 < $1.0 }.flatMap(\.1)
    }

    private func standing(of item: PlayItem, in one: PlaySubscription) -> Standing {
        let isOwned = item.order != nil && one.isServing
        let until = isOwned ? item.expires : nil
        let word =
            switch one.phase {
            case .silent: PlaySubscription.Phase.active.rawValue
            case .active where item.order == nil: "waiting"
            default: one.phase.rawValue
            }
        return Standing(
            original: one.token, product: item.choice.product,
            isActive: until.map { now < $0 } ?? false,
            renews: item.renews && !(item.endsWithCommitment && item.paymentsLeft == 0),
            commitment: item.paymentsLeft.map { "\($0) payments left" }, until: until, word: word,
            store: .google)
    }

    private func standing(of good: PlayGood) -> Standing {
        let isOver = good.rentedUntil.map { $0 <= now } ?? false
        let isPaid = good.phase == .purchased
        let isUsedUp = good.isConsumed || shop.google?.product(good.product)?.consumable == true
        let word =
            switch good.phase {
            case .pending: "pending"
            case .cancelled: good.isRefunded ? "revoked" : "declined"
            case .purchased: isOver ? "ended" : isUsedUp ? "sold" : "active"
            }
        return Standing(
            original: good.token, product: good.product, isActive: isPaid && !isOver, renews: nil,
            commitment: nil, until: isPaid ? good.rentedUntil : nil, word: word, store: .google,
            quantity: good.quantity - good.refunded)
    }
}
