package import Core

/// What keys of a project may add.
package struct AllowedAppsAnswer: Hashable, Sendable {
    package let project: ProjectID
    package let allowances: AppAllowances
}

extension Ports {
    /// The operator's wish to let keys of a project add an app, or any, or to take that back.
    package func allowing(
        _ allowance: AppAllowance, isTakenBack: Bool = false, in project: ProjectID,
        by sender: Sender
    ) -> Wish<AllowedAppsAnswer> {
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
                throw .fault(.broken("allowing an app left no project"))
            }
            return AllowedAppsAnswer(project: project, allowances: state.allowances)
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
