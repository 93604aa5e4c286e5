import Core
import JSON
import Ledger
import Outbound
import Postgres
import PrivatePostgres
import Telemetry

let statusCommand = CommandSpec(
    path: ["status"], summary: "Tells how the database and the server on --listen are.",
    options: [
        .listen, .flag("ready", "only ask the server, and exit 1 unless it is ready"),
    ] + Option.database,
    example: "deed status --json"
) { invocation throws(CommandFailure) in
    let listen = invocation["listen"] ?? ""
    let server = serverStatus(listen: listen)
    if invocation.has("ready") {
        invocation.show(["server": .string(server)], text: "\(server) on \(listen)")
        if server != "ready" {
            throw .refused(code: "not_ready", sentence: "The server on \(listen) is \(server).")
        }
        return
    }
    let settings = Settings(invocation)
    if settings.databaseURL == nil, !PrivatePostgres.exists(in: settings.dataFolder) {
        throw .refused(
            code: "no_database",
            sentence: "There is no database in \(settings.dataFolder) yet; start one with: "
                + "deed serve")
    }
    let database = try Database(settings, log: .silent)
    defer { database.privatePostgres?.leave() }
    let found = try migrationFound(in: database)
    invocation.show(
        [
            "database": ["private": .bool(database.privatePostgres != nil), "reachable": true],
            "schema": [
                "migration": .integer(found), "needed": .integer(Schema.needed),
                "current": .bool(found == Schema.needed),
            ],
            "server": .string(server),
        ],
        text: """
            database  reachable\(database.privatePostgres == nil ? "" : ", private")
            schema    at migration \(found) of \(Schema.needed)
            server    \(server) on \(listen)
            """)
    if let error = LedgerError(migrationFound: found) {
        throw .refused(code: "schema_not_current", sentence: error.description)
    }
}

private func migrationFound(in database: Database) throws(CommandFailure) -> Int64 {
    var schema = Schema(database.connection(role: nil))
    do throws(LedgerError) {
        return try schema.found()
    } catch {
        throw .fault(error.detailed)
    }
}

/// `ready`, `not ready` or `not running`.
private func serverStatus(listen: String) -> String {
    let address = listen.hasPrefix(":") ? "127.0.0.1\(listen)" : listen
    do throws(OutboundError) {
        var client = try HTTPClient()
        var request = OutboundRequest("GET", "http://\(address)/readyz")
        request.timeoutMilliseconds = 2000
        let response = try client.send(request)
        return response.status == 200 ? "ready" : "not ready"
    } catch {
        return "not running"
    }
}
