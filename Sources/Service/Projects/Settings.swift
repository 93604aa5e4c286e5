package import Core

/// What a project has decided, and its apps.
package struct SettingsAnswer: Hashable, Sendable {
    package let project: ProjectID
    package let settings: ProjectSettings
    package let apps: [App]
    /// What keys of the project may add.
    package let allowances: AppAllowances
    /// What each app shows the store, as far as it may be told; nothing for those that show nothing.
    package let credentials: [AppKey: CredentialsStatus]
}

/// What came of setting or removing an app.
package struct AppAnswer: Hashable, Sendable {
    package let project: ProjectID
    package let key: AppKey
    /// `nil` once it is removed.
    package let app: App?
    package let credentials: CredentialsStatus?
}

extension Ports {
    package func settings(of project: ProjectID) throws(CommandError) -> SettingsAnswer {
        let state = try existing(project)
        return SettingsAnswer(
            project: project, settings: state.settings, apps: state.apps,
            allowances: state.allowances, credentials: try credentialsStatuses(of: project))
    }

    /// The wish to change what a project has decided; the answer has the settings that came of it.
    package func changingSettings(
        _ change: SettingsChange, of project: ProjectID, by sender: Sender,
        allowingUnknown: Bool = false
    ) -> Wish<ProjectSettings> {
        let cause = secrets.cause(of: sender, "change_settings", change.arguments)
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in
            if !allowingUnknown { try state.requireCurrencies(of: change) }
            return try state.change(change, of: project)
        }
        return Wish(command) { outcome throws(CommandError) in
            if case .projectChanged(let settings) = outcome.events.first?.event {
                return settings
            }
            guard let state = outcome.state.project else {
                throw .fault(.broken("changing settings left no project"))
            }
            return state.settings
        }
    }

    /// The wish to add an app to a project or to change it, and what it shows the store.
    package func settingApp(
        _ key: AppKey, _ change: AppChange, _ credentials: CredentialsChange = CredentialsChange(),
        of project: ProjectID, as setter: AppSetter, by sender: Sender
    ) -> Wish<AppAnswer> {
        let name = StoreApp(project: project, key: key)
        return .look { () throws(CommandError) in
            // The sender would take it for the real store, and hand in what opens that.
            if setter == .key, credentials.holdsSecret,
                let address = try credentialsStatuses(of: project)[key]?.address
            {
                throw .refused(.storeOnThisMachine(address))
            }
            let digest = credentials.isEmpty ? nil : try self.credentials.digest(credentials)
            return settingApp(key, change, digest, of: project, as: setter, by: sender).thenLooking
            {
                set throws(CommandError) in
                AppAnswer(
                    project: project, key: key, app: set.app,
                    credentials: try show(credentials, set.write, of: name, by: sender.actor))
            }
        }
    }

    /// What an app that was set shows the store then. It comes behind the app's event: what is kept for an
    /// app that there is not would wait for one.
    private func show(
        _ change: CredentialsChange, _ write: CredentialsWrite?, of app: StoreApp, by actor: Actor
    ) throws(CommandError) -> CredentialsStatus? {
        if let write {
            if !change.isEmpty { return try credentials.change(app, change, write, actor, now()) }
            // Nothing is left of an app that was removed when it is set again.
            try obtain(credentials.forget(app, write.appSince))
        }
        return try credentialsStatuses(of: app.project)[app.key]
    }

    private func credentialsStatuses(
        of project: ProjectID
    ) throws(CommandError) -> [AppKey: CredentialsStatus] {
        try obtain(credentials.statuses(project))
    }

    /// An app that was set.
    private struct SetApp: Sendable {
        let app: App
        /// `nil` where the app was removed since an earlier twin of the wish set it.
        let write: CredentialsWrite?
    }

    private func settingApp(
        _ key: AppKey, _ change: AppChange, _ credentials: [UInt8]?, of project: ProjectID,
        as setter: AppSetter, by sender: Sender
    ) -> Wish<SetApp> {
        let cause = secrets.cause(
            of: sender, "set_app",
            [key.store.rawValue, key.id.text] + change.arguments
                + (credentials.map { [secrets.hexDigest($0)] } ?? []))
        // Without an event in the log, a repetition could not be told from a new wish.
        let isRemembered = credentials != nil && sender.idempotencyKey != nil
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in
            try state.set(key, change, of: project, by: setter, isRemembered: isRemembered)
        }
        return Wish(command) { outcome throws(CommandError) in
            var app = outcome.state.project?.app(key)
            if case .appSet(let set)? = outcome.events.last?.event { app = set }
            guard let app else { throw .fault(.broken("setting an app left no app")) }
            return SetApp(app: app, write: outcome.write(to: key))
        }
    }

    /// The wish to take an app out of a project.
    package func removingApp(
        _ key: AppKey, of project: ProjectID, by sender: Sender
    ) -> Wish<AppAnswer> {
        let cause = secrets.cause(of: sender, "remove_app", [key.store.rawValue, key.id.text])
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in
            try state.remove(key)
        }
        return Wish(command) { $0.ownVersion }.thenLooking { version throws(CommandError) in
            // Not those of an app that was set again since.
            try obtain(credentials.forget(StoreApp(project: project, key: key), version))
            return AppAnswer(project: project, key: key, app: nil, credentials: nil)
        }
    }
}

extension Outcome {
    /// The version of the stream with which all of it was there.
    fileprivate var ownVersion: Int64 { events.last?.version ?? state.version }

    /// What tells whether credentials that come with an app are older than those that are kept.
    fileprivate func write(to key: AppKey) -> CredentialsWrite? {
        guard let since = state.project?.versionOfArrival(of: key), since <= ownVersion
        else { return nil }
        return CredentialsWrite(
            version: ownVersion, appSince: since, isRepetition: isRepetition)
    }
}

extension SettingsChange {
    /// What tells one wish from another; "none" is what a missing rule for restoring is set to.
    fileprivate var arguments: [String?] {
        var arguments = [
            transfer?.rawValue, restore.map { $0?.rawValue ?? "none" }, coolDown?.text,
            orderLifetime?.text,
        ]
        arguments += refundReporting.map { $0?.arguments ?? ["no reports"] } ?? []
        if let customersPerAccount {
            arguments += ["per account", customersPerAccount.map { "\($0)" } ?? "any number"]
        }
        for (currency, limit) in creditLimits.sorted(by: { $0.key < $1.key }) {
            arguments += [currency.text, limit.map { "\($0.perCall)/\($0.perDay)" }]
        }
        return arguments
    }
}

extension RefundReporting {
    fileprivate var arguments: [String?] {
        ["reports", preference?.rawValue, hasSample ? "sample" : nil]
    }
}

extension AppChange {
    fileprivate var arguments: [String?] {
        [appleID.map { $0.map { "\($0)" } ?? "none" }, receipts?.rawValue]
            + (sandboxAccess?.arguments ?? [nil])
    }
}

extension SandboxAccess {
    fileprivate var arguments: [String?] {
        switch self {
        case .none: ["none"]
        case .listed(let customers): ["listed"] + customers.sorted().map(\.text)
        case .all: ["all"]
        }
    }
}
