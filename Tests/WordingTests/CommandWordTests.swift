import AppStore
import Core
import Foundation
import PlayStore
import Testing
import Wording

/// Tests the exact text of commands and API answers.
@Suite("Remedies as commands")
struct CommandWordTests {
    typealias Told = (trouble: any Trouble, text: String)

    private static let app = AppKey(store: .apple, id: id("com.example.app"))
    private static let play = AppKey(store: .google, id: id("com.example.play"))
    private static let purchase = PurchaseID(
        store: .apple, original: id("2000000123"))
    private static let now = Instant(milliseconds: 1_795_202_460_000)

    /// Returns an identifier. The tests use only valid names.
    private static func id<Kind>(_ text: String) -> Identifier<Kind> {
        guard let id = try? Identifier<Kind>(text) else { preconditionFailure(text) }
        return id
    }

    static let projects: [Told] = [
        (
            Refusal.projectUnknown(id("game")),
            "There is no project \"game\"; create it with: deed project create game"
        ),
        (Refusal.keyUnknown(id("ke_1")), "The project has no key \"ke_1\"; see: deed key list"),
        (
            Refusal.appUnknown(id("com.example.app")),
            "The project has no app \"com.example.app\"; see: deed app list"
        ),
        (
            Refusal.appTaken,
            "Another project has this app; first remove the app there: deed app remove"
        ),
        (
            Refusal.appNotAllowed(app),
            "The operator has not allowed this project to add \"com.example.app\"; ask for: deed project "
                + "allow-app com.example.app"
        ),
        (
            Refusal.appNotAllowed(play),
            "The operator has not allowed this project to add \"com.example.play\"; ask for: deed project "
                + "allow-app com.example.play --store google"
        ),
        (
            Refusal.tooManyAllowedApps(limit: 20),
            "The project may add 20 apps, which is the limit; withdraw one with: deed project disallow-app"
        ),
        (
            Refusal.nameUnknown(.product(id("lvel")), nearest: "level"),
            "The catalog has no product \"lvel\"; the nearest name is \"level\". Correct the name, add it to the "
                + "catalog, or allow it with \"allow_unknown\":true (--allow-unknown)."
        ),
        (
            Refusal.nameUnknown(.product(id("lvel")), nearest: nil),
            "The catalog has no product \"lvel\". Correct the name, add it to the catalog, or allow it with "
                + "\"allow_unknown\":true (--allow-unknown)."
        ),
        (
            Refusal.balance(.creditNotAllowed(id("coins"))),
            "The project does not let back ends add to \"coins\"; allow it with: deed project set --credit-limit "
                + "coins=PER_CALL/PER_DAY, or use an admin's key."
        ),
        (
            Refusal.support(.beyondLimit(id("pro"), nil, until: nil)),
            "The project does not let support keys give, change or revoke grants of \"pro\"; allow it with: deed "
                + "project set --support-limit pro=P30D, or use an admin's key."
        ),
        (
            Refusal.merge(.notAllowed),
            "The project does not let back ends merge customers; allow it with: deed project set --merge backend, "
                + "or use an admin's or a support key."
        ),
        (
            Refusal.move(.accountShared),
            "This store account's app transaction was already submitted for as many customers as the project "
                + "allows; use one of these customers, or allow more with: deed project set --customers-per-account"
        ),
        (
            Refusal.key(.endsInThePast(now)),
            "The key would have ended at \(now.text); give a later end with --expires."
        ),
        (
            Refusal.key(.overlapBeyondEnd(id("ke_1"), end: now)),
            "The key \"ke_1\" ends at \(now.text), which is before the end of the overlap; give a shorter "
                + "--overlap, or none to keep the key's own end."
        ),
        (
            Refusal.key(.over(id("ke_1"), at: now)),
            "The key \"ke_1\" ended at \(now.text) and cannot be rotated; make a new one with: deed key create"
        ),
        (
            Refusal.webhook(.unknown(id("wh_1"))),
            "The project has no webhook \"wh_1\"; see: deed webhook list"
        ),
        (
            InvalidWebhook("begins with http://", remedy: .allowPlainAddress),
            "begins with http://; use https, or have the operator allow the address with --webhook-allow"
        ),
        (
            InvalidWebhook(
                "has the address a.test, which is not on the public internet",
                remedy: .allowPrivateAddress),
            "has the address a.test, which is not on the public internet; have the operator allow it with "
                + "--webhook-allow"
        ),
    ]

    static let customers: [Told] = [
        (
            Refusal.grant(.unknown(id("g_1"))),
            "The customer has no grant \"g_1\" in the requested environment; see: deed customer show"
        ),
        (
            Refusal.move(.unknown(purchase)),
            "The customer does not hold the purchase \"apple:2000000123\" in the requested environment; see: deed "
                + "customer show"
        ),
        (
            Refusal.note(.unknown(id("no_1"))),
            "The customer has no note \"no_1\" in the requested environment; see: deed note list"
        ),
        (
            Refusal.customerUnknown(id("u1")),
            "There is no customer \"u1\" in the requested environments; see: deed find"
        ),
        (
            Refusal.erasure(.erasedAlready(id("u1"), at: now)),
            "The customer \"u1\" was erased at \(now.text), and nothing has happened since; see: deed customer "
                + "erased"
        ),
        (
            Refusal.erasure(.neverErased(id("u1"))),
            "The customer \"u1\" was never erased; list all erased customers with: deed customer erased --list"
        ),
        (
            Refusal.erasure(.exportTooLarge(limit: 9)),
            "The answer would have more than 9 bytes, the limit of one call; write it with: deed customer export"
        ),
        (
            Refusal.order(.unknown(id("o_1"))),
            "There is no order \"o_1\" in the requested environment; see: deed customer orders"
        ),
        (
            Refusal.token(.tooManyUnclaimed(limit: 9)),
            "More than 9 purchases are waiting under this token, so it cannot belong to one customer. Make the "
                + "client give each customer a separate token, and attach this customer's purchases with: deed "
                + "unclaimed attach"
        ),
        (
            Refusal.token(.notUnclaimed(purchase)),
            "The purchase \"apple:2000000123\" is not waiting for a customer in the requested environment: a "
                + "customer has it, or Deed has never seen it there; see: deed unclaimed list"
        ),
        (
            Refusal.versionsMiscounted(1),
            "This call concerns 1 customer; give \"if_version\" (--if-version) a version of each, like 12."
        ),
        (
            Refusal.versionsMiscounted(2),
            "This call concerns 2 customers; give \"if_version\" (--if-version) a version of each, like 12,7."
        ),
    ]

    static let operating: [Told] = [
        (
            Refusal.formatPending(needed: LogFormat(3), present: LogFormat(2)),
            "This call needs log format 3, but the log is still in format 2, which older releases can read. "
                + "When every instance runs this release, raise the format with: deed migrate --format"
        ),
        (
            Refusal.intake(.full),
            "The project's queue of evidence is full; to see why, run: deed intake list"
        ),
        (
            Refusal.realStoreOnTestClock,
            "This database has a test clock, which a real store does not follow; use another database, or a store "
                + "on this machine: deed app set --store-url"
        ),
        (
            Refusal.testClockMissing,
            "This database has no test clock; create another database and serve it with --test-clock."
        ),
        (
            Refusal.reconciliationUnknown(id("rc_1")),
            "There is no reconciliation rc_1; see: deed reconcile list"
        ),
        (
            StoreTrouble.locked(app.id),
            "The credentials of com.example.app cannot be opened: the installation's key is missing or is a "
                + "different one. Restore the key file (DEED_SECRET_KEY_FILE), or set the credentials again with: "
                + "deed app set"
        ),
        (
            Fault.logBlocked,
            "An event lies beyond its shard's head, where the next event belongs: something other than Deed wrote "
                + "it. Inspect it with: deed audit, and move it aside with: deed audit --quarantine"
        ),
        (
            Fault.rowUnproven("A row says so, but no event does."),
            "A row says so, but no event does. Inspect it with: deed audit --projections, and repair it with: "
                + "deed reconcile --full --repair"
        ),
        (
            Fault.unreadable(Unreadable("a row", needsNewer: false)),
            "The database contains something that cannot be read (a row), so it is damaged; inspect it with: deed "
                + "audit --projections"
        ),
        (
            Fault.unreadable(Unreadable("a row", needsNewer: true)),
            "A newer release of Deed wrote something that this release cannot read (a row); install that release, "
                + "or a newer one."
        ),
        (
            Fault.impeded(
                Impediment(.behind, "The server lacks 1 event.", remedy: .acceptLoss)),
            "The server lacks 1 event. If a backup was restored, or you accept the loss, confirm that with: deed "
                + "accept-log --reason '…'"
        ),
        (Fault.busy, "The database is busy; try again."),
    ]

    @Test(
        "A refusal or fault is told together with its remedy",
        arguments: (projects + customers + operating).map { ($0.trouble.withRemedy, $0.text) })
    func told(_ text: String, _ expected: String) {
        #expect(text == expected)
    }

    @Test("A program on this machine that plays a store must go first")
    func storeHere() throws {
        let address = try #require(StoreAddress("http://127.0.0.1:4010"))
        #expect(
            Refusal.storeOnThisMachine(address).withRemedy
                == "Deed sends this app's credentials, unencrypted, to the program that listens at "
                + "http://127.0.0.1:4010. An operator must remove that address first: deed app set --store-url none"
        )
    }

    /// The remedies of errors whose sentences belong to one target, each after a sample sentence.
    static let other: [(remedy: Remedy, text: String)] = [
        (.setStoreKey, "It fails; set one with: deed app set"),
        (.migrate, "It fails; run: deed migrate"),
        (
            .installMigratingRelease,
            "It fails; install the release that ran deed migrate, or a newer one."
        ),
        (.useMigratingRelease, "It fails; use the release that ran deed migrate."),
        (
            .startAnew,
            "It fails; create an empty database or choose another data folder, or drop the schema deed, and run: "
                + "deed migrate"
        ),
        (
            .createServiceRole,
            "It fails; have an administrator run 'create role deed_service; grant deed_service to <login>;' and "
                + "then: deed migrate"
        ),
        (.admitServiceLogin, "It fails. To repair it: deed migrate --service-login LOGIN"),
        (
            .acceptServer,
            "It fails. If the file is damaged and this server is the right one, confirm that with: deed accept-log "
                + "--reason '…'"
        ),
        (
            .keepRecord,
            "It fails; let Deed write to --data-dir: it records there what it has seen of the log for its next "
                + "start"
        ),
        (
            .requestRemainingHistories,
            "It fails; the next run continues, or: deed reconcile --only history"
        ),
        (.requestHistories, "It fails; request it with: deed reconcile --only history"),
        (
            .readHistories,
            "It fails. Each customer's history shows what was refunded: deed reconcile --only history"
        ),
        (
            .resetSecondFactor,
            "It fails; restore the key, or run: deed person reset ADDRESS --second-factor"
        ),
    ]

    @Test(
        "A remedy in lower case continues the sentence, and one in upper case follows it",
        arguments: other.map { ($0.remedy.after("It fails."), $0.text) })
    func followed(_ text: String, _ expected: String) {
        #expect(text == expected)
    }

    static let needs: [(remedy: ProjectRemedy, text: String, commands: [String])] = {
        let (inDefault, inGame) = (
            StoreApp(project: id("default"), key: app), StoreApp(project: id("game"), key: play)
        )
        return [
            (
                .createKey(id("default")), "Create a key for its back end.",
                ["deed key create --role backend"]
            ),
            (
                .createKey(id("game")), "Create a key for its back end.",
                ["deed key create --role backend --project game"]
            ),
            (
                .listProducts(id("default")), "List the products in a file, and apply the file.",
                ["deed catalog apply catalog.json"]
            ),
            (
                .addBoughtProduct(id("game")),
                "Add the product to the catalog's file, and apply the file.",
                ["deed catalog apply catalog.json --project game"]
            ),
            (
                .createStoreKey(inDefault),
                "Create a key in the store's console, and set it with deed app set --bundle-id com.example.app. "
                    + "Its --help names the flags for a key.", []
            ),
            (
                .registerNotifications(inGame),
                "Enter the address of /v1/stores/google/notifications in the store's console, and have the store "
                    + "send one: deed app check --package com.example.play --project game", []
            ),
            (.addApp(.google), "Add the app: deed app set --package ID", []),
            (
                .removeProducts,
                "This release does not support apps in that store: remove the products from the catalog.",
                []
            ),
            (
                .giveEntitlement,
                "Add it to a product, or remove it from the catalog, unless only grants give it.",
                []
            ),
            (
                .limitSandbox(inDefault),
                "Once the app is on sale, let them count only for listed testers, or not at all.",
                ["deed app set --bundle-id com.example.app --sandbox-access none"]
            ),
            (
                .removePracticeStore(inGame),
                "Once the practice store is gone, remove its address.",
                ["deed app set --package com.example.play --project game --store-url none"]
            ),
            (
                .reconcileAgain(id("default")), "Remove the named cause, and reconcile again.",
                ["deed reconcile --full --repair"]
            ),
            (
                .reconcileNightly(id("game")),
                "Reconcile now. For every night, use deed serve --reconcile-at 03:00, or a timer.",
                ["deed reconcile --project game"]
            ),
        ]
    }()

    @Test("What a project needs is told with commands to paste", arguments: needs.indices)
    func needed(_ place: Int) {
        let (remedy, text, commands) = Self.needs[place]
        let words = CommandWords([AppStoreProfile(), PlayStoreProfile()])
        #expect(words.advice(remedy).text == text)
        #expect(words.advice(remedy).commands == commands)
    }

    @Test("No remedy is missing here")
    func complete() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Core/Remedy.swift")
        let names = try String(contentsOf: file, encoding: .utf8).matches(of: /\n    case (\w+)/)
            .map(\.output.1)
        let told = (Self.projects + Self.customers + Self.operating).compactMap(\.trouble.remedy)
        let listed = (told + Self.other.map(\.remedy)).map { "\($0)" }
        let needed = Self.needs.map { "\($0.remedy)" }
        // Another test covers this remedy.
        let known = Set((listed + needed).map { $0.prefix { $0 != "(" } } + ["removeStoreAddress"])
        #expect(Set(names) == known)
    }
}
