/// A call of the store that has a limit of its own, for each app.
package enum StoreEndpoint: String, Hashable, Sendable, CaseIterable {
    case transaction, finish, history, refunds, statuses, order, notifications, consumption, token
    case extend, test
    case appTransaction = "app_transaction"
    case extendAll = "extend_all"
    case extendAllResult = "extend_all_result"
    case testResult = "test_result"
    case verifyReceipt = "verify_receipt"

    /// The calls in a second that the store allows an app in production. For verifyReceipt it names no
    /// limit: this one is ours.
    private var perSecond: Int64 {
        switch self {
        case .transaction, .appTransaction, .finish, .history, .statuses, .consumption,
            .notifications:
            50
        case .extend, .token, .verifyReceipt: 20
        case .order, .refunds: 10
        case .extendAll, .extendAllResult, .test, .testResult: 1
        }
    }

    /// What all instances together may ask.
    package func budget(in environment: Environment) -> StoreBudget {
        // Some is left for other programs with the same key. The sandbox allows a tenth.
        let share: Int64 = environment == .production ? 90 : 9
        // The store counts over an hour: a twelfth of that may be asked in a burst.
        return StoreBudget(pause: 100_000_000 / (perSecond * share), burst: 300_000_000)
    }
}

/// How often something may be done, in microseconds.
package struct StoreBudget: Hashable, Sendable {
    /// From one to the next, in the long run.
    package let pause: Int64
    /// How far ahead of that pace one may be.
    package let burst: Int64
}
