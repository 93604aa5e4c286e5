import Assembly
import Commands
import Crypto
import Evidence
import HTTPServer
import JSON
import Machine
import PrivatePostgres
import Telemetry

extension Option {
    static let listen = setting(
        "listen", "ADDRESS", "the address to listen on; port 0 picks a free port",
        fallback: "127.0.0.1:8080")
    static let tlsCertificate = setting(
        "tls-certificate", "FILE", "the certificate and its chain in PEM, for HTTPS")
    static let tlsKey = setting("tls-key", "FILE", "the certificate's key in PEM")
    static let connections = setting(
        "connections", "COUNT", "the maximum number of simultaneous connections", fallback: "4096")
    static let console = switchSetting(
        "console", "serve web pages for support staff below /console")
    static let consoleListen = setting(
        "console-listen", "ADDRESS", "a separate address for the pages of --console")
    static let consoleSecondFactor = setting(
        "console-second-factor", "WORD",
        "required or optional: whether people need a second factor to see more than its set-up",
        fallback: "optional")
    static let serveTestClock = switchSetting(
        "test-clock",
        "follow a clock that PUT /v1/test/clock moves; the database keeps this clock permanently")
}

let serveCommand = CommandSpec(
    path: ["serve"], summary: "Serves the API until SIGTERM or SIGINT.",
    options: [
        .listen,
        .tlsCertificate,
        .tlsKey, .connections,
        .setting(
            "connections-per-address", "COUNT", "the maximum number of connections per address",
            fallback: "1024"),
        .setting(
            "trusted-proxies", "LIST",
            "proxies that forward clients' requests, such as 10.0.0.0/8,::1"),
        .operationsListen, .console, .consoleListen, .consoleSecondFactor,
        .setting(
            "answer-memory-megabytes", "COUNT", "memory for answers about recently read customers",
            fallback: "256", formerly: "answer-memory"),
        .setting(
            "max-stale-seconds", "COUNT",
            "the maximum age of an answer while the database is unreachable",
            fallback: "60", formerly: "max-stale"),
        .setting(
            "reconcile-at", "TIME",
            "when to reconcile every project daily, in UTC, as in 03:00 (default: never)"
        ),
        .setting(
            "forget-after", "DURATION",
            "the age at which data that nothing depends on is deleted, at least P200D, or off",
            fallback: "P400D"),
        .setting(
            "user", "NAME",
            "the user to run as when root starts this (default: the owner of the data folder's database, else deed, else postgres)"
        ),
    ] + Option.webhooks + [
        .noWait, .extraRoots, .secretKeyFile, .databaseURL, .dataDir, .serveTestClock,
    ],
    example: "deed serve --listen 127.0.0.1:8080"
) { invocation throws(CommandEnd) in
    let hasTLS = invocation["tls-certificate"] != nil
    StopSignal.install(countsHangups: hasTLS)
    let log = standardErrorLog
    var settings = try ServiceSettings(invocation)
    settings.fitDescriptors(log: log)
    settings.hangups = { StopSignal.hangups }
    let roots = try invocation.extraRoots()
    log.tellExtraRoots(roots)
    let webhooks = try invocation.webhookSettings()
    let user = try invocation.serviceUser()
    let lock = try invocation.serviceLock(listen: settings.server.listen)
    // Releases the lock last, after the database has stopped, so that the next holder finds it stopped.
    defer { withExtendedLifetime(lock) {} }
    try starting { () throws(StartError) in try settings.claimAddresses() }
    if let user, !user.become() {
        throw .fault(
            "The system did not let this process switch to the user \(user.name); "
                + "start deed as that user.")
    }
    if let user { try invocation.secretKeyFile.check(readableFor: user) }
    let database = try invocation.database(mayCreate: true, log: log)
    defer { database.leave() }
    if !invocation.has("no-wait"), !database.awaitServer(log: log) { return }
    try starting { () throws(StartError) in
        try database.prepareSchema(for: Build.version, raisesFormat: true, log: log)
        var outside = Outside(
            verifier: Verifier(extraRoots: roots), keys: invocation.secretKeyFile.ring, log: log)
        outside.webhooks = webhooks
        let service = try RunningService(
            settings, database,
            testClock: try database.sharedClock(
                isForTests: invocation.has("test-clock"),
                mayMark: invocation.isWritten("test-clock"), log: log),
            outside,
            stop: StopSignal.raise)
        database.tellDifferences(log: log)
        StopSignal.wait()
        service.stop()
        if let end = service.end { throw end }
    }
}

extension Invocation {
    /// Returns the user who runs a service that root starts. The data folder then belongs to that user.
    fileprivate func serviceUser() throws(CommandEnd) -> ServiceUser? {
        do throws(PrivatePostgresError) {
            return try DataFolder.give(Settings(self).dataFolder, wanting: self["user"])
        } catch {
            throw .fault(error.description)
        }
    }

    /// Returns the lock on the data folder, or `nil` if the operator provides the database.
    fileprivate func serviceLock(listen: String) throws(CommandEnd) -> ServiceLock? {
        let settings = Settings(self)
        if settings.databaseURL != nil { return nil }
        do throws(PrivatePostgresError) {
            return try ServiceLock(folder: settings.dataFolder, listen: listen)
        } catch {
            guard case .inUse = error else { throw .fault(error.description) }
            throw .refused(code: "data_folder_in_use", sentence: error.description)
        }
    }
}

extension Log {
    /// Logs the additional trusted roots for operators.
    fileprivate func tellExtraRoots(_ roots: [Certificate]) {
        if roots.isEmpty { return }
        warning(
            "extra_roots",
            [
                "environment": "sandbox",
                "roots": .array(roots.map { .string("\($0.name) \($0.fingerprint.hex)") }),
            ])
    }
}
