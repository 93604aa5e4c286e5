package import Core

/// A project's settings and its apps.
package struct SettingsAnswer: Hashable, Sendable {
    package let project: ProjectID
    package let settings: ProjectSettings
    package let apps: [App]
    /// The apps that the project's keys may add.
    package let allowances: AppAllowances
    /// The status of each app's store credentials, without secrets. Apps without credentials are
    /// omitted.
    package let credentials: [AppKey: CredentialsStatus]
}

extension Projects {
    package func settings(of project: ProjectID) throws(CommandError) -> SettingsAnswer {
        let state = try ledger.existing(project)
        return SettingsAnswer(
            project: project, settings: state.settings, apps: state.apps,
            allowances: state.allowances, credentials: try obtain(credentials.statuses(of: project))
        )
    }

    /// Returns a request to change a project's settings. The answer contains the new settings.
    package func changing(
        _ change: SettingsChange, of project: ProjectID, by sender: Sender,
        allowingUnknown: Bool = false
    ) -> Wish<ProjectSettings> {
        let cause = secrets.cause(of: sender, "change_settings", change.arguments)
        let command = Command.project(project, actor: sender.actor, cause: cause) {
            state, _ throws(Refusal) in
            if !allowingUnknown { try state.requireNames(of: change) }
            return try state.change(change, of: project)
        }
        return Wish(
            command,
            telling: { if case .projectChanged(let settings) = $0 { settings } else { nil } }
        ) { recorded in
            recorded.told
        } otherwise: { outcome throws(CommandError) in
            guard let state = outcome.state.project else {
                throw .fault(.broken("changing settings returned no project"))
            }
            return state.settings
        }
    }
}

extension SettingsChange {
    /// The values that distinguish this request from others. "none" stands for a removed restore
    /// rule.
    fileprivate var arguments: [String?] {
        var arguments = [
            transfer?.rawValue, restore.map { $0?.rawValue ?? "none" }, coolDown?.text,
            orderLifetime?.text,
        ]
        arguments += refundReporting.map { $0?.arguments ?? ["no reports"] } ?? []
        if let customersPerAccount {
            arguments += ["per account", customersPerAccount.map { "\($0)" } ?? "any number"]
        }
        for (entitlement, limit) in supportLimits.sorted(by: { $0.key < $1.key }) {
            arguments += ["support", entitlement.text, limit?.text]
        }
        for (currency, limit) in creditLimits.sorted(by: { $0.key < $1.key }) {
            arguments += [currency.text, limit.map { "\($0.perCall)/\($0.perDay)" }]
        }
        // Added only if present, so that other requests keep the digests that earlier releases stored.
        if let merge { arguments += ["merge by", merge.rawValue] }
        return arguments
    }
}

extension RefundReporting {
    fileprivate var arguments: [String?] {
        ["reports", preference?.rawValue, hasSample ? "sample" : nil]
    }
}
