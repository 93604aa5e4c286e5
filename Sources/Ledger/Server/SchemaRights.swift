import Core
package import Postgres
import SQL
import Wording

/// A difference between the actual schema or its rights and what this release creates.
package struct SchemaDifference: Hashable, Sendable, CustomStringConvertible {
    /// For example `deed.events`, `deed.shards.head`, `deed.now()`, `schema deed`, `role deed_service` or `database`.
    package let object: String
    /// For example `columns`, `trigger events_only_grow`, `function`, `query`, `owner` or `rights of PUBLIC`.
    package let aspect: String
    /// `nil` if the object or aspect should not exist.
    package let expected: String?
    /// `nil` if the object or aspect was not found.
    package let found: String?

    /// Whether the difference concerns an object outside the schema. Deed did not create that
    /// object, but an administrator can change it.
    package var isOutside: Bool { ["database", "role deed_service"].contains(object) }

    package var description: String {
        let sentence =
            "\(object), \(aspect): should be \(expected ?? "nothing") but is \(found ?? "nothing")."
        if object == "database" { return Remedy.admitServiceLogin.after(sentence) }
        let list = statements.joined(separator: "; ")
        return list.isEmpty ? sentence : "\(sentence) To repair it: \(list)"
    }

    /// Statements that fix the difference. The schema's owner has to run them.
    package var statements: [String] {
        if object == "database" { return [] }
        if aspect == "member of", let found { return ["revoke \(found) from deed_service"] }
        guard let role = aspect.dropping("rights of ") else { return [] }
        let (should, may) = (rights(of: expected), rights(of: found))
        let statements = [
            may.subtracting(should).isEmpty
                ? nil : "revoke \(listed(may.subtracting(should))) from \(role)",
            should.subtracting(may).isEmpty
                ? nil : "grant \(listed(should.subtracting(may))) to \(role)",
        ]
        return statements.compactMap(\.self)
    }

    private func rights(of text: String?) -> Set<String> {
        Set((text ?? "").split(separator: ", ").map(String.init))
    }

    /// Returns the rights and their objects, in SQL.
    private func listed(_ rights: Set<String>) -> String {
        let names = rights.map { $0.prefix { $0 != " " }.lowercased() }.sorted()
        let parts = object.split(separator: ".", maxSplits: 2)
        if object.contains("(") { return "\(names.joined(separator: ", ")) on function \(object)" }
        if parts.count < 3 { return "\(names.joined(separator: ", ")) on \(object)" }
        return names.map { "\($0) (\(parts[2]))" }.joined(separator: ", ")
            + " on \(parts[0]).\(parts[1])"
    }
}

extension String {
    fileprivate func dropping(_ prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}

private struct SchemaAspect: Hashable {
    let object: String
    let aspect: String
}

extension Connection {
    /// Returns differences from the schema that this release's migrations create: tables, views, functions, triggers,
    /// constraints and their owners, the rights of the service and of PUBLIC, and others' rights beyond reading.
    /// Includes differences in the list of applied migrations. A newer schema is not compared, because only the release
    /// that created it can do that.
    package mutating func schemaDifferences() throws(LedgerError) -> [SchemaDifference] {
        if try appliedMigrations().last.map({ $0.number > Schema.needed }) == true { return [] }
        var found = try describedSchema()
        var differences = try migrationDifferences()
        for (aspect, expected) in Connection.expectedSchema {
            let value = found.removeValue(forKey: aspect)
            if value == expected { continue }
            differences.append(SchemaDifference(aspect, expected: expected, found: value))
        }
        differences += found.map { SchemaDifference($0, expected: nil, found: $1) }
        return differences.sorted { ($0.object, $0.aspect) < ($1.object, $1.aspect) }
    }

    /// Returns the rows in `deed.migrations` that are missing, superfluous, or from a different script.
    private mutating func migrationDifferences() throws(LedgerError) -> [SchemaDifference] {
        let expected = Dictionary(
            uniqueKeysWithValues: Migration.all.map {
                ($0.number, "\($0.name) \($0.digest.hexDigits)")
            })
        let found = Dictionary(
            uniqueKeysWithValues: try appliedMigrations().map {
                ($0.number, "\($0.name) \($0.digest.hexDigits)")
            })
        return Set(expected.keys).union(found.keys).compactMap { number in
            expected[number] == found[number]
                ? nil
                : SchemaDifference(
                    SchemaAspect(object: "deed.migrations", aspect: "migration \(number)"),
                    expected: expected[number], found: found[number])
        }
    }

    /// Returns the schema as text, with one line for each aspect, as in `sql/schema.txt`.
    package mutating func schemaLines() throws(LedgerError) -> [String] {
        try describedSchema().map { "\($0.object)\(separator)\($0.aspect)\(separator)\($1)" }
            .sorted()
    }

    private mutating func describedSchema() throws(LedgerError) -> [SchemaAspect: String] {
        var described: [SchemaAspect: String] = [:]
        try read([
            Statement.begin(), Statement.describePlainly(), Statement.describeSchema(),
            Statement.commit(),
        ]) { index, rows in
            guard index == 2 else { return }
            for row in 0..<rows.count {
                let aspect = SchemaAspect(object: rows.text(row, 0), aspect: rows.text(row, 1))
                described[aspect] = rows.text(row, 2)
            }
        }
        return described
    }

    private static let expectedSchema: [SchemaAspect: String] = {
        let lines = schemaList.split(separator: "\n").map {
            $0.split(separator: separator, maxSplits: 2).map(String.init)
        }
        return Dictionary(
            uniqueKeysWithValues: lines.map {
                (SchemaAspect(object: $0[0], aspect: $0[1]), $0[2])
            })
    }()
}

private let separator = " | "

extension SchemaDifference {
    fileprivate init(_ aspect: SchemaAspect, expected: String?, found: String?) {
        self.init(object: aspect.object, aspect: aspect.aspect, expected: expected, found: found)
    }
}

// Rights to the database.
extension Schema {
    /// Returns every difference from the expected schema and rights.
    package mutating func differences() throws(LedgerError) -> [SchemaDifference] {
        try link.settled { connection throws(LedgerError) in try connection.schemaDifferences() }
    }

    /// Revokes from PUBLIC the rights that only the service needs. Other logins keep their rights;
    /// `differences` reports them.
    package mutating func narrow() throws(LedgerError) {
        try link.settled { connection throws(LedgerError) in
            try connection.beginAlone()
            try connection.execute([Statement.narrowTemporary(), Statement.commit()])
        }
    }

    /// Lets only the service's login connect, along with logins that have rights in the database.
    /// With `nil`, the service uses the owner's login. Processes take turns, as in a migration,
    /// because PostgreSQL refuses the second of two concurrent changes to a database's rights.
    package mutating func close(to login: String?) throws(LedgerError) {
        try link.settled { connection throws(LedgerError) in
            try connection.beginAlone()
            try connection.execute([
                Statement.nameServiceLogin(.text(login ?? "")), Statement.closeDatabase(),
                Statement.commit(),
            ])
        }
    }

    /// Returns the role that lacks the right to see standbys; `nil` if no standby is required or the role has the
    /// right.
    package mutating func blindToStandbys() throws(LedgerError) -> String? {
        try link.list(Statement.seeStandbys()) { rows, row in rows.text(row, 0) }.first
    }
}

extension Auditor {
    /// Returns changes to the schema or its rights that no migration made.
    package func schemaDifferences() throws(LedgerError) -> [SchemaDifference] {
        try link.settled { connection throws(LedgerError) in try connection.schemaDifferences() }
    }
}
