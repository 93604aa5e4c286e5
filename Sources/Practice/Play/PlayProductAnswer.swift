internal import Core
internal import JSON

/// Google Play's answers about one-time products, orders and voided purchases.
extension PracticeWorld {
    /// Returns the answer from the older API, which uses numbers for states.
    func playAnswer(v1 good: PlayGood) -> JSON {
        let state: Int64 =
            switch good.phase {
            case .purchased: 0
            case .cancelled: 1
            case .pending: 2
            }
        let answer: JSON = [
            "kind": "androidpublisher#productPurchase",
            "purchaseTimeMillis": .string(String((good.purchased ?? good.asked).milliseconds)),
            "purchaseState": .integer(state), "consumptionState": .integer(good.isConsumed ? 1 : 0),
            "developerPayload": "", "acknowledgementState": .integer(good.isAcknowledged ? 1 : 0),
            "regionCode": "US",
        ]
        let left = good.quantity - good.refunded
        return
            answer
            .with("orderId", good.phase == .pending ? nil : .string(good.order))
            .with("purchaseType", environment == "Production" ? nil : 0)
            .with("obfuscatedExternalAccountId", good.accountToken.map(JSON.string))
            .with("quantity", good.quantity > 1 ? .integer(good.quantity) : nil)
            .with("refundableQuantity", good.quantity > 1 ? .integer(left) : nil)
    }

    /// Returns the answer from the newer API, which has items.
    func playAnswer(v2 good: PlayGood) -> JSON {
        let state =
            switch good.phase {
            case .purchased: "PURCHASED"
            case .cancelled: "CANCELLED"
            case .pending: "PENDING"
            }
        let isDone = good.isAcknowledged ? "ACKNOWLEDGED" : "PENDING"
        let answer: JSON = [
            "kind": "androidpublisher#productPurchaseV2",
            "productLineItem": .array([
                ["productId": .string(good.product), "productOfferDetails": offerDetails(of: good)]
            ]),
            "purchaseStateContext": ["purchaseState": .string(state)],
            "acknowledgementState": .string("ACKNOWLEDGEMENT_STATE_\(isDone)"), "regionCode": "US",
        ]
        return
            answer
            .with("testPurchaseContext", environment == "Production" ? nil : ["fopType": "TEST"])
            .with("orderId", good.phase == .pending ? nil : .string(good.order))
            .with("obfuscatedExternalAccountId", good.accountToken.map(JSON.string))
            .with("purchaseCompletionTime", good.purchased.map(\.playTime))
    }

    private func offerDetails(of good: PlayGood) -> JSON {
        let state = good.isConsumed ? "CONSUMED" : "YET_TO_BE_CONSUMED"
        let left = good.quantity - good.refunded
        let details: JSON = [
            "purchaseOptionId": .string(good.option.rawValue),
            "quantity": .integer(good.quantity),
            "consumptionState": .string("CONSUMPTION_STATE_\(state)"),
        ]
        let release: JSON = [:]
        return details.with("refundableQuantity", left == 0 ? nil : .integer(left))
            .with("rentOfferDetails", good.option == .rent ? [:] : nil)
            .with(
                "preorderOfferDetails",
                good.option == .preorder
                    ? release.with("preorderReleaseTime", good.released.map(\.playTime)) : nil)
    }

    func playAnswer(of order: PlayOrder) -> JSON {
        let none = money(0, order.currency)
        let answer: JSON = [
            "orderId": .string(order.id), "purchaseToken": .string(order.token),
            "state": .string(order.state.rawValue), "createTime": order.created.playTime,
            "lastEventTime": order.changed.playTime, "buyerAddress": ["buyerCountry": "US"],
            "total": money(order.total, order.currency), "tax": none,
            "developerRevenueInBuyerCurrency": money(order.left, order.currency),
            "orderDetails": ["taxInclusive": true], "salesChannel": "IN_APP",
            "lineItems": .array(order.lines.map(line)),
        ]
        return answer.with("orderHistory", history(of: order))
    }

    private func line(_ line: PlayOrder.Line) -> JSON {
        let total = money(line.price * line.quantity, line.currency)
        let answer: JSON = [
            "productId": .string(line.product), "productTitle": .string(line.product),
            "listingPrice": money(line.price, line.currency), "total": total,
            "tax": money(0, line.currency),
        ]
        guard let phase = line.phase else {
            return answer.with(
                "oneTimePurchaseDetails",
                ["purchaseOptionId": .string(line.plan), "quantity": .integer(line.quantity)])
        }
        let details: JSON = ["basePlanId": .string(line.plan), "offerPhase": .string(phase)]
        return answer.with(
            "subscriptionDetails",
            details.with("offerId", line.offer.map(JSON.string))
                .with("servicePeriodStartTime", line.starts.map(\.playTime))
                .with("servicePeriodEndTime", line.ends.map(\.playTime)))
    }

    private func history(of order: PlayOrder) -> JSON {
        let parts = order.partialRefunds.map { part -> JSON in
            [
                "createTime": part.at.playTime, "processTime": part.at.playTime,
                "state": "PROCESSED_SUCCESSFULLY",
                "refundDetails": [
                    "total": money(part.amount, order.currency), "tax": money(0, order.currency),
                ],
            ]
        }
        let refund: JSON = [
            "eventTime": order.changed.playTime, "refundReason": "OTHER",
            "refundDetails": [
                "total": money(order.left, order.currency), "tax": money(0, order.currency),
            ],
        ]
        let history: JSON = [:]
        return
            history
            .with("processedEvent", order.processed.map { ["eventTime": $0.playTime] })
            .with(
                "cancellationEvent",
                order.state == .cancelled ? ["eventTime": order.changed.playTime] : nil
            )
            .with("refundEvent", order.state == .refunded ? refund : nil)
            .with("partialRefundEvents", parts.isEmpty ? nil : .array(parts))
    }
}

extension PlayVoid {
    var json: JSON {
        let answer: JSON = [
            "kind": "androidpublisher#voidedPurchase", "purchaseToken": .string(token),
            "orderId": .string(order),
            "purchaseTimeMillis": .string(String(purchased.milliseconds)),
            "voidedTimeMillis": .string(String(at.milliseconds)),
            "voidedSource": .integer(source.rawValue), "voidedReason": .integer(reason),
        ]
        return answer.with("voidedQuantity", quantity.map { .integer($0) })
    }
}
