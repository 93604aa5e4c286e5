package import Core

// The properties of calls to the App Store's API.
extension StoreCall {
    /// Returns the budget for calls of this kind, which all instances share.
    package func budget(in environment: Environment) -> StoreBudget {
        let (name, perSecond) = allowance
        return StoreBudget(name, perSecond: perSecond, in: environment)
    }

    /// The name of the call's budget, and the calls per second that Apple allows for an app in production.
    private var allowance: (name: String, perSecond: Int64) {
        switch self {
        case .transaction: ("transaction", 50)
        case .installation: ("app_transaction", 50)
        case .standings: ("statuses", 50)
        case .history: StoreBudget.history
        case .refunds: ("refunds", 10)
        case .order: ("order", 10)
        case .notifications: ("notifications", 50)
        case .test: ("test", 1)
        case .testResult: ("test_result", 1)
        case .reading: ("reading", 1)
        case .probe: ("probe", 1)
        case .finish: ("finish", 50)
        case .setToken: ("token", 20)
        case .extend: ("extend", 20)
        case .extendAll: ("extend_all", 1)
        case .extendAllResult: ("extend_all_result", 1)
        case .consumption: ("consumption", 50)
        }
    }

    /// The transaction that the call concerns. If the call names no environment, Deed uses the
    /// environment whose store knows the transaction.
    var transaction: TransactionID? {
        switch self {
        case .transaction(let id), .installation(let id), .standings(let id),
            .history(let id, _, _), .refunds(let id, _), .finish(let id), .setToken(_, let id),
            .extend(let id, _), .consumption(_, let id):
            id
        case .order, .notifications, .test, .testResult, .reading, .probe, .extendAll,
            .extendAllResult:
            nil
        }
    }

    /// Whether the call is idempotent. Only an idempotent call is repeated after its answer was lost.
    var isRepeatable: Bool {
        switch self {
        case .test, .extend, .extendAll: false
        default: true
        }
    }
}

extension StoreBudget {
    fileprivate static let history: (name: String, perSecond: Int64) = ("history", 50)

    static func histories(in environment: Environment) -> StoreBudget {
        StoreBudget(history.name, perSecond: history.perSecond, in: environment)
    }

    /// Returns the budget for verifyReceipt. Apple does not publish a limit, so Deed sets its own.
    static func receipts(in environment: Environment) -> StoreBudget {
        StoreBudget("verify_receipt", perSecond: 20, in: environment)
    }

    /// A budget based on the number of calls per second that the store allows for an app in production.
    fileprivate init(_ name: String, perSecond: Int64, in environment: Environment) {
        // Leaves some calls for other programs that use the same key. The sandbox allows a tenth of
        // production's calls.
        let share: Int64 = environment == .production ? 90 : 9
        // The store counts calls per hour. A burst can use a twelfth of an hour's calls.
        self.init(name: name, pause: 100_000_000 / (perSecond * share), burst: 300_000_000)
    }
}
