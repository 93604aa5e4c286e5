import Core
package import Postgres
import SQL

/// Something of the schema, or of who may do what in it, that is not as this release makes it.
package struct SchemaDifference: Hashable, Sendable, CustomStringConvertible {
    /// As in `deed.events`, `deed.shards.head`, `deed.now()`, `schema deed`, `role deed_service`, `database`.
    package let object: String
    /// As in `columns`, `trigger events_only_grow`, `function`, `query`, `owner`, `rights of PUBLIC`.
    package let aspect: String
    /// `nil` where there should be nothing.
    package let expected: String?
    /// `nil` where there is nothing.
    package let found: String?

    /// Whether it lies outside the schema: an administrator's to change, and no change of what Deed made.
    package var isOutside: Bool { ["database", "role deed_service"].contains(object) }

    package var description: String {
        "\(object), \(aspect): should be \(expected ?? "nothing") and is \(found ?? "nothing")."
            + (remedy.map { " To mend it: \($0)" } ?? "")
    }

    /// What ends it, where one statement or command does.
    private var remedy: String? {
        if object == "database" { return "deed migrate --service-login LOGIN" }
        if aspect == "member of", let found { return "revoke \(found) from deed_service" }
        guard let role = aspect.dropping("rights of ") else { return nil }
        let (should, may) = (rights(of: expected), rights(of: found))
        let statements = [
            may.subtracting(should).isEmpty
                ? nil : "revoke \(listed(may.subtracting(should))) from \(role)",
            should.subtracting(may).isEmpty
                ? nil : "grant \(listed(should.subtracting(may))) to \(role)",
        ]
        return statements.compactMap(\.self).joined(separator: "; ")
    }

    private func rights(of text: String?) -> Set<String> {
        Set((text ?? "").split(separator: ", ").map(String.init))
    }

    /// The rights and what they are about, as statements have them.
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

/// One aspect of one object.
private struct SchemaAspect: Hashable {
    let object: String
    let aspect: String
}

extension Connection {
    /// What is not as the migrations of this release make it: tables, views, functions, triggers, constraints, their
    /// owners, and what the service, PUBLIC, and others beyond reading may do with them; and which migrations
    /// the database says that it took.
    package mutating func schemaDifferences() throws(LedgerError) -> [SchemaDifference] {
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

    /// Rows of `deed.migrations` that are missing, too much, or of a script that is not ours.
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

    /// The same as a list, each aspect a line: what `sql/schema.txt` holds.
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

// Who reaches the database.
extension Schema {
    /// What is not as it should be.
    package mutating func differences() throws(LedgerError) -> [SchemaDifference] {
        try link.settled { connection throws(LedgerError) in try connection.schemaDifferences() }
    }

    /// Takes from PUBLIC what only the service needs. What takes another login's rights is left as it is,
    /// and found by `differences`.
    package mutating func narrow() throws(LedgerError) {
        try link.settled { connection throws(LedgerError) in
            try connection.execute([
                Statement.begin(), Statement.migrationLock(), Statement.narrowTemporary(),
                Statement.commit(),
            ])
        }
    }

    /// Lets only the service's login connect, and logins that were given something in the database; `nil`
    /// where the owner serves. Processes that do so at the same time take turns, as when they migrate: PostgreSQL
    /// refuses the second of two that change one database's rights.
    package mutating func close(to login: String?) throws(LedgerError) {
        try link.settled { connection throws(LedgerError) in
            try connection.execute([
                Statement.begin(), Statement.migrationLock(),
                Statement.nameServiceLogin(.text(login ?? "")), Statement.closeDatabase(),
                Statement.commit(),
            ])
        }
    }

    /// Which role has to be given the right to see standbys; `nil` where none is waited for or it has that.
    package mutating func blindToStandbys() throws(LedgerError) -> String? {
        try link.settled { connection throws(LedgerError) in
            var owner: String?
            try connection.read([Statement.seeStandbys()]) { _, rows in
                if rows.count > 0 { owner = rows.text(0, 0) }
            }
            return owner
        }
    }
}

extension Auditor {
    /// What something other than a migration changed of the schema, or of who may do what in it.
    package func schemaDifferences() throws(LedgerError) -> [SchemaDifference] {
        try link.settled { connection throws(LedgerError) in try connection.schemaDifferences() }
    }
}
