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
        .flag(
            "format",
            "also raise the log's format to this release's, after which older releases cannot serve"
        ),
        .value(
            "service-login", "LOGIN",
            "let this login serve the database, and stop logins without a grant from connecting"
        ),
    ] + Option.database,
    example: "deed migrate --service-login deed_server"
) { invocation throws(CommandEnd) in
    let database = try invocation.database(mayCreate: !invocation.has("dry-run"))
    defer { database.leave() }
    var schema = Schema(database.connection(role: nil))
    if invocation.has("dry-run") {
        let pending = try attempt { () throws(LedgerError) in try schema.pending() }
        let standing = try attempt { () throws(LedgerError) in try schema.standing() }
        let differences =
            pending.isEmpty
            ? try attempt { () throws(LedgerError) in try schema.differences() } : []
        invocation.show(pending, as: "missing", differences, Raising(to: standing))
        return
    }
    var steps: [SchemaStep] = []
    var blind: String?
    var differences: [SchemaDifference] = []
    try attempt { () throws(LedgerError) in
        try schema.migrate(by: Build.version, now: systemClock()) { step in
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
    let standing = try attempt { () throws(LedgerError) in try schema.standing() }
    var raising = Raising(to: standing)
    if invocation.has("format") {
        // Nothing can be raised if a newer release has already raised the format further.
        if let error = standing.error {
            try attempt { () throws(LedgerError) -> Void in throw error }
        }
        if raising.isPending { try database.requireNewInstances() }
        _ = try attempt { () throws(LedgerError) in
            try schema.raiseFormat(by: Build.version, now: systemClock())
        }
        raising.isDone = true
    }
    try attempt { () throws(LedgerError) in
        blind = try schema.blindToStandbys()
        differences = try schema.differences()
    }
    if let blind {
        printError(
            "Commits wait for a standby, but the service may not see which standby confirms them. Have an "
                + "administrator run: grant pg_read_all_stats to \(blind)")
    }
    invocation.show(steps, as: "applied", differences, raising)
    if let refusal = differences.refusal { throw refusal }
}

/// The log's format, and whether this call has raised it.
private struct Raising {
    /// The format before the call; `nil` if the schema is older than log formats.
    let before: LogFormat?
    let isPending: Bool
    var isDone = false

    init(to standing: SchemaStanding) {
        before = standing.demand?.format
        isPending = standing.pendingFormat != nil
    }

    private var number: Int { isDone ? LogFormat.own.number : before?.number ?? 0 }

    var json: JSON {
        [
            "number": before == nil ? .null : .integer(number),
            "known": .integer(LogFormat.own.number), "raised": .bool(isDone && isPending),
        ]
    }

    var sentence: String? {
        guard let before else { return nil }
        if !isPending { return isDone ? "The log's format is already \(number)." : nil }
        let own = LogFormat.own.number
        return isDone
            ? "raised the log's format from \(before.number) to \(own): releases that know only \(before.number) can no longer "
                + "write, and running ones say at /readyz which release is needed. The only way back is a backup."
            : "The log's format is \(before.number), and this release knows \(own). Older releases still work alongside this "
                + "one, so events that they could not read are refused. When every instance runs this release, raise it "
                + "with: deed migrate --format"
    }
}

extension Invocation {
    fileprivate func show(
        _ steps: [SchemaStep], as verb: String, _ differences: [SchemaDifference],
        _ raising: Raising
    ) {
        let names = steps.map(\.name)
        if isJSON || verb == "missing" || names.isEmpty {
            show(
                [
                    "migration": .integer(Schema.needed), verb: .array(names.map(JSON.string)),
                    "format": raising.json,
                    "differences": .array(differences.map(\.json)),
                ],
                text: names.isEmpty
                    ? "The schema is at migration \(Schema.needed); nothing is missing."
                    : names.map { "\(verb) \($0)" }.joined(separator: "\n"))
        }
        if isJSON { return }
        if let sentence = raising.sentence { printText(sentence) }
        for difference in differences { printError(difference.description) }
    }
}

extension Database {
    /// Throws if an instance is running that could not write a log in this release's format.
    fileprivate func requireNewInstances() throws(CommandEnd) {
        var view = OperatorsView(connection(role: nil))
        let instances = try attempt { () throws(LedgerError) in try view.instances() }
        let older = instances.filter(\.isAlive).compactMap { InstanceWords($0) }
            .filter { $0.format < .own }
        guard let first = older.first else { return }
        throw .refused(
            code: "older_instances",
            sentence:
                "\(older.count == 1 ? "An instance runs" : "\(older.count) instances run") an older release, such as "
                + "\(first.version) on \(first.host) at \(first.listen), which could then no longer write. Replace or "
                + "stop each of these first. A killed instance counts for another 20 s.")
    }
}

extension [SchemaDifference] {
    /// Why the command fails; `nil` if the schema itself has no differences.
    var refusal: CommandEnd? {
        if allSatisfy(\.isOutside) { return nil }
        return .refused(
            code: "schema_differs",
            sentence:
                "The schema differs from this release's: something other than deed migrate changed it. Find "
                + "the cause, and undo the changes as the schema's owner; see docs/operations.md.")
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
    /// Lets the login act as the service, and closes the database to logins without a grant in it.
    fileprivate mutating func serve(_ login: String) throws(CommandEnd) {
        do throws(LedgerError) {
            try close(to: login)
        } catch {
            guard case .postgres(let reason) = error else { throw .fault(error.detailed) }
            switch reason.sqlState {
            case "DD009":
                throw .refused(
                    code: "login_missing",
                    sentence: "There is no login \(login). Create it first, in SQL: "
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
