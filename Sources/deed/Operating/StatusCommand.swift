import Assembly
import Commands
import Core
import JSON
import Ledger
import Outbound
import Telemetry

let statusCommand = CommandSpec(
    path: ["status"], summary: "Shows the state of the database and of the server on --listen.",
    options: [
        .listen, .tlsCertificate,
        .flag("ready", "only ask the server, and exit 1 unless it is ready"),
    ] + Option.database,
    example: "deed status --json"
) { invocation throws(CommandEnd) in
    let listen = try invocation.listenAddress() ?? ""
    let server = serverStatus(listen: listen, certificate: invocation["tls-certificate"])
    if invocation.has("ready") {
        invocation.show(["server": .string(server)], text: "\(server) on \(listen)")
        if server != "ready" {
            throw .refused(code: "not_ready", sentence: "The server on \(listen) is \(server).")
        }
        return
    }
    let database = try invocation.database()
    defer { database.leave() }
    let found = try attempt { () throws(LedgerError) in
        var schema = Schema(database.serviceConnection)
        return try schema.found()
    }
    let isCurrent = found == Schema.needed
    let condition = isCurrent ? try DatabaseCondition(of: database) : nil
    let queue = condition?.queue
    let testClock =
        isCurrent
        ? try starting { () throws(StartError) in try database.testClockInstant() } : nil
    invocation.show(
        [
            "database": [
                "private": .bool(database.isPrivate), "reachable": true,
                "impediments": .array((condition?.impediments ?? []).map(\.json)),
            ],
            "schema": [
                "migration": .integer(found), "needed": .integer(Schema.needed),
                "current": .bool(isCurrent),
            ],
            "intake": queue?.json ?? .null, "test_clock": .optional(testClock?.text),
            "server": .string(server),
        ],
        text: """
            database  reachable\(database.isPrivate ? ", private" : "")\(condition?.lines ?? "")
            schema    at migration \(found) of \(Schema.needed)
            clock     \(testClock.map { "a test's, at \($0.text)" } ?? "the machine's")
            intake    \(queue?.line ?? "unknown")
            server    \(server) on \(listen)
            """)
    if let error = LedgerError(migrationFound: found) {
        throw .refused(code: "schema_not_current", sentence: error.description)
    }
    if let impediment = condition?.impediments.first {
        throw .refused(code: impediment.kind.rawValue, sentence: impediment.sentence)
    }
}

/// The state in which the database was found.
private struct DatabaseCondition {
    let impediments: [Impediment]
    /// `nil` if the database was not read.
    let queue: IntakeCounts?

    init(of database: Database) throws(CommandEnd) {
        let ledger = Ledger(
            database.modestSettings(clock: systemClock), log: .silent, metrics: Metrics())
        defer { ledger.close() }
        do throws(Fault) {
            _ = try ledger.look()
            queue = try ledger.intakeCounts()
            impediments = ledger.impediments
        } catch {
            guard case .impeded(let impediment) = error else { throw CommandEnd(error) }
            queue = nil
            impediments = [impediment]
        }
    }

    var lines: String { impediments.map { "\n          \($0.sentence)" }.joined() }
}

extension Impediment {
    fileprivate var json: JSON {
        ["code": .string(kind.rawValue), "detail": .string(sentence)]
    }
}

extension IntakeCounts {
    fileprivate var json: JSON {
        [
            "waiting": .integer(waiting), "stuck": .integer(alarming),
            "oldest_added_at": .optional(oldest?.text),
        ]
    }

    fileprivate var line: String {
        let since = oldest.map { ", the oldest since \($0.text)" } ?? ""
        let alarm =
            alarming == 0
            ? ""
            : "; ALARM: \(alarming) tried \(IntakeItem.alarmTries) times or more, see: deed intake list"
        return "\(waiting) waiting\(since)\(alarm)"
    }
}

/// `ready`, `not ready` or `not running`. A server with a certificate must have exactly that one,
/// whatever its name: the probe asks an address of this machine.
private func serverStatus(listen: String, certificate: String?) -> String {
    let address = listen.hasPrefix(":") ? "127.0.0.1\(listen)" : listen
    let scheme = certificate == nil ? "http" : "https"
    do throws(OutboundError) {
        var client = try HTTPClient(caFile: certificate, acceptsAnyName: certificate != nil)
        var request = OutboundRequest("GET", "\(scheme)://\(address)/readyz")
        request.timeoutMilliseconds = 2000
        let response = try client.send(request)
        return response.status == 200 ? "ready" : "not ready"
    } catch {
        return "not running"
    }
}
