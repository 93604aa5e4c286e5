import Core
import Crypto
import Foundation
import Glibc
import JSON
import Ledger
import Postgres
import PrivatePostgres
import Service
import Telemetry

/// The one place that wires the ports to what lives outside.
struct Live: Sendable {
    let ledger: Ledger
    let ports: Ports

    /// `answers` follow the log where there are any.
    init(
        _ settings: LedgerSettings, extraRoots: [Certificate], log: Log, metrics: Metrics,
        answers: AnswerCache? = nil
    ) {
        let ledger = Ledger(
            settings, log: log, metrics: metrics, follower: answers.map(Follower.init))
        self.ledger = ledger
        ports = Ports(
            ledger: LedgerPort(
                append: { command throws(CommandError) in try ledger.append(command) },
                submit: { ledger.submit($0, respond: $1) },
                announce: { ledger.announce($0) },
                customer: { stream throws(Fault) in try ledger.customer(of: stream) },
                read: { ledger.read($0, respond: $1) },
                project: { project throws(Fault) in try ledger.project(project) },
                customers: { project, stream, limit throws(Fault) in
                    try ledger.customers(of: project, after: stream, limit: limit)
                },
                events: { stream, version, limit throws(Fault) in
                    try ledger.events(of: stream, after: version, limit: limit)
                },
                projects: { () throws(Fault) in try ledger.projects() }),
            directory: DirectoryPort(
                apps: { () throws(Fault) in try ledger.apps() },
                keys: { () throws(Fault) in try ledger.liveKeys() },
                owner: { order, project, environment throws(Fault) in
                    try ledger.owner(of: order, in: project, environment)
                },
                unclaimed: { project, environment, purchase, limit throws(Fault) in
                    try ledger.unclaimed(of: project, environment, after: purchase, limit: limit)
                }),
            evidence: EvidencePort(extraRoots: extraRoots, metrics: metrics, ledger),
            reading: ReadingPort(
                heads: { () throws(Fault) in try ledger.heads() },
                customers: { streams throws(Fault) in try ledger.customers(streams) }),
            intake: IntakePort(ledger), store: .notConfigured,
            secrets: SecretsPort(
                randomBytes: { randomBytes($0) }, digest: { SHA256.digest($0).bytes },
                hexDigest: { SHA256.digest($0).hex }),
            now: settings.clock, machineClock: systemClock)
    }
}

extension Follower {
    /// The answers' way to hear of what happens to the log.
    fileprivate init(_ answers: AnswerCache) {
        self.init(
            applied: { answers.applied }, epoch: { answers.epoch },
            committed: { answers.follow($0, epoch: $1) },
            followed: { answers.follow($0, askedAt: $1, isComplete: $2, epoch: $3) },
            forget: { answers.forget() })
    }
}

/// The machine's clock.
@Sendable func systemClock() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
}

/// A log on standard error.
let standardErrorLog = Log { line in
    printError("{\"at\":\"\(systemClock().text)\"," + line.dropFirst())
}

/// The database that the settings name: one elsewhere, or the private one.
///
/// Only commands that begin something may create the private one: for the others a folder without
/// one is more likely misspelt than new.
struct Database: Sendable {
    let url: String
    let privatePostgres: PrivatePostgres?

    init(_ settings: Settings, mayCreate: Bool = false, log: Log) throws(CommandEnd) {
        if let url = settings.databaseURL {
            self.url = url
            privatePostgres = nil
            return
        }
        if !mayCreate, !PrivatePostgres.exists(in: settings.dataFolder) {
            throw .refused(
                code: "no_database",
                sentence: "There is no database in \(settings.dataFolder) yet; start one with: "
                    + "deed serve")
        }
        do throws(PrivatePostgresError) {
            let postgres = try PrivatePostgres(
                folder: settings.dataFolder, mayCreate: mayCreate, log: log)
            url = postgres.url
            privatePostgres = postgres
        } catch {
            throw .fault(error.description)
        }
    }

    func connection(role: String?) -> ConnectionSettings {
        ConnectionSettings(url: url, role: role)
    }

    /// With the rights that all work is done with.
    var serviceConnection: ConnectionSettings { connection(role: LedgerSettings.serviceRole) }

    /// For a process that does one thing at a time.
    func modestSettings(clock: @escaping Clock) -> LedgerSettings {
        var settings = LedgerSettings(connection: serviceConnection, clock: clock)
        settings.committers = 1
        settings.readers = 1
        settings.lookups = 1
        return settings
    }

    /// Brings a private database's schema up to date, which nobody else would; a database
    /// elsewhere must be right already.
    func prepareSchema(log: Log) throws(CommandEnd) {
        do throws(LedgerError) {
            if privatePostgres != nil {
                var asOwner = Schema(connection(role: nil))
                try asOwner.migrate(now: systemClock()) { step in
                    log.info("migrated", ["migration": .string(step.name)])
                }
            }
            var asService = Schema(serviceConnection)
            try asService.validate()
        } catch {
            throw .fault(error.detailed)
        }
    }
}

extension Invocation {
    /// Runs `body` over the database that the settings name, and leaves nothing running behind.
    /// Where the command is about a project, that must be there.
    func withPorts(
        in project: ProjectID? = nil, mayCreate: Bool = false,
        _ body: (Ports, Ledger) throws(CommandEnd) -> Void
    ) throws(CommandEnd) {
        let database = try Database(Settings(self), mayCreate: mayCreate, log: .silent)
        defer { database.privatePostgres?.leave() }
        try database.prepareSchema(log: .silent)
        let clock = try database.clock(of: self, onlyReads: spec.onlyReads)
        let live = Live(
            database.modestSettings(clock: clock), extraRoots: try extraRoots(), log: .silent,
            metrics: Metrics())
        defer { live.ledger.close() }
        if let project {
            try obey { () throws(CommandError) in try live.ports.requireProject(project) }
        }
        try body(live.ports, live.ledger)
    }

    /// The person at the command line.
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

extension LedgerError {
    /// With the server's own words: the person at the terminal may see them.
    var detailed: String {
        guard case .postgres(let error) = self, !error.serverMessage.isEmpty else {
            return description
        }
        // 42501: the login lacks the privilege, most likely that of being the service.
        let remedy =
            error.sqlState == "42501"
            ? " Have an administrator run: grant \(LedgerSettings.serviceRole) to <login>." : ""
        return "\(description) PostgreSQL says: \(error.serverMessage)\(remedy)"
    }
}
