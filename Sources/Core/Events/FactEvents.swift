extension EventType {
    static let transactions: EventFamily = [
        .purchaseMade: .fact("purchase.made", "{product} was bought{period}", .listed),
        .subscriptionRenewed: .fact(
            "subscription.renewed", "{product} was renewed{period}", .listed),
        .subscriptionUpgraded: .fact(
            "subscription.upgraded", "The subscription changed to {product}{period}", .listed),
        .subscriptionExtended: .fact(
            "subscription.extended", "The store extended {product}{period}", .listed),
        .purchaseRefunded: .fact("purchase.refunded", "{product} was refunded", .listed),
        .purchaseRevoked: .fact("purchase.revoked", "{product} was revoked", .listed),
        .refundReversed: .fact(
            "refund.reversed", "The refund of {product} was reversed", .listed),
        .purchaseRestated: .fact(
            "purchase.restated", "The store gave more details of {product}{period}", .listed),
        .renewalChanged: .fact("renewal.changed", "{product} {renewal}", .listed),
        .renewalRestated: .fact("renewal.restated", "{product} {renewal}", .listed),
    ]
    static let accounts: EventFamily = [
        .appInstalled: .fact("app.installed", "{app} was installed", .listed),
        .consentRescinded: .fact(
            "consent.rescinded", "Consent to the use of {app} was withdrawn", .leftOut),
        .accountJoined: EventDescription(
            name: "account.joined", home: .account, since: .first, isAct: false,
            explanation: .leftOut, sentence: nil),
    ]
}
