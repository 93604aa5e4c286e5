package import Core

/// The result of setting or removing an app.
package struct AppAnswer: Hashable, Sendable {
    package let project: ProjectID
    package let key: AppKey
    /// `nil` if the app was removed.
    package let app: App?
    package let credentials: CredentialsStatus?
}

/// Manages the apps of projects and their store credentials.
package struct Apps: Sendable {
    let credentials: any CredentialKeeper
    let secrets: Secrets
    let now: @Sendable () -> Instant

    /// Returns a request to add or change an app, together with its credentials.
    package func setting(
        _ key: AppKey, _ change: AppChange, _ credentials: CredentialsChange = CredentialsChange(),
        of project: ProjectID, as setter: AppSetter, by sender: Sender
    ) -> Wish<AppAnswer> {
        let name = StoreApp(project: project, key: key)
        return .look { () throws(CommandError) in
            // The app's store is an address on this machine. A sender who took it for the real
            // store would reveal the real store's credentials to it.
            if setter == .key, credentials.holdsSecret,
                let address = try obtain(self.credentials.statuses(of: project))[key]?.address
            {
                throw .refused(.storeOnThisMachine(address))
            }
            let digest = credentials.isEmpty ? nil : try self.credentials.digest(of: credentials)
            return settingApp(key, change, digest, of: project, as: setter, by: sender).thenLooking
            {
                set throws(CommandError) in
                AppAnswer(
                    project: project, key: key, app: set.app,
                    credentials: try show(credentials, set.write, of: name, by: sender.actor))
            }
        }
    }

    /// Changes an app's credentials once the app's event has been recorded. Credentials without an
    /// app would otherwise apply to an app added later.
    private func show(
        _ change: CredentialsChange, _ write: CredentialsWrite?, of app: StoreApp, by actor: Actor
    ) throws(CommandError) -> CredentialsStatus? {
        if let write {
            if !change.isEmpty {
                return try credentials.change(app, change, at: write, by: actor, now: now())
            }
            // When a removed app is added again, none of its earlier credentials may remain.
            try obtain(credentials.forget(app, before: write.appSince))
        }
        return try obtain(credentials.statuses(of: app.project))[app.key]
    }

    private struct SetApp: Sendable {
        let app: App
        /// The credentials to write; `nil` if the app has been removed since an earlier copy of the request set it.
        let write: CredentialsWrite?
    }

    private func settingApp(
        _ key: AppKey, _ change: AppChange, _ credentials: [UInt8]?, of project: ProjectID,
        as setter: AppSetter, by sender: Sender
    ) -> Wish<SetApp> {
        let cause = secrets.cause(
            of: sender, "set_app",
            [key.store.rawValue, key.id.text] + change.arguments
                + (credentials.map { [secrets.digest($0).hexDigits] } ?? []))
        // Without an event in the log, nothing would show that a repetition is not a new request.
        let isRemembered = credentials != nil && sender.idempotencyKey != nil
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in
            try state.set(key, change, of: project, by: setter, isRemembered: isRemembered)
        }
        return Wish(
            command, telling: { if case .appSet(let app) = $0 { app } else { nil } }
        ) { recorded in
            SetApp(app: recorded.told, write: recorded.outcome.write(to: key))
        } otherwise: { outcome throws(CommandError) in
            guard let app = outcome.state.project?.app(key) else {
                throw .fault(.broken("setting an app returned no app"))
            }
            return SetApp(app: app, write: outcome.write(to: key))
        }
    }

    package func removing(
        _ key: AppKey, of project: ProjectID, by sender: Sender
    ) -> Wish<AppAnswer> {
        let cause = secrets.cause(of: sender, "remove_app", [key.store.rawValue, key.id.text])
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in
            try state.remove(key)
        }
        return Wish(command) { $0.ownVersion }.thenLooking { version throws(CommandError) in
            // If the app has been added again in the meantime, its credentials are kept.
            try obtain(
                credentials.forget(StoreApp(project: project, key: key), before: version))
            return AppAnswer(project: project, key: key, app: nil, credentials: nil)
        }
    }

    /// Returns an operator's request to allow a project's keys to add a certain app, or any app, or to withdraw that
    /// permission. The answer lists the apps that the keys may add from then on.
    package func allowing(
        _ allowance: AppAllowance, isTakenBack: Bool = false, in project: ProjectID,
        by sender: Sender
    ) -> Wish<AppAllowances> {
        let cause = secrets.cause(
            of: sender, isTakenBack ? "disallow_app" : "allow_app", allowance.arguments)
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in
            isTakenBack
                ? try state.disallow(allowance, in: project)
                : try state.allow(allowance, in: project)
        }
        return Wish(command) { outcome throws(CommandError) in
            guard let state = outcome.state.project else {
                throw .fault(.broken("allowing an app returned no project"))
            }
            return state.allowances
        }
    }
}

extension Outcome {
    /// The version of the stream after these events.
    fileprivate var ownVersion: Int64 { events.last?.version ?? state.version }

    /// Returns where the app's credentials belong among the project's events, which shows whether they are older than
    /// the stored ones.
    fileprivate func write(to key: AppKey) -> CredentialsWrite? {
        guard let since = state.project?.versionOfArrival(of: key), since <= ownVersion
        else { return nil }
        return CredentialsWrite(
            version: ownVersion, appSince: since, isRepetition: isRepetition)
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

extension AppAllowance {
    fileprivate var arguments: [String?] {
        switch self {
        case .any: ["any"]
        case .app(let key): ["app", key.store.rawValue, key.id.text]
        }
    }
}
