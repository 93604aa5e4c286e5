/// A project's settings for its customers' purchases and orders.
package struct ProjectSettings: Hashable, Sendable {
    package var transfer: TransferPolicy.Rule
    /// The rule for restored purchases; `nil` for the same rule.
    package var restore: TransferPolicy.Rule?
    /// How long a moved purchase stays with its new holder.
    package var coolDown: CalendarDuration
    /// How long an order waits if it does not say so itself.
    package var orderLifetime: CalendarDuration
    /// How much back ends may add to a balance, by currency; nothing for a currency that is missing here.
    package var creditLimits: [CurrencyID: CreditLimit]
    /// `nil`: Deed tells the store nothing about purchases with a requested refund.
    package var refundReporting: RefundReporting?
    /// How many customers may have installed an app with one store account; `nil` for any number.
    package var customersPerAccount: Int64?

    package static let customersPerAccount: Int64 = 3
    package static let accountLimits: ClosedRange<Int64> = 1...1000

    package init(
        transfer: TransferPolicy.Rule = .keep, restore: TransferPolicy.Rule? = nil,
        coolDown: CalendarDuration = .days(1), orderLifetime: CalendarDuration = .days(7),
        creditLimits: [CurrencyID: CreditLimit] = [:], refundReporting: RefundReporting? = nil,
        customersPerAccount: Int64? = ProjectSettings.customersPerAccount
    ) {
        self.transfer = transfer
        self.restore = restore
        self.coolDown = coolDown
        self.orderLifetime = orderLifetime
        self.creditLimits = creditLimits
        self.refundReporting = refundReporting
        self.customersPerAccount = customersPerAccount
    }

    /// For evidence that a customer submits.
    package var transferPolicy: TransferPolicy {
        TransferPolicy(rule: transfer, coolDown: coolDown)
    }

    /// For evidence with which a customer restores purchases.
    package var restorePolicy: TransferPolicy {
        TransferPolicy(rule: restore ?? transfer, coolDown: coolDown)
    }
}

/// How much of a currency back ends may add to a balance.
package struct CreditLimit: Hashable, Sendable {
    package static let range = 1...Balances.limit
    /// How many currencies of a project may have a limit.
    package static let countLimit = 1000

    package let perCall: Int64
    /// For each customer, from midnight to midnight in UTC.
    package let perDay: Int64

    package init(perCall: Int64, perDay: Int64) {
        self.perCall = perCall
        self.perDay = perDay
    }
}

extension CalendarDuration {
    /// The longest cool-down and the longest lifetime of an order, in days.
    package static let waitLimit: Int64 = 366

    /// Whether Deed may wait that long.
    var isWaitable: Bool {
        let limit = CalendarDuration.waitLimit * CivilDate.millisecondsPerDay
        return end(after: Instant(milliseconds: 0)).milliseconds <= limit
    }
}
