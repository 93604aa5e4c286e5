import Assembly
import Commands
import Core
import JSON
import Ledger
import Postgres

let migrateCommand = CommandSpec(
    path: ["migrate"],
    summary: "Brings the database's schema to the version that this release needs.",
    options: [
        .flag("dry-run", "only show which migrations are missing"),
        .value(
            "service-login", "LOGIN",
            "let this login serve the database, and no login connect without a grant in it"
        ),
    ] + Option.database,
    example: "deed migrate --service-login deed_server"
) { invocation throws(CommandEnd) in
    let database = try invocation.database(mayCreate: !invocation.has("dry-run"))
    defer { database.leave() }
    var schema = Schema(database.connection(role: nil))
    if invocation.has("dry-run") {
        let pending = try attempt { () throws(LedgerError) in try schema.pending() }
        let differences =
            pending.isEmpty
            ? try attempt { () throws(LedgerError) in try schema.differences() } : []
        invocation.show(pending, as: "missing", differences)
        return
    }
    var steps: [SchemaStep] = []
    var blind: String?
    var differences: [SchemaDifference] = []
    try attempt { () throws(LedgerError) in
        try schema.migrate(now: systemClock()) { step in
            steps.append(step)
            if !invocation.isJSON { printText("applied \(step.name)") }
        }
        try schema.narrow()
    }
    if let login = invocation["service-login"] {
        try schema.serve(login)
    } else if database.isPrivate {
        try attempt { () throws(LedgerError) in try schema.close(to: nil) }
    }
    try attempt { () throws(LedgerError) in
        blind = try schema.blindToStandbys()
        differences = try schema.differences()
    }
    if let blind {
        printError(
            "Commits wait for a standby, and the service may not see which one confirms them. Have an "
                + "administrator run: grant pg_read_all_stats to \(blind)")
    }
    invocation.show(steps, as: "applied", differences)
    if let refusal = differences.refusal { throw refusal }
}

extension Invocation {
    fileprivate func show(
        _ steps: [SchemaStep], as verb: String, _ differences: [SchemaDifference]
    ) {
        let names = steps.map(\.name)
        if isJSON || verb == "missing" || names.isEmpty {
            show(
                [
                    "migration": .integer(Schema.needed), verb: .array(names.map(JSON.string)),
                    "differences": .array(differences.map(\.json)),
                ],
                text: names.isEmpty
                    ? "The schema is at migration \(Schema.needed); nothing is missing."
                    : names.map { "\(verb) \($0)" }.joined(separator: "\n"))
        }
        if !isJSON { for difference in differences { printError(difference.description) } }
    }
}

extension [SchemaDifference] {
    /// Why the command fails; `nil` if the schema itself has no differences.
    var refusal: CommandEnd? {
        if allSatisfy(\.isOutside) { return nil }
        return .refused(
            code: "schema_differs",
            sentence:
                "The schema is not as this release makes it: something other than deed migrate changed it. Find "
                + "out who, and undo what is named, as the schema's owner; see docs/operations.md.")
    }
}

extension SchemaDifference {
    var json: JSON {
        [
            "object": .string(object), "aspect": .string(aspect), "expected": .optional(expected),
            "found": .optional(found),
        ]
    }
}

extension Schema {
    /// Lets the login serve, and closes the database to logins without any grant in it.
    fileprivate mutating func serve(_ login: String) throws(CommandEnd) {
        do throws(LedgerError) {
            try close(to: login)
        } catch {
            guard case .postgres(let reason) = error else { throw .fault(error.detailed) }
            switch reason.sqlState {
            case "DD009":
                throw .refused(
                    code: "login_missing",
                    sentence: "There is no login \(login). Make it first, in SQL: "
                        + "create role \(login) login password '…'")
            // The login lacks the privilege.
            case "42501":
                throw .refused(
                    code: "login_not_allowed",
                    sentence: "This login may not let \(login) serve. Have an administrator run: "
                        + "grant deed_service to \(login); and give the database to the schema's owner: "
                        + "alter database … owner to …")
            default: throw .fault(error.detailed)
            }
        }
    }
}
