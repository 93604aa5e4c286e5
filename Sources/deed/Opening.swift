import Assembly
import Commands
import Core
import Crypto
import Evidence
import Foundation
import Glibc
import JSON
import Ledger
import Service
import Telemetry

extension Option {
    static let testClock = switchSetting(
        "test-clock", "required for any change to a database with a test clock")
    static let extraRoots = setting(
        "extra-roots", "FOLDER", "additional root certificates, trusted for sandbox evidence only")
}

let standardErrorLog = Log { line in
    printError("{\"at\":\"\(systemClock().text)\"," + line.dropFirst())
}

extension Settings {
    init(_ invocation: Invocation) {
        self.init(
            databaseURL: invocation["database-url"],
            dataFolder: invocation["data-dir"] ?? Settings.defaultDataFolder)
    }

    /// The default data folder: for root, the folder where services keep their data; for other users, a folder in their
    /// home. The choice depends on the user who started the process, even if the process has since switched users.
    static let defaultDataFolder: String = {
        if getuid() == 0 { return "/var/lib/deed" }
        let variables = ProcessInfo.processInfo.environment
        if let data = variables["XDG_DATA_HOME"], !data.isEmpty { return "\(data)/deed" }
        return "\(variables["HOME"] ?? ".")/.local/share/deed"
    }()
}

extension Invocation {
    /// Opens the configured database. The caller must close it with `leave`.
    func database(
        mayCreate: Bool = false, isRestoring: Bool = false, log: Log = .silent
    ) throws(CommandEnd) -> Database {
        try starting { () throws(StartError) in
            try Database(Settings(self), mayCreate: mayCreate, isRestoring: isRestoring, log: log)
        }
    }

    /// Runs `body` with the database, provided that its schema fits this release.
    func withDatabase(
        mayCreate: Bool = false, log: Log = .silent,
        _ body: (Database) throws(CommandEnd) -> Void
    ) throws(CommandEnd) {
        let database = try database(mayCreate: mayCreate, log: log)
        defer { database.leave() }
        try starting { () throws(StartError) in
            try database.prepareSchema(for: Build.version, log: log)
        }
        try body(database)
    }

    /// Records that an operator has performed a task. Ignores a failure.
    func note(done what: String, says: JSON = [:]) {
        guard let database = try? database() else { return }
        defer { database.leave() }
        var view = OperatorsView(database.serviceConnection)
        try? view.note(done: what, says: says.text)
    }

    /// The flags of this call that say where the installation is, for commands to paste.
    var placeFlags: String {
        ["database-url", "data-dir"].filter(isWritten).map {
            " --\($0) \(shellWord((self[$0] ?? "").withoutPasswords))"
        }.joined()
    }

    func clock(over database: Database, onlyReads: Bool) throws(CommandEnd) -> Clock {
        try starting { () throws(StartError) in
            try database.clock(onlyReads: onlyReads, isForTests: has("test-clock"))
        }
    }

    /// Runs `body` with the use cases. Requires that the project in the command exists.
    func withUseCases(
        in project: ProjectID? = nil, mayCreate: Bool = false,
        _ body: (UseCases) throws(CommandEnd) -> Void
    ) throws(CommandEnd) {
        try withLive(in: project, mayCreate: mayCreate) { live throws(CommandEnd) in
            try body(live.useCases)
        }
    }

    /// Runs `body` with everything needed to accept evidence.
    func withIntake(
        in project: ProjectID? = nil, onlyReads: Bool? = nil,
        _ body: (Intake) throws(CommandEnd) -> Void
    ) throws(CommandEnd) {
        try withLive(in: project, onlyReads: onlyReads) { live throws(CommandEnd) in
            try body(live.intake)
        }
    }

    /// Runs `body` with a live service. `onlyReads` is true for commands that write only with certain flags.
    func withLive(
        in project: ProjectID? = nil, mayCreate: Bool = false, onlyReads: Bool? = nil,
        _ body: (Live) throws(CommandEnd) -> Void
    ) throws(CommandEnd) {
        try withDatabase(mayCreate: mayCreate) { database throws(CommandEnd) in
            let clock = try clock(over: database, onlyReads: onlyReads ?? spec.onlyReads)
            var outside = Outside(
                verifier: Verifier(extraRoots: try extraRoots()), keys: secretKeyFile.ring)
            outside.takesProduction = !has("test-clock")
            outside.webhooks = try webhookSettings()
            let live = Live(database.modestSettings(clock: clock), outside)
            defer {
                live.store.close()
                live.ledger.close()
            }
            if let project {
                _ = try obey(live.useCases.ledger.existing(project))
            }
            try body(live)
        }
    }

    /// Returns the certificates of `--extra-roots`, if any.
    func extraRoots() throws(CommandEnd) -> [Certificate] {
        try self["extra-roots"].map(readRoots) ?? []
    }

    /// Returns the person at the command line.
    func sender() throws(CommandEnd) -> Sender {
        let login = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) }
        let key = self["idempotency-key"]
        if let key, key.utf8.count > Sender.idempotencyKeyLimit || (try? Actor(key)) == nil {
            throw usage(
                "--idempotency-key takes 1 to \(Sender.idempotencyKeyLimit) bytes of printable text"
            )
        }
        return Sender(
            actor: try id("cli:\(login ?? String(getuid()))", named: "the login name"),
            idempotencyKey: key)
    }
}

/// Starts a service that a command needs. A failure ends the command.
func starting<Started>(
    _ body: () throws(StartError) -> Started
) throws(CommandEnd) -> Started {
    do throws(StartError) {
        return try body()
    } catch {
        switch error {
        case .refused(let code, let sentence): throw .refused(code: code, sentence: sentence)
        case .fault(let sentence): throw .fault(sentence)
        }
    }
}
