import API
import Commands
import Core
import Service

let allowAppCommand = CommandSpec(
    path: ["project", "allow-app"],
    summary: "Lets admin keys of a project add an app over the API.",
    positionals: [bundlePositional],
    options: [anyApp, .store, .idempotencyKey, .project] + Option.database,
    example: "deed project allow-app com.example.game"
) { invocation throws(CommandEnd) in
    try invocation.allow(isTakenBack: false)
}

let disallowAppCommand = CommandSpec(
    path: ["project", "disallow-app"],
    summary: "Withdraws that permission. An app that was already added stays until it is removed.",
    positionals: [bundlePositional],
    options: [anyApp, .store, .idempotencyKey, .project] + Option.database,
    example: "deed project disallow-app com.example.game"
) { invocation throws(CommandEnd) in
    try invocation.allow(isTakenBack: true)
}

private let bundlePositional = Positional(
    name: "BUNDLE", help: "the app's bundle id or package", isRequired: false)
private let anyApp = Option.flag("any", "any app that no other project has")

extension Invocation {
    fileprivate func allow(isTakenBack: Bool) throws(CommandEnd) {
        let allowance = try self.allowance()
        let project = try self.project()
        let sender = try self.sender()
        try withUseCases { useCases throws(CommandEnd) in
            let allowances = try useCases.fulfil(
                useCases.apps.allowing(allowance, isTakenBack: isTakenBack, in: project, by: sender)
            )
            show(
                allowances.json(of: project),
                text: "Admin keys of the project \(project) may add: \(allowances.words)")
        }
    }

    private func allowance() throws(CommandEnd) -> AppAllowance {
        switch (positional(0), has("any")) {
        case (let bundle?, false):
            .app(
                AppKey(
                    store: try wantedStore()?.store ?? .unnamed,
                    id: try id(bundle, named: "the bundle id")))
        case (nil, true): .any
        default: throw usage("give a bundle id or --any")
        }
    }
}

extension AppAllowances {
    /// The allowed apps in words, for a list.
    var words: String {
        let named = apps.map(\.id.text)
        if isAny { return (["any"] + named).joined(separator: ", ") }
        return named.isEmpty ? "none" : named.joined(separator: ", ")
    }
}
