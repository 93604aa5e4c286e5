import Foundation
import Testing

@Suite("Statements")
struct StatementTests {
    /// The files with statements, by name.
    private static let files: [String: String] = {
        let paths = ["sql/queries", "sql/tables"].flatMap { folder in
            let files = try? FileManager.default.contentsOfDirectory(
                at: SourceTree.root.appending(path: folder), includingPropertiesForKeys: nil)
            return files ?? []
        }
        return Dictionary(
            uniqueKeysWithValues: paths.map {
                (
                    $0.deletingPathExtension().lastPathComponent,
                    (try? String(contentsOf: $0, encoding: .utf8)) ?? ""
                )
            })
    }()

    @Test("Each file is declared under its own name, and something uses it")
    func used() throws {
        let list = try #require(SourceTree.sources.first { $0.path == "sql/SQL.swift" }).text
        let declared = list.matches(of: /let (\w+) = Statement\(\s*embedded: File\.(\w+)_sql\)/)
        #expect(Set(declared.map { String($0.2) }) == Set(Self.files.keys))
        let users = SourceTree.sources.filter { $0.target != "SQL" }.map(\.text).joined()
        let used = Set(users.matches(of: /\.(\w+)/).map { String($0.1) })
        for statement in declared {
            let words = statement.2.split(separator: "_")
            let name = words[0] + words.dropFirst().map(\.capitalized).joined()
            #expect(statement.1 == name, "\(statement.2) is declared as \(statement.1)")
            #expect(used.contains(String(statement.1)), "nothing uses \(statement.1)")
        }
    }

    @Test("No statement names the schema: it is a parameter", arguments: files.keys.sorted())
    func schema(_ name: String) throws {
        let text = try #require(Self.files[name])
        #expect(!text.contains(/\bdeed\.|'deed'/), "\(name) names a schema; write {schema}")
    }

    /// The log, and the tables derived from it according to their `Table`.
    private static let following: Set<Substring> = {
        let tables = SourceTree.sources.filter { $0.path.hasPrefix("Sources/Ledger/Tables/") }
        let names = tables.flatMap { $0.text.matches(of: /= Table\(\s*"(\w+)"/).map(\.1) }
        return Set(names).union(["events", "catalogs", "shards", "{table}"])
    }()
    /// Statements that bypass the committers. `deed audit --quarantine` moves events that are not
    /// part of the log. A function empties an erased customer's payloads. It works only before a
    /// recorded erasure and leaves the chain unchanged.
    private static let past: Set<String> = ["quarantineEvents", "emptyErased"]

    /// Functions of the schema that write the log or a table derived from it.
    private static let writingFunctions: Set<Substring> = {
        let folder = SourceTree.root.appending(path: "sql/migrations")
        let files = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        let texts = (files ?? []).map { (try? String(contentsOf: $0, encoding: .utf8)) ?? "" }
        let function = /create (?:or replace )?function deed\.(\w+)\([\s\S]*?\$\$([\s\S]*?)\$\$/
        let functions = texts.flatMap { $0.matches(of: function) }
        let writing = functions.filter { function in
            let written = function.2.matches(
                of: /(?:insert into|update|delete from) deed\.(\w+)/)
            return !following.isDisjoint(with: written.map(\.1))
        }
        return Set(writing.map(\.1))
    }()

    @Test("Only a committer sends statements that write the log or a table derived from it")
    func oneWayIn() throws {
        var writers = Set<String>()
        for (name, text) in Self.files {
            let tables = text.matches(
                of: /(?:insert into|update|delete from) \{schema\}\.(\{table\}|\w+)/)
            let calls = text.matches(of: /\{schema\}\.(\w+)\(/).map(\.1)
            let isCall = !Self.writingFunctions.isDisjoint(with: calls)
            if !isCall, Self.following.isDisjoint(with: tables.map(\.1)) { continue }
            let words = name.split(separator: "_")
            writers.insert(words[0] + words.dropFirst().map(\.capitalized).joined())
        }
        #expect(Self.following.isSuperset(of: ["customers", "customer_grants", "waiting_credits"]))
        #expect(
            writers.isSuperset(
                of: Self.past.union([
                    "insertEvents", "advanceShards", "markProjected", "claimTokens",
                ])))
        writers.subtract(Self.past)
        for file in SourceTree.sources where file.target != "SQL" {
            let code = codeOnly(file.text)
            let used = Set(code.matches(of: /\.(\w+)\b/).map { String($0.1) })
            let isWriting =
                code.contains("import SQL") && !used.isDisjoint(with: writers)
                || code.contains(/[tT]able(\.\w+)?\.(write|rewrite|remove|clear|rewriting)\(/)
            if !isWriting { continue }
            #expect(
                !code.contains(/\b(connection|pool)\b|\btry (list|rows|send)\(/),
                "\(file) sends what writes past the committers")
        }
        // Only the files with statements contain SQL that writes these tables. The benchmark fills its own database.
        for file in SourceTree.sources where !["SQL", "Bench"].contains(file.target) {
            let written = file.text.matches(
                of: /(?:insert into|update|delete from|copy) (?:deed|\{schema\})\.(\w+)/)
            #expect(Self.following.isDisjoint(with: written.map(\.1)), "\(file) writes by itself")
        }
        // Only one place sends the statements.
        let senders = SourceTree.sources.filter { codeOnly($0.text).contains("batch.writes(") }
        #expect(senders.map(\.path) == ["Sources/Ledger/Writing/Committer.swift"])
    }
}
