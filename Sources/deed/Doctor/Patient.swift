import Assembly
import Commands
import Core
import Evidence
import Glibc
import Ledger
import Machine
import PrivatePostgres
import Service
import StoreAccess

/// The installation that the checks examine. Expensive information is looked up once, when a check first needs it.
final class Patient {
    let invocation: Invocation
    let settings: Settings
    private var openedDatabase: Database?
    private var openedLive: Live?

    init(_ invocation: Invocation) {
        self.invocation = invocation
        settings = Settings(invocation)
    }

    /// For root, the user who runs the service. Otherwise, the current user.
    lazy var user: ServiceUser? =
        DataFolder.user(of: settings.dataFolder) ?? ServiceUser(id: geteuid())

    var keyFile: SecretKeyFile { invocation.secretKeyFile }

    /// The database, or the reason why it cannot be opened.
    private(set) lazy var database = Result { () throws(CommandEnd) in
        let database = try invocation.database()
        openedDatabase = database
        return database
    }

    /// The server, or the reason why it does not answer.
    private(set) lazy var server = Result { () throws(CommandEnd) in
        let database = try database.get()
        let found = try attempt { () throws(LedgerError) in
            try ServerExamination.of(database.connection(role: nil))
        }
        guard let found else {
            throw CommandEnd.fault("The server returned no information about itself.")
        }
        return found
    }

    /// The schema and the log's format, or the reason why they are unknown.
    private(set) lazy var standing = Result { () throws(CommandEnd) in
        let database = try database.get()
        var schema = Schema(database.connection(role: nil))
        return try attempt { () throws(LedgerError) in try schema.standing() }
    }

    private(set) lazy var condition = Result { () throws(CommandEnd) in
        try DatabaseCondition(of: try database.get())
    }

    private(set) lazy var differences: [SchemaDifference] = {
        guard let database = try? database.get() else { return [] }
        var schema = Schema(database.serviceConnection)
        return (try? schema.differences()) ?? []
    }()

    private lazy var view: (instances: [SeenInstance], done: [LastDone])? = {
        guard let database = try? database.get() else { return nil }
        var view = OperatorsView(database.serviceConnection)
        guard let instances = try? view.instances(), let done = try? view.done() else { return nil }
        return (instances, done)
    }()
    var instances: [SeenInstance] { view?.instances ?? [] }
    var done: [LastDone] { view?.done ?? [] }

    private(set) lazy var isForTests: Bool = {
        guard let database = try? database.get() else { return false }
        return (try? database.testClockInstant()) != nil
    }()

    private(set) lazy var live: Live? = {
        guard let database = try? database.get(),
            let clock = try? database.clock(onlyReads: true, isForTests: isForTests)
        else { return nil }
        let live = Live(
            database.modestSettings(clock: clock),
            Outside(verifier: Verifier(extraRoots: []), keys: keyFile.ring))
        openedLive = live
        return live
    }()

    /// Each project with its state, which is `nil` if it cannot be read.
    private(set) lazy var projects: [(listed: ListedProject, state: ProjectState?)] = {
        guard let live, let listed = try? live.ledger.projects() else { return [] }
        return listed.map { ($0, try? live.ledger.project($0.project)) }
    }()

    /// Whether any data is sealed with the installation's key.
    var hasSealed: Bool {
        guard let database = try? database.get() else { return false }
        var view = OperatorsView(database.serviceConnection)
        return (try? view.hasSealed()) ?? false
    }

    /// Returns why a check that needs this stage cannot run, or `nil` if it can.
    func obstacle(before stage: HealthCheck.Stage) -> String? {
        if stage >= .server, case .failure(let end) = server { return end.sentence }
        if stage < .schema { return nil }
        switch standing {
        case .failure(let end): return end.sentence
        case .success(let standing) where standing.error != nil:
            return "The schema or the log does not match this release."
        case .success: break
        }
        switch condition {
        case .failure(let end): return end.sentence
        case .success(let condition):
            return condition.queue == nil ? "The log cannot be read." : nil
        }
    }

    /// Closes everything that the checks opened.
    func leave() {
        openedLive?.store.close()
        openedLive?.ledger.close()
        openedDatabase?.leave()
        (openedLive, openedDatabase) = (nil, nil)
    }
}
