import Foundation
import Testing

@Suite("Statements")
struct StatementTests {
    /// The files of statements by their names.
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

    @Test("Each file is declared, under its own name, and something uses it")
    func used() throws {
        let list = try #require(SourceTree.sources.first { $0.path == "sql/SQL.swift" }).text
        let declared = list.matches(of: /let (\w+) = Statement\(\s*embedded: File\.(\w+)_sql\)/)
        #expect(Set(declared.map { String($0.2) }) == Set(Self.files.keys))
        let users = SourceTree.sources.filter { $0.target != "SQL" }.map(\.text).joined()
        let used = Set(users.matches(of: /\.(\w+)\b/).map { String($0.1) })
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
}
