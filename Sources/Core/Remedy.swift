/// A problem and its remedy, for people.
package protocol Trouble: Sendable {
    /// The problem, without the remedy.
    var sentence: String { get }
    /// What a person can do about the problem; `nil` if the sentence already says so, or if nothing helps.
    var remedy: Remedy? { get }
}

/// What a person can do about a problem. A terminal shows it as commands, and a page as links.
package enum Remedy: Hashable, Sendable {
    // MARK: Projects and their settings
    case createProject(ProjectID)
    case listKeys
    case replaceKey
    case giveLaterEnd
    case shortenOverlap
    case listApps
    /// Another project has the app.
    case removeAppThere
    case askToAllowApp(AppKey)
    case withdrawAllowance
    case setStoreKey
    case restoreStoreKey
    case useStoreHere
    case removeStoreAddress
    case correctName
    case allowCredits(CurrencyID)
    case allowSupportGrants(EntitlementID)
    case allowMerges
    case allowMoreCustomersPerAccount
    case listWebhooks
    case allowPlainAddress
    case allowPrivateAddress

    // MARK: Customers
    case findCustomer
    case showCustomer
    case listNotes
    case listOrders
    case listUnclaimed
    case separateTokens
    case showErasure
    case listErasures
    case exportToFile
    /// The number of customers whose versions are needed.
    case giveVersions(Int)

    // MARK: The log and its database
    case migrate
    case installMigratingRelease
    case useMigratingRelease
    case startAnew
    case createServiceRole
    case admitServiceLogin
    case raiseFormat
    /// The database lacks events, perhaps because it was restored.
    case acceptLoss
    /// The record of the events seen in the database is damaged.
    case acceptServer
    case keepRecord
    case inspectRows
    case repairRows
    case moveEventAside
    case createTestClock

    // MARK: Evidence and reconciliations
    case inspectQueue
    case listReconciliations
    /// The next run also requests the remaining histories.
    case requestRemainingHistories
    case requestHistories
    case readHistories

    // MARK: People
    case resetSecondFactor
}

/// What a person can do about something that a project needs.
package enum ProjectRemedy: Hashable, Sendable {
    case createKey(ProjectID)
    case listProducts(ProjectID)
    case addBoughtProduct(ProjectID)
    case createStoreKey(StoreApp)
    case registerNotifications(StoreApp)
    case addApp(Store)
    /// No app can be added in the products' store.
    case removeProducts
    case giveEntitlement
    case limitSandbox(StoreApp)
    case removePracticeStore(StoreApp)
    case reconcileAgain(ProjectID)
    case reconcileNightly(ProjectID)
}
