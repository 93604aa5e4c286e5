import Core
import HTTPServer
import JSON
import Ledger
import Outbound
import Postgres
import PrivatePostgres
import Telemetry

let migrateCommand = CommandSpec(
    path: ["migrate"], summary: "Brings the database's schema to what this release needs.",
    options: [.flag("dry-run", "only tell which migrations are missing")] + Option.database,
    example: "deed migrate --database-url postgresql://deed@db.internal/deed"
) { invocation throws(CommandFailure) in
    let database = try Database(Settings(invocation), log: .silent)
    defer { database.privatePostgres?.leave() }
    var schema = Schema(database.connection(role: nil))
    var steps: [SchemaStep] = []
    do throws(LedgerError) {
        if invocation.has("dry-run") {
            steps = try schema.pending()
        } else {
            try schema.migrate(now: systemClock()) { step in
                steps.append(step)
                if !invocation.isJSON { printText("applied \(step.name)") }
            }
        }
    } catch {
        throw .fault(error.detailed)
    }
    let names = steps.map(\.name)
    let verb = invocation.has("dry-run") ? "missing" : "applied"
    if invocation.isJSON || invocation.has("dry-run") || steps.isEmpty {
        invocation.show(
            [
                "migration": .integer(Schema.needed),
                verb: .array(names.map(JSON.string)),
            ],
            text: names.isEmpty
                ? "The schema is at migration \(Schema.needed); nothing is missing."
                : names.map { "\(verb) \($0)" }.joined(separator: "\n"))
    }
}

let statusCommand = CommandSpec(
    path: ["status"], summary: "Tells how the database and the server on --listen are.",
    options: [.listen] + Option.database, example: "deed status --json"
) { invocation throws(CommandFailure) in
    let database = try Database(Settings(invocation), log: .silent)
    defer { database.privatePostgres?.leave() }
    var schema = Schema(database.connection(role: nil))
    let found: Int64
    do throws(LedgerError) {
        found = try schema.found()
    } catch {
        throw .fault(error.description)
    }
    let server = serverStatus(listen: invocation["listen"] ?? "")
    let isCurrent = found == Schema.needed
    invocation.show(
        [
            "database": ["private": .bool(database.privatePostgres != nil), "reachable": true],
            "schema": [
                "migration": .integer(found), "needed": .integer(Schema.needed),
                "current": .bool(isCurrent),
            ],
            "server": .string(server),
        ],
        text: """
            database  reachable\(database.privatePostgres == nil ? "" : ", private")
            schema    at migration \(found), \(isCurrent ? "current" : "needs \(Schema.needed)")
            server    \(server) on \(invocation["listen"] ?? "")
            """)
    if !isCurrent {
        throw .refused(
            code: "schema_not_current",
            sentence: found < Schema.needed
                ? LedgerError.schemaOutdated(found: found, needed: Schema.needed).description
                : LedgerError.schemaNewer(found: found, known: Schema.needed).description)
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

extension LedgerError {
    /// With the server's own words: the person at the terminal may see them.
    fileprivate var detailed: String {
        guard case .postgres(let error) = self, !error.serverMessage.isEmpty else {
            return description
        }
        return "\(description) PostgreSQL says: \(error.serverMessage)"
    }
}
