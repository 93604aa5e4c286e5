/// A project's settings for its customers' purchases and orders.
package struct ProjectSettings: EventContent {
    package var transfer: TransferPolicy.Rule
    /// The rule for restored purchases; `nil` if they follow the rule for submitted ones.
    package var restore: TransferPolicy.Rule?
    /// How long a moved purchase must stay with its new holder.
    package var coolDown: CalendarDuration
    /// How long an order without its own lifetime waits for its purchase.
    package var orderLifetime: CalendarDuration
    /// The maximum amounts that back ends may add to a balance, by currency. Back ends may add
    /// nothing in other currencies.
    package var creditLimits: [CurrencyID: CreditLimit]
    /// `nil` if Deed does not report to the store on refund requests.
    package var refundReporting: RefundReporting?
    /// How many customers with the same store account may have an app installed; `nil` for no limit.
    package var customersPerAccount: Int64?
    package var supportLimits: SupportLimits
    package var merge: MergePolicy

    package static let customersPerAccount: Int64 = 3
    package static let accountLimits: ClosedRange<Int64> = 1...1000
    package var subject: EventSubject { .project }

    package init(
        transfer: TransferPolicy.Rule = .keep, restore: TransferPolicy.Rule? = nil,
        coolDown: CalendarDuration = .days(1), orderLifetime: CalendarDuration = .days(7),
        creditLimits: [CurrencyID: CreditLimit] = [:], refundReporting: RefundReporting? = nil,
        customersPerAccount: Int64? = ProjectSettings.customersPerAccount,
        supportLimits: SupportLimits = SupportLimits(), merge: MergePolicy = .staff
    ) {
        self.transfer = transfer
        self.restore = restore
        self.coolDown = coolDown
        self.orderLifetime = orderLifetime
        self.creditLimits = creditLimits
        self.refundReporting = refundReporting
        self.customersPerAccount = customersPerAccount
        self.supportLimits = supportLimits
        self.merge = merge
    }

    /// The policy for evidence submitted by a customer.
    package var transferPolicy: TransferPolicy {
        TransferPolicy(rule: transfer, coolDown: coolDown)
    }

    /// The policy for evidence used to restore purchases.
    package var restorePolicy: TransferPolicy {
        TransferPolicy(rule: restore ?? transfer, coolDown: coolDown)
    }
}

/// Who may merge two customers of a project.
package enum MergePolicy: String, Hashable, Sendable, CaseIterable {
    /// Support staff and admins.
    case staff
    /// Support staff, admins and back ends. A back end may not merge a customer who has a purchase of another account.
    case backend
}

/// How much of a currency back ends may add to a customer's balance.
package struct CreditLimit: Hashable, Sendable {
    package static let range = 1...Balances.limit
    /// The maximum number of currencies with limits in one project.
    package static let countLimit = 1000

    package let perCall: Int64
    /// The maximum per customer and day, from midnight to midnight UTC.
    package let perDay: Int64

    package init(perCall: Int64, perDay: Int64) {
        self.perCall = perCall
        self.perDay = perDay
    }
}

extension CalendarDuration {
    /// The maximum number of days for a cool-down and for an order's lifetime.
    package static let waitLimit: Int64 = 366

    /// Whether the duration is short enough to wait for.
    var isWaitable: Bool {
        let limit = CalendarDuration.waitLimit * CivilDate.millisecondsPerDay
        return end(after: Instant(milliseconds: 0)).milliseconds <= limit
    }
}
