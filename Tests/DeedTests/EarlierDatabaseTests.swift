import Foundation
import JSON
import Ledger
import TestSupport
import Testing

extension ProgramTests {
    /// A database that the release before the proof of evidence made and wrote to: customers with purchases
    /// that came with an Idempotency-Key and without, notifications, grants, an order, coins, keys.
    @Suite("A database of before events named their evidence")
    final class EarlierDatabaseTests {
        private let database: ScratchDatabase
        private let deed: Installation
        private let roots: ScratchFolder

        init() throws {
            let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "Fixtures")
            // Makes the service's role, to which the dump grants its rights.
            _ = try ScratchDatabase()
            database = try ScratchDatabase(migrated: false)
            let dump = try String(
                contentsOf: fixtures.appending(path: "before-0004.sql"), encoding: .utf8)
            try database.run(dump)
            roots = try ScratchFolder()
            try FileManager.default.copyItem(
                at: fixtures.appending(path: "before-0004-root.pem"),
                to: URL(filePath: roots.file("root.pem")))
            deed = try Installation(database)
            let migrated = try deed.run("migrate")
            #expect(migrated.output.contains("applied 0004_proof"), "\(migrated.errors)")
        }

        private func audit() throws -> (code: Int32, json: JSON) {
            let audit = try deed.run(
                "audit", "--evidence", "--projections", "--extra-roots", roots.file(""), "--json")
            return (audit.code, try audit.json)
        }

        @Test("It opens, its audit is clean, and it goes on")
        func opens() throws {
            let before = try audit()
            #expect(before.code == 0, "\(before.json.text)")
            #expect(before.json["events"] == 19)
            #expect(before.json["evidence"]?["proven"] == 6)
            let given = try deed.run(
                "grant", "--customer", "anna", "--entitlement", "pro", "--reason", "r", "--json")
            #expect(given.code == 0, "\(given.errors)")
            let shown = try deed.run("customer", "show", "anna", "--json")
            #expect(try shown.json["entitlements"]?["pro"]?["active"]?.bool == true)
            #expect(try audit().code == 0)
        }

        @Test("Evidence that is missing for a purchase of before is found by what it stated")
        func missing() throws {
            try database.run(
                """
                delete from deed.evidence
                where kind = 'signed_transaction' and digest not in (
                    select decode(substr(cause, 10, 64), 'hex') from deed.events
                    where cause like 'evidence:%')
                """)
            let (code, json) = try audit()
            #expect(code == 1)
            let columns = json["evidence"]?["findings"]?.array?.map { $0["column"]?.string }
            #expect(columns == ["payload", "payload", "payload"], "\(json.text)")
        }
    }
}
