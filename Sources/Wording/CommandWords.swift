package import Core

/// The wording of remedies as commands and flags, for people who work with the command line or the API.
package struct CommandWords: Sendable {
    /// What to do, and the shell commands that do it. If `commands` is empty, either the text names the commands or
    /// no command helps.
    package struct Advice: Hashable, Sendable {
        package let text: String
        package let commands: [String]

        fileprivate init(_ text: String, _ commands: String...) {
            self.text = text
            self.commands = commands
        }
    }

    /// For each store, the flag that names an app.
    private let flags: [Store: String]

    package init(_ stores: [any StoreProfile]) {
        flags = Dictionary(
            stores.map { ($0.store, $0.appFlag.name) }, uniquingKeysWith: { one, _ in one })
    }

    package func advice(_ remedy: ProjectRemedy) -> Advice {
        switch remedy {
        case .createKey(let project):
            Advice(
                "Create a key for its back end.",
                "deed key create --role backend\(flag(project))")
        case .listProducts(let project):
            Advice("List the products in a file, and apply the file.", apply(in: project))
        case .addBoughtProduct(let project):
            Advice(
                "Add the product to the catalog's file, and apply the file.", apply(in: project))
        case .createStoreKey(let app):
            Advice(
                "Create a key in the store's console, and set it with deed app set \(flags(app)). Its --help names "
                    + "the flags for a key.")
        case .registerNotifications(let app):
            Advice(
                "Enter the address of /v1/stores/\(app.key.store.rawValue)/notifications in the store's console, and "
                    + "have the store send one: deed app check \(flags(app))")
        case .addApp(let store): Advice("Add the app: deed app set --\(flag(store)) ID")
        case .removeProducts:
            Advice(
                "This release does not support apps in that store: remove the products from the catalog."
            )
        case .giveEntitlement:
            Advice(
                "Add it to a product, or remove it from the catalog, unless only grants give it.")
        case .limitSandbox(let app):
            Advice(
                "Once the app is on sale, let them count only for listed testers, or not at all.",
                "deed app set \(flags(app)) --sandbox-access none")
        case .removePracticeStore(let app):
            Advice(
                "Once the practice store is gone, remove its address.",
                "deed app set \(flags(app)) --store-url none")
        case .reconcileAgain(let project):
            Advice(
                "Remove the named cause, and reconcile again.",
                "deed reconcile --full --repair\(flag(project))")
        case .reconcileNightly(let project):
            Advice(
                "Reconcile now. For every night, use deed serve --reconcile-at 03:00, or a timer.",
                "deed reconcile\(flag(project))")
        }
    }

    private func apply(in project: ProjectID) -> String {
        "deed catalog apply catalog.json\(flag(project))"
    }

    /// Returns the flag that selects the project, or an empty string for the default project.
    private func flag(_ project: ProjectID) -> String {
        project.text == "default" ? "" : " --project \(project)"
    }

    private func flag(_ store: Store) -> String { flags[store] ?? "app" }

    private func flags(_ app: StoreApp) -> String {
        "--\(flag(app.key.store)) \(app.key.id)\(flag(app.project))"
    }
}

extension Remedy {
    /// The remedy in the command line's words. If its first letter is lower case, it continues the sentence before it;
    /// otherwise, it follows that sentence.
    package var inCommands: String {
        switch self {
        case .createProject(let id): "create it with: deed project create \(id)"
        case .listKeys: "see: deed key list"
        case .replaceKey: "make a new one with: deed key create"
        case .giveLaterEnd: "give a later end with --expires."
        case .shortenOverlap: "give a shorter --overlap, or none to keep the key's own end."
        case .listApps: "see: deed app list"
        case .removeAppThere: "first remove the app there: deed app remove"
        case .askToAllowApp(let app):
            "ask for: deed project allow-app \(app.id)"
                + (app.store == .unnamed ? "" : " --store \(app.store.rawValue)")
        case .withdrawAllowance: "withdraw one with: deed project disallow-app"
        case .setStoreKey: "set one with: deed app set"
        case .restoreStoreKey:
            "Restore the key file (DEED_SECRET_KEY_FILE), or set the credentials again with: deed app set"
        case .useStoreHere:
            "use another database, or a store on this machine: deed app set --store-url"
        case .removeStoreAddress:
            "An operator must remove that address first: deed app set --store-url none"
        case .correctName:
            "Correct the name, add it to the catalog, or allow it with \"allow_unknown\":true (--allow-unknown)."
        case .allowCredits(let currency):
            "allow it with: deed project set --credit-limit \(currency)=PER_CALL/PER_DAY, or use an admin's key."
        case .allowSupportGrants(let entitlement):
            "allow it with: deed project set --support-limit \(entitlement)=P30D, or use an admin's key."
        case .allowMerges:
            "allow it with: deed project set --merge backend, or use an admin's or a support key."
        case .allowMoreCustomersPerAccount:
            "use one of these customers, or allow more with: deed project set --customers-per-account"
        case .listWebhooks: "see: deed webhook list"
        case .allowPlainAddress:
            "use https, or have the operator allow the address with --webhook-allow"
        case .allowPrivateAddress: "have the operator allow it with --webhook-allow"

        case .findCustomer: "see: deed find"
        case .showCustomer: "see: deed customer show"
        case .listNotes: "see: deed note list"
        case .listOrders: "see: deed customer orders"
        case .listUnclaimed: "see: deed unclaimed list"
        case .separateTokens:
            "Make the client give each customer a separate token, and attach this customer's purchases with: "
                + "deed unclaimed attach"
        case .showErasure: "see: deed customer erased"
        case .listErasures: "list all erased customers with: deed customer erased --list"
        case .exportToFile: "write it with: deed customer export"
        case .giveVersions(let count):
            "give \"if_version\" (--if-version) a version of each, like \(count == 1 ? "12" : "12,7")."

        case .migrate: "run: deed migrate"
        case .installMigratingRelease: "install the release that ran deed migrate, or a newer one."
        case .useMigratingRelease: "use the release that ran deed migrate."
        case .startAnew:
            "create an empty database or choose another data folder, or drop the schema deed, and run: deed migrate"
        case .createServiceRole:
            "have an administrator run 'create role deed_service; grant deed_service to <login>;' and then: "
                + "deed migrate"
        case .admitServiceLogin: "To repair it: deed migrate --service-login LOGIN"
        case .raiseFormat:
            "When every instance runs this release, raise the format with: deed migrate --format"
        case .acceptLoss:
            "If a backup was restored, or you accept the loss, confirm that with: deed accept-log --reason '…'"
        case .acceptServer:
            "If the file is damaged and this server is the right one, confirm that with: "
                + "deed accept-log --reason '…'"
        case .keepRecord:
            "let Deed write to --data-dir: it records there what it has seen of the log for its next start"
        case .inspectRows: "inspect it with: deed audit --projections"
        case .repairRows:
            "Inspect it with: deed audit --projections, and repair it with: deed reconcile --full --repair"
        case .moveEventAside:
            "Inspect it with: deed audit, and move it aside with: deed audit --quarantine"
        case .createTestClock: "create another database and serve it with --test-clock."

        case .inspectQueue: "to see why, run: deed intake list"
        case .listReconciliations: "see: deed reconcile list"
        case .requestRemainingHistories: "the next run continues, or: deed reconcile --only history"
        case .requestHistories: "request it with: deed reconcile --only history"
        case .readHistories:
            "Each customer's history shows what was refunded: deed reconcile --only history"

        case .resetSecondFactor:
            "restore the key, or run: deed person reset ADDRESS --second-factor"
        }
    }

    /// Returns the sentence followed by this remedy in the command line's words.
    package func after(_ sentence: String) -> String {
        let words = inCommands
        if words.first?.isUppercase == true { return "\(sentence) \(words)" }
        return "\(sentence.hasSuffix(".") ? sentence.dropLast() : sentence[...]); \(words)"
    }
}

extension Trouble {
    /// The sentence and the remedy in the command line's words, for answers, logs, and records that operators read.
    package var withRemedy: String { remedy?.after(sentence) ?? sentence }
}

extension CommandError {
    /// The fault of work that is never refused. A refusal means that the program is broken.
    package var asFault: Fault {
        switch self {
        case .fault(let fault): fault
        case .refused(let refusal): .broken(refusal.withRemedy)
        }
    }
}
