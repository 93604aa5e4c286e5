/// Changes to an app. `nil` leaves a member unchanged, or gives a new app the default.
package struct AppChange: Hashable, Sendable {
    package var appleID: Int64??
    package var sandboxAccess: SandboxAccess?
    package var receipts: ReceiptJudge?

    package init(
        appleID: Int64?? = nil, sandboxAccess: SandboxAccess? = nil, receipts: ReceiptJudge? = nil
    ) {
        self.appleID = appleID
        self.sandboxAccess = sandboxAccess
        self.receipts = receipts
    }
}

/// The person or program that changes an app.
package enum AppSetter: Hashable, Sendable {
    /// A person with access to the command line and the database, who is responsible for all
    /// projects.
    case `operator`
    /// The holder of a key to this project only.
    case key
}

/// Changes to a project's settings. `nil` leaves a member unchanged.
package struct SettingsChange: Hashable, Sendable {
    package var transfer: TransferPolicy.Rule?
    package var restore: TransferPolicy.Rule??
    package var coolDown: CalendarDuration?
    package var orderLifetime: CalendarDuration?
    /// Limits for the named currencies. `nil` removes a limit, which also withdraws the permission
    /// to add coins.
    package var creditLimits: [CurrencyID: CreditLimit?] = [:]
    package var refundReporting: RefundReporting??
    package var customersPerAccount: Int64??
    /// The maximum durations of support staff's grants, for the named entitlements. `nil` removes a
    /// limit, which also withdraws the permission to grant.
    package var supportLimits: [EntitlementID: CalendarDuration?] = [:]
    package var merge: MergePolicy?

    package init() {}
}

extension ProjectState {
    package static let appLimit = 100

    /// Adds or changes an app. A request that changes nothing produces an event only if the request must be
    /// remembered. A key may add only apps that the operator has allowed. An operator who adds an app also allows it.
    package func set(
        _ key: AppKey, _ change: AppChange, of project: ProjectID, by setter: AppSetter,
        isRemembered: Bool = false
    ) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        let known = app(key)
        if known == nil { try key.id.requireProperForm() }
        if known == nil, setter == .key, !allowances.allows(key) { throw .appNotAllowed(key) }
        if known == nil, apps.count >= ProjectState.appLimit {
            throw .tooManyApps(limit: ProjectState.appLimit)
        }
        let app = change.applied(to: known ?? App(key))
        if case .listed(let customers) = app.sandboxAccess,
            customers.count > App.listedCustomerLimit
        {
            throw .tooManyListed(limit: App.listedCustomerLimit)
        }
        let allowed = setter == .operator ? try allow(.app(key), in: project) : []
        return app == known && !isRemembered ? allowed : allowed + [.appSet(app)]
    }

    /// Allows the project's keys to add this app, or any app. Does nothing if they are already
    /// allowed to.
    package func allow(
        _ allowance: AppAllowance, in project: ProjectID
    ) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        guard case .app(let key) = allowance else {
            return allowances.isAny ? [] : [.appAllowed(allowance)]
        }
        if allowances.apps.contains(key) { return [] }
        if app(key) == nil { try key.id.requireProperForm() }
        if allowances.apps.count >= AppAllowances.countLimit {
            throw .tooManyAllowedApps(limit: AppAllowances.countLimit)
        }
        return [.appAllowed(allowance)]
    }

    /// Withdraws a permission to add apps. Apps that are already in the project stay.
    package func disallow(
        _ allowance: AppAllowance, in project: ProjectID
    ) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        let isAllowed =
            switch allowance {
            case .any: allowances.isAny
            case .app(let key): allowances.apps.contains(key)
            }
        return isAllowed ? [.appDisallowed(allowance)] : []
    }

    /// Removes the app from the project. Everything that its purchases gave remains.
    package func remove(_ key: AppKey) throws(Refusal) -> [Event] {
        if app(key) == nil { throw .appUnknown(key.id) }
        return [.appRemoved(AppRemoved(key: key))]
    }

    /// Throws unless each name that gets a limit is in the catalog or already has a limit.
    package func requireNames(of change: SettingsChange) throws(Refusal) {
        let names = change.entitlements(newIn: settings) + change.currencies(newIn: settings)
        for name in names { try require(name) }
    }

    /// Changes the project's settings. Does nothing if there is no difference.
    package func change(_ change: SettingsChange, of project: ProjectID) throws(Refusal) -> [Event]
    {
        if !exists { throw .projectUnknown(project) }
        let names = change.currencies(newIn: settings) + change.entitlements(newIn: settings)
        for name in names { try catalog.requireProperForm(of: name) }
        let changed = change.applied(to: settings)
        if !changed.coolDown.isWaitable || !changed.orderLifetime.isWaitable {
            throw .waitTooLong(days: CalendarDuration.waitLimit)
        }
        if changed.creditLimits.count > CreditLimit.countLimit {
            throw .balance(.tooManyCreditLimits(limit: CreditLimit.countLimit))
        }
        if changed.supportLimits.durations.count > SupportLimits.countLimit {
            throw .support(.tooManyLimits(limit: SupportLimits.countLimit))
        }
        return changed == settings ? [] : [.projectChanged(changed)]
    }
}

extension AppChange {
    fileprivate func applied(to app: App) -> App {
        var app = app
        app.appleID = appleID ?? app.appleID
        app.sandboxAccess = sandboxAccess ?? app.sandboxAccess
        app.receipts = receipts ?? app.receipts
        return app
    }
}

extension SettingsChange {
    /// The currencies that get a limit and have none in these settings.
    fileprivate func currencies(newIn settings: ProjectSettings) -> [CatalogName] {
        creditLimits.filter { $0.value != nil && settings.creditLimits[$0.key] == nil }
            .keys.sorted().map(CatalogName.currency)
    }

    /// The entitlements that get a support limit and have none in these settings.
    fileprivate func entitlements(newIn settings: ProjectSettings) -> [CatalogName] {
        let known = settings.supportLimits.durations
        return supportLimits.filter { $0.value != nil && known[$0.key] == nil }
            .keys.filter { !$0.isOthers }.sorted().map(CatalogName.entitlement)
    }

    fileprivate func applied(to settings: ProjectSettings) -> ProjectSettings {
        var limits = settings.creditLimits
        for (currency, limit) in creditLimits { limits[currency] = limit }
        var support = settings.supportLimits
        for (entitlement, limit) in supportLimits { support.durations[entitlement] = limit }
        return ProjectSettings(
            transfer: transfer ?? settings.transfer, restore: restore ?? settings.restore,
            coolDown: coolDown ?? settings.coolDown,
            orderLifetime: orderLifetime ?? settings.orderLifetime, creditLimits: limits,
            refundReporting: refundReporting ?? settings.refundReporting,
            customersPerAccount: customersPerAccount ?? settings.customersPerAccount,
            supportLimits: support, merge: merge ?? settings.merge)
    }
}
