/// What is to change of an app; `nil` leaves it as it is, or as a new app has it.
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

/// Who sets an app.
package enum AppSetter: Hashable, Sendable {
    /// Who has the command line and the database, and answers for all projects.
    case `operator`
    /// Who has a key to the one project.
    case key
}

/// What is to change of a project's settings; `nil` leaves it as it is.
package struct SettingsChange: Hashable, Sendable {
    package var transfer: TransferPolicy.Rule?
    package var restore: TransferPolicy.Rule??
    package var coolDown: CalendarDuration?
    package var orderLifetime: CalendarDuration?
    /// Those of the currencies that it names; `nil` takes the limit, and with it the right, away.
    package var creditLimits: [CurrencyID: CreditLimit?]
    package var refundReporting: RefundReporting??
    package var customersPerAccount: Int64??

    package init(
        transfer: TransferPolicy.Rule? = nil, restore: TransferPolicy.Rule?? = nil,
        coolDown: CalendarDuration? = nil, orderLifetime: CalendarDuration? = nil,
        creditLimits: [CurrencyID: CreditLimit?] = [:], refundReporting: RefundReporting?? = nil,
        customersPerAccount: Int64?? = nil
    ) {
        self.transfer = transfer
        self.restore = restore
        self.coolDown = coolDown
        self.orderLifetime = orderLifetime
        self.creditLimits = creditLimits
        self.refundReporting = refundReporting
        self.customersPerAccount = customersPerAccount
    }
}

extension ProjectState {
    package static let appLimit = 100

    /// Adds the app to the project, or changes it; nothing happens when it is so already, unless the wish
    /// is one to remember. A key adds what the operator allowed. What the operator adds is allowed by that.
    package func set(
        _ key: AppKey, _ change: AppChange, of project: ProjectID, by setter: AppSetter,
        isRemembered: Bool = false
    ) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        let known = app(key)
        if known == nil { try key.id.requireProperForm() }
        if known == nil, setter == .key, !allowances.allows(key) { throw .appNotAllowed(key.id) }
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

    /// Lets keys of the project add an app, or any; nothing happens when they may already.
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

    /// Takes such a permission back. Apps that the project has by then stay.
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

    /// Takes the app out of the project. What its purchases brought stays.
    package func remove(_ key: AppKey) throws(Refusal) -> [Event] {
        if app(key) == nil { throw .appUnknown(key.id) }
        return [.appRemoved(AppRemoved(key: key))]
    }

    /// Throws unless the catalog knows the currencies that get a limit, or they have one already.
    package func requireCurrencies(of change: SettingsChange) throws(Refusal) {
        for currency in change.limitedCurrencies where settings.creditLimits[currency] == nil {
            try require(.currency(currency))
        }
    }

    /// Changes what the project has decided; nothing happens when it is so already.
    package func change(_ change: SettingsChange, of project: ProjectID) throws(Refusal) -> [Event]
    {
        if !exists { throw .projectUnknown(project) }
        for currency in change.limitedCurrencies where settings.creditLimits[currency] == nil {
            try catalog.requireProperForm(of: currency)
        }
        let changed = change.applied(to: settings)
        if !changed.coolDown.isWaitable || !changed.orderLifetime.isWaitable {
            throw .waitTooLong(days: CalendarDuration.waitLimit)
        }
        if changed.creditLimits.count > CreditLimit.countLimit {
            throw .tooManyCreditLimits(limit: CreditLimit.countLimit)
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
    /// The currencies that it gives a limit.
    fileprivate var limitedCurrencies: [CurrencyID] {
        creditLimits.filter { $0.value != nil }.keys.sorted()
    }

    fileprivate func applied(to settings: ProjectSettings) -> ProjectSettings {
        var limits = settings.creditLimits
        for (currency, limit) in creditLimits { limits[currency] = limit }
        return ProjectSettings(
            transfer: transfer ?? settings.transfer, restore: restore ?? settings.restore,
            coolDown: coolDown ?? settings.coolDown,
            orderLifetime: orderLifetime ?? settings.orderLifetime, creditLimits: limits,
            refundReporting: refundReporting ?? settings.refundReporting,
            customersPerAccount: customersPerAccount ?? settings.customersPerAccount)
    }
}
