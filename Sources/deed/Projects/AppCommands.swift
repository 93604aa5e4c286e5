import API
import Assembly
import Commands
import Core
import JSON
import Service

let appCommands = [setAppCommand, listAppsCommand, removeAppCommand, checkAppCommand]

private let setAppCommand = CommandSpec(
    path: ["app", "set"], summary: "Adds an app to a project and allows it there, or changes it.",
    options: Option.app + [
        .value("apple-id", "NUMBER", "the app's number in the store"),
        .value(
            "sandbox-access", "WHO", "which customers' sandbox purchases count: none, listed or all"
        ),
        .value("sandbox-customers", "IDS", "the listed customers, separated by commas"),
        .value("receipts", "JUDGE", "how legacy receipts are judged: local (offline) or store"),
    ] + Option.credentials + [.secretKeyFile, .idempotencyKey, .project] + Option.database,
    example: "deed app set --bundle-id com.example.game --apple-id 1234567890 --sandbox-access all"
) { invocation throws(CommandEnd) in
    let app = try invocation.app()
    let change = try invocation.appChange(of: app.store)
    let credentials = try invocation.credentialsChange(of: app.store)
    let project = try invocation.project()
    let sender = try invocation.sender()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let answer = try useCases.fulfil(
            useCases.apps.setting(
                app, change, credentials, of: project, as: .operator, by: sender))
        invocation.show(answer.json, text: answer.app?.line(answer.credentials) ?? "")
        if let risk = answer.credentials?.risk { printError("warning: \(risk)") }
    }
}

private let listAppsCommand = CommandSpec(
    path: ["app", "list"], summary: "Lists the apps of a project.",
    options: [.project] + Option.database, onlyReads: true,
    example: "deed app list --json"
) { invocation throws(CommandEnd) in
    let project = try invocation.project()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let answer = try obey(useCases.projects.settings(of: project))
        invocation.show(
            ["project": .string(project.text), "apps": .array(answer.listedApps)],
            text: answer.apps.isEmpty
                ? "There is no app yet; add one with: deed app set --bundle-id com.example.game"
                : answer.apps.map { $0.line(answer.credentials[$0.key]) }
                    .joined(separator: "\n"))
    }
}

private let removeAppCommand = CommandSpec(
    path: ["app", "remove"],
    summary: "Removes an app from a project. What its purchases gave stays.",
    options: Option.app + [.idempotencyKey, .project] + Option.database,
    example: "deed app remove --bundle-id com.example.game"
) { invocation throws(CommandEnd) in
    let app = try invocation.app()
    let project = try invocation.project()
    let sender = try invocation.sender()
    try invocation.withUseCases { useCases throws(CommandEnd) in
        let answer = try useCases.fulfil(useCases.apps.removing(app, of: project, by: sender))
        invocation.show(
            answer.json, text: "The project \(project) no longer has the app \(app.id).")
    }
}

extension Option {
    /// The flags that identify an app, in each store's own terms.
    static let app =
        storeProfiles.map {
            value($0.appFlag.name, "ID", $0.appFlag.help, isRequired: storeProfiles.count == 1)
        } + [store]

    static let store = value(
        "store", "NAME", "the app's store, if the flag that names the app does not imply it")
}

extension Invocation {
    func app() throws(CommandEnd) -> AppKey {
        let store = try store()
        return AppKey(store: store.store, id: try requiredID(store.appFlag.name))
    }

    /// Returns the store of the app that the flags name.
    private func store() throws(CommandEnd) -> any StoreProfile {
        let named = storeProfiles.filter { self[$0.appFlag.name] != nil }
        let wanted = try wantedStore()
        if named.count == 1 {
            if let wanted, wanted.store != named[0].store {
                throw usage(
                    "an app of the store \(wanted.store.rawValue) is named with "
                        + "--\(wanted.appFlag.name), not with --\(named[0].appFlag.name)")
            }
            return named[0]
        }
        let flags = storeProfiles.map { "--\($0.appFlag.name)" }.joined(separator: " or ")
        throw usage("name one app with \(flags)")
    }

    /// Returns the store given by a flag, if any.
    func wantedStore() throws(CommandEnd) -> (any StoreProfile)? {
        guard let name = self["store"] else { return nil }
        guard let profile = storeProfiles.first(where: { $0.store.rawValue == name }) else {
            let names = storeProfiles.map(\.store.rawValue).joined(separator: " or ")
            throw usage("--store must be \(names)")
        }
        return profile
    }

    /// Returns the change described by the flags. Missing flags leave their settings unchanged.
    fileprivate func appChange(of store: Store) throws(CommandEnd) -> AppChange {
        var change = AppChange()
        if store != .unnamed {
            for name in ["apple-id", "receipts"] where self[name] != nil {
                throw usage("--\(name) is not for apps of the store \(store.rawValue)")
            }
        }
        let numbers = Int(App.appleIDs.lowerBound)...Int(App.appleIDs.upperBound)
        if let number = try integer("apple-id", in: numbers) { change.appleID = Int64(number) }
        change.sandboxAccess = try sandboxAccess()
        change.receipts = try word("receipts")
        return change
    }

    private func sandboxAccess() throws(CommandEnd) -> SandboxAccess? {
        let listed = try self["sandbox-customers"]?.split(separator: ",").map {
            text throws(CommandEnd) -> CustomerID in
            try id(String(text), named: "--sandbox-customers")
        }
        let word: SandboxAccess.Word? = try word("sandbox-access")
        guard let word = word ?? (listed == nil ? nil : .listed) else { return nil }
        guard let access = SandboxAccess(word, listed) else {
            throw usage("give --sandbox-access listed and --sandbox-customers together")
        }
        return access
    }
}

extension App {
    fileprivate func line(_ credentials: CredentialsStatus?) -> String {
        let number = appleID.map { "   apple id \($0)" } ?? ""
        let judge = receipts == .local ? "judged by Deed" : "sent to the store"
        let receipts = key.store == .unnamed ? "   receipts are \(judge)" : ""
        let store = key.store == .unnamed ? "" : "   \(key.store.rawValue)"
        return "\(key.id)\(store)\(number)   sandbox purchases count for \(sandboxAccess.words)"
            + receipts + (credentials.map { "   \($0.words)" } ?? "")
    }
}

extension CredentialsStatus {
    fileprivate var words: String {
        let kept = [hasKey ? "a key" : nil, hasSharedSecret ? "a shared secret" : nil]
            .compactMap(\.self)
        return "Deed shows the store \(kept.isEmpty ? "nothing" : kept.joined(separator: " and "))"
            + (address.map { ", at \($0.url)" } ?? "")
    }
}

extension CredentialsStatus {
    /// A warning that the app's credentials are used with a store on this machine.
    fileprivate var risk: String? {
        guard let address else { return nil }
        return
            "Deed sends this app's credentials, including later ones, to \(address.url) unencrypted. "
            + "Any user of this machine who listens on that port first gets them, and can use them "
            + "at the real store. Give Deed only a practice store's key, and remove the address "
            + "once the practice store is gone: --store-url none"
    }
}

extension SandboxAccess {
    fileprivate var words: String {
        switch self {
        case .none: "no customer"
        case .listed(let customers) where customers.count == 1: "one customer"
        case .listed(let customers): "\(customers.count) customers"
        case .all: "all customers"
        }
    }
}
