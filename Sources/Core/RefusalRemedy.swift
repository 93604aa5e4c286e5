extension Refusal: Trouble {
    package var remedy: Remedy? {
        switch self {
        case .projectUnknown(let id): .createProject(id)
        case .keyUnknown: .listKeys
        case .key(let refusal): refusal.remedy
        case .support(let refusal): refusal.remedy
        case .merge(let refusal): refusal.remedy
        case .appUnknown: .listApps
        case .appTaken: .removeAppThere
        case .appNotAllowed(let key): .askToAllowApp(key)
        case .tooManyAllowedApps: .withdrawAllowance
        case .grantUnknown, .purchaseUnknown: .showCustomer
        case .noteUnknown: .listNotes
        case .customerUnknown: .findCustomer
        case .alreadyErased: .showErasure
        case .neverErased: .listErasures
        case .exportTooLarge: .exportToFile
        case .nameUnknown: .correctName
        case .creditNotAllowed(let currency): .allowCredits(currency)
        case .orderUnknown: .listOrders
        case .tooManyUnclaimed: .separateTokens
        case .notUnclaimed: .listUnclaimed
        case .accountShared: .allowMoreCustomersPerAccount
        case .formatPending: .raiseFormat
        case .versionsMiscounted(let count): .giveVersions(count)
        case .intakeFull: .inspectQueue
        case .realStoreOnTestClock: .useStoreHere
        case .storeOnThisMachine: .removeStoreAddress
        case .testClockMissing: .createTestClock
        case .reconciliationUnknown: .listReconciliations
        case .webhookUnknown: .listWebhooks
        default: nil
        }
    }
}
