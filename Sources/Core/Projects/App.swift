/// One store listing of a project, and the rules for purchases in it.
package struct App: EventContent {
    /// The maximum number of customers listed for the sandbox.
    package static let listedCustomerLimit = 1000
    /// Integers up to this limit are exact in every JSON reader.
    package static let appleIDs: ClosedRange<Int64> = 1...(1 << 53) - 1

    package let key: AppKey
    /// The app's numeric id on the store's pages and in its APIs.
    package var appleID: Int64?
    package var sandboxAccess: SandboxAccess
    package var receipts: ReceiptJudge
    package var subject: EventSubject { .app(key) }

    package init(
        _ key: AppKey, appleID: Int64? = nil, sandboxAccess: SandboxAccess = .none,
        receipts: ReceiptJudge = .local
    ) {
        self.key = key
        self.appleID = appleID
        self.sandboxAccess = sandboxAccess
        self.receipts = receipts
    }
}

/// An app's store, and the app's id there.
package struct AppKey: Hashable, Comparable, Sendable {
    package let store: Store
    /// Apple's bundle id or Google's package name.
    package let id: AppID

    package init(store: Store, id: AppID) {
        self.store = store
        self.id = id
    }

    package static func < (one: AppKey, other: AppKey) -> Bool {
        one.store == other.store ? one.id < other.id : one.store.rawValue < other.store.rawValue
    }
}

/// The customers whose sandbox purchases in an app count in production answers.
package enum SandboxAccess: Hashable, Sendable {
    case none
    /// The purchases of certain customers, such as testers and the store's reviewers.
    case listed(Set<CustomerID>)
    case all

    func includes(_ customer: CustomerID) -> Bool {
        switch self {
        case .none: false
        case .listed(let customers): customers.contains(customer)
        case .all: true
        }
    }
}

/// Who judges an app's legacy receipts.
package enum ReceiptJudge: String, Hashable, Sendable, CaseIterable {
    /// Deed, by the signature alone.
    case local
    /// The store. Deed sends it each receipt. The store also knows about later refunds and renewals.
    case store
}
