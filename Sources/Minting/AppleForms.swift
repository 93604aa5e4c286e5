package import Core

extension ProductKind {
    /// The kind's name in signed transactions.
    package var appleName: String {
        switch self {
        case .consumable: "Consumable"
        case .nonConsumable: "Non-Consumable"
        case .nonRenewing: "Non-Renewing Subscription"
        case .autoRenewable: "Auto-Renewable Subscription"
        }
    }

    /// The kind's number in receipts.
    package var receiptNumber: Int64 {
        switch self {
        case .nonConsumable: 0
        case .consumable: 1
        case .nonRenewing: 2
        case .autoRenewable: 3
        }
    }
}

extension Instant {
    /// The instant in whole seconds, because the times in receipts have no fractions.
    package var secondText: String {
        String(decoding: text.utf8.prefix(19), as: UTF8.self) + "Z"
    }
}
