import Foundation
import Postgres

/// A database login with a unique name. It ends with the test, as do all of its grants.
package final class TestLogin: Sendable {
    package let name = "deed_login_\(UInt64.random(in: 0...UInt64.max))"
    private let url: String

    /// Creates the login on that server, as a login that may create others.
    package init(_ attributes: String = "", at url: String? = nil) throws {
        self.url = try url ?? ScratchDatabase(migrated: false).serverURL
        try run("create role \(name) login \(attributes)")
    }

    /// An analyst of the database, with the grants from `docs/sql.md`.
    package convenience init(analystOf database: ScratchDatabase) throws {
        try self.init(at: database.url)
        try run(grants(on: database.name))
    }

    deinit {
        try? run("drop owned by \(name)")
        try? run("drop role \(name)")
    }

    /// Returns the grants for an analyst from `docs/sql.md`, with this login's name.
    package func grants(on database: String) throws -> String {
        let page = try String(contentsOf: TestLogin.page, encoding: .utf8)
        let block =
            page.components(separatedBy: "```sql\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
            .first { $0.contains("grant usage on schema deed") } ?? ""
        return block.replacing(#/create role.*/#, with: "")
            .replacing("database deed", with: "database \(database)")
            .replacing("to analyst", with: "to \(name)")
    }

    package func url(of database: ScratchDatabase) -> String { url(of: database.url) }

    package func url(of other: String) -> String {
        other.replacing(#/user=[a-z_0-9]+/#, with: "user=\(name)")
    }

    /// Runs SQL as the login's creator.
    package func run(_ text: String) throws { try runScript(text, at: url) }

    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/sql.md")
}

/// Runs SQL in a session of the login in the URL.
package func runScript(_ text: String, at url: String) throws {
    var connection = try Connection.open(ConnectionSettings(url: url, role: nil))
    try connection.run(Script(embedded: Array(text.utf8)))
}
