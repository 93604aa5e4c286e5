internal import Core
package import JSON

/// Google Play's answers about subscriptions. As in the real answers, members with Google's default value are left out.
extension PracticeWorld {
    /// Returns the store's answer about a purchase token, regardless of the API's limits.
    package func playAnswer(_ token: String) -> JSON? {
        play.subscriptions[token].map(playAnswer(of:)) ?? play.goods[token].map(playAnswer(v2:))
    }

    func playAnswer(of one: PlaySubscription) -> JSON {
        let state = playState(of: one)
        let isTest = environment != "Production"
        let names: JSON? = one.identifiers
        var answer: JSON = [
            "kind": "androidpublisher#subscriptionPurchaseV2", "regionCode": "US",
            "subscriptionState": .string("SUBSCRIPTION_STATE_\(state)"),
        ]
        answer =
            answer
            .with("startTime", one.started.map(\.playTime))
            .with("linkedPurchaseToken", one.linked.map(JSON.string))
            .with("pausedStateContext", state == "PAUSED" ? pauseContext(of: one) : nil)
            .with(
                "canceledStateContext",
                ["CANCELED", "EXPIRED"].contains(state) ? one.cancellation?.context : nil
            )
            .with("inGracePeriodStateContext", state == "IN_GRACE_PERIOD" ? one.declined : nil)
            .with("onHoldStateContext", state == "ON_HOLD" ? one.declined : nil)
            .with("testPurchase", isTest ? [:] : nil)
        answer =
            answer
            .with(
                "acknowledgementState",
                .string(
                    "ACKNOWLEDGEMENT_STATE_" + (one.isAcknowledged ? "ACKNOWLEDGED" : "PENDING"))
            )
            .with("externalAccountIdentifiers", names)
            .with("outOfAppPurchaseContext", outOfAppContext(of: one))
            .with("etag", .string(one.etag))
        return answer.with("lineItems", .array(one.items.map { line(of: $0, in: one) }))
    }

    private func playState(of one: PlaySubscription) -> String {
        let isCancelled = !one.renews && one.items.first?.kind != .prepaid
        switch one.phase {
        case .pending: return "PENDING"
        case .declined: return "PENDING_PURCHASE_CANCELED"
        case .active, .silent: return isCancelled ? "CANCELED" : "ACTIVE"
        case .grace: return isCancelled ? "CANCELED" : "IN_GRACE_PERIOD"
        case .hold: return "ON_HOLD"
        case .paused: return "PAUSED"
        case .ended, .revoked: return "EXPIRED"
        case .replaced: return lingers(one) ? isCancelled ? "CANCELED" : "ACTIVE" : "EXPIRED"
        }
    }

    private func lingers(_ one: PlaySubscription) -> Bool {
        shop.google?.oldTokensLinger == true && one.ends.map { now < $0 } ?? false
    }

    private func pauseContext(of one: PlaySubscription) -> JSON? {
        one.pause?.until.map { ["autoResumeTime": $0.playTime] }
    }

    private func outOfAppContext(of one: PlaySubscription) -> JSON? {
        guard let token = one.expiredToken else { return nil }
        let context: JSON = ["expiredPurchaseToken": .string(token)]
        return context.with(
            "expiredExternalAccountIdentifiers", play.subscriptions[token]?.identifiers)
    }

    private func line(of item: PlayItem, in one: PlaySubscription) -> JSON {
        // The period of a replaced purchase is over, unless the store is slow to report that.
        let isCut = one.phase == .replaced && !lingers(one)
        let expires = item.expires.map { isCut ? min($0, one.ended ?? $0) : $0 }
        let isOver = one.isOver && !lingers(one)
        let line: JSON = ["productId": .string(item.choice.product)]
        let phase = item.order != nil && one.isServing ? offerPhase(of: item) : nil
        return
            line
            .with("expiryTime", expires.map(\.playTime))
            .with("latestSuccessfulOrderId", item.order.map(JSON.string))
            .with("autoRenewingPlan", item.kind == .prepaid ? nil : renewingPlan(of: item, isOver))
            .with("prepaidPlan", item.kind == .prepaid ? prepaidPlan(of: item, isOver) : nil)
            .with("offerDetails", offerDetails(of: item))
            .with("offerPhase", phase)
            .with("deferredItemReplacement", item.deferred.map { ["productId": .string($0)] })
            .with("deferredItemRemoval", item.isRemoved && !isOver ? [:] : nil)
            .with("itemReplacement", replacement(of: item))
    }

    private func offerDetails(of item: PlayItem) -> JSON {
        let details: JSON = ["basePlanId": .string(item.choice.plan)]
        let tags = (shop.google?.plan(item.choice)?.tags ?? []) + (item.offer?.tags ?? [])
        return details.with("offerId", (item.offer?.id).map(JSON.string))
            .with("offerTags", tags.isEmpty ? nil : .array(tags.map(JSON.string)))
    }

    private func offerPhase(of item: PlayItem) -> JSON {
        if item.isProrated { return ["prorationPeriod": ["originalOfferPhaseType": "BASE"]] }
        return switch item.phaseWord {
        case "FREE_TRIAL": ["freeTrial": [:]]
        case "INTRODUCTORY": ["introductoryPrice": [:]]
        default: ["basePrice": [:]]
        }
    }

    private func renewingPlan(of item: PlayItem, _ isOver: Bool) -> JSON {
        let plan: JSON = [:]
        // The real store answers nothing more about a purchase that is over.
        if isOver { return plan }
        return plan.with("autoRenewEnabled", item.renews ? true : nil)
            .with("recurringPrice", money(item.price, item.currency))
            .with("priceChangeDetails", item.change.map { details(of: $0, item) })
            .with("installmentDetails", instalments(of: item))
    }

    private func details(of change: PlayItem.PriceChange, _ item: PlayItem) -> JSON {
        let state = change.isApplied ? "APPLIED" : change.isConsented ? "CONFIRMED" : "OUTSTANDING"
        let details: JSON = [
            "newPrice": money(change.price, item.currency),
            "priceChangeMode": change.needsConsent ? "PRICE_INCREASE" : "OPT_OUT_PRICE_INCREASE",
            "priceChangeState": .string(state),
        ]
        return details.with(
            "expectedNewPriceChargeTime", change.isApplied ? nil : item.expires.map(\.playTime))
    }

    private func instalments(of item: PlayItem) -> JSON? {
        guard let plan = shop.google?.plan(item.choice), let payments = plan.payments else {
            return nil
        }
        let details: JSON = ["initialCommittedPaymentsCount": .integer(payments)]
        let left = item.paymentsLeft ?? 0
        return details.with("remainingCommittedPaymentsCount", left > 0 ? .integer(left) : nil)
            .with("subsequentCommittedPaymentsCount", plan.laterPayments.map { .integer($0) })
            .with("pendingCancellation", item.endsWithCommitment ? [:] : nil)
    }

    private func prepaidPlan(of item: PlayItem, _ isOver: Bool) -> JSON {
        let plan: JSON = [:]
        return plan.with("allowExtendAfterTime", isOver ? nil : item.begun.playTime)
    }

    private func replacement(of item: PlayItem) -> JSON? {
        guard let replaced = item.replaced, now < pace.end(ofDays: 60, after: replaced.at) else {
            return nil
        }
        let answer: JSON = [
            "productId": .string(replaced.choice.product),
            "basePlanId": .string(replaced.choice.plan),
            "replacementMode": .string(replaced.mode),
        ]
        return answer.with("offerId", replaced.offer.map(JSON.string))
    }

    func money(_ thousandths: Int64, _ currency: String) -> JSON {
        let (units, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
        let money: JSON = ["currencyCode": .string(currency)]
        return money.with("units", units == 0 ? nil : .string(String(units)))
            .with("nanos", rest == 0 ? nil : .integer(rest * 1_000_000))
    }
}

extension PlaySubscription {
    var etag: String { "\"\(token.suffix(8))-\(revision)\"" }

    fileprivate var identifiers: JSON? {
        if accountToken == nil, profile == nil { return nil }
        let names: JSON = [:]
        return names.with("obfuscatedExternalAccountId", accountToken.map(JSON.string))
            .with("obfuscatedExternalProfileId", profile.map(JSON.string))
    }

    /// The order whose payment was declined.
    fileprivate var declined: JSON {
        ["renewalDeclined": ["pendingOrderId": .string("\(firstOrder)..\(renewals)")]]
    }
}

extension PlaySubscription.Cancellation {
    fileprivate var context: JSON {
        switch self {
        case .user(let at): ["userInitiatedCancellation": ["cancelTime": at.playTime]]
        case .system: ["systemInitiatedCancellation": [:]]
        case .developer: ["developerInitiatedCancellation": [:]]
        case .replacement: ["replacementCancellation": [:]]
        }
    }
}

extension Instant {
    /// The time in Google's format, which omits an empty fraction.
    var playTime: JSON { .string(text.replacing(".000Z", with: "Z")) }
}
