package import Core

// How the App Store's API is called.
extension StoreCall {
    /// The shared budget of all instances for such calls.
    package func budget(in environment: Environment) -> StoreBudget {
        let (name, perSecond) = allowance
        return StoreBudget(name, perSecond: perSecond, in: environment)
    }

    /// The name of its budget, and how many such calls per second the store allows an app in production.
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

    /// The transaction that the call is about. If a call names a transaction and no environment, the
    /// store that knows the transaction determines the environment.
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

    /// Whether making it twice does no more than making it once: only then is it repeated after a
    /// lost answer.
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

    /// Apple states no limit for verifyReceipt: this one is ours.
    static func receipts(in environment: Environment) -> StoreBudget {
        StoreBudget("verify_receipt", perSecond: 20, in: environment)
    }

    /// A budget from the store's limit for an app per second in production.
    fileprivate init(_ name: String, perSecond: Int64, in environment: Environment) {
        // Leaves some calls to other programs with the same key. The sandbox allows a tenth.
        let share: Int64 = environment == .production ? 90 : 9
        // The store counts over an hour: a twelfth of that may be used in a burst.
        self.init(name: name, pause: 100_000_000 / (perSecond * share), burst: 300_000_000)
    }
}
