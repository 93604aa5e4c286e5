import Assembly
import Core
import JSON
import Ledger

let migrateCommand = CommandSpec(
    path: ["migrate"],
    summary: "Brings the database's schema to the version that this release needs.",
    options: [.flag("dry-run", "only show which migrations are missing")] + Option.database,
    example: "deed migrate --database-url postgresql://deed@db.internal/deed"
) { invocation throws(CommandEnd) in
    let database = try invocation.database(mayCreate: !invocation.has("dry-run"))
    defer { database.leave() }
    var schema = Schema(database.connection(role: nil))
    var steps: [SchemaStep] = []
    var seesStandbys = true
    try attempt { () throws(LedgerError) in
        if invocation.has("dry-run") {
            steps = try schema.pending()
        } else {
            try schema.migrate(now: systemClock()) { step in
                steps.append(step)
                if !invocation.isJSON { printText("applied \(step.name)") }
            }
            seesStandbys = try schema.showStandbys()
        }
    }
    if !seesStandbys {
        printError(
            "The login may not let the service see standbys. Where commits wait for one, have an "
                + "administrator run: grant pg_read_all_stats to deed_service")
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
