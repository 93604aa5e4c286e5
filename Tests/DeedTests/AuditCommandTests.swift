import Core
import Foundation
import JSON
import Ledger
import TestSupport
import Testing

extension ProgramTests {
    @Suite("deed audit and deed checkpoint")
    final class AuditCommandTests {
        private let database: ScratchDatabase
        private let deed: Installation
        private let folder: ScratchFolder

        init() throws {
            database = try ScratchDatabase()
            deed = try Installation(database)
            folder = try ScratchFolder()
            let ledger = database.ledger()
            defer { ledger.close() }
            for customer in ["u1", "u2", "u3"] {
                _ = try ledger.append(.give("pro", to: .test(customer), grant: "g1"))
            }
        }

        private var key: [String] { ["--secret-key-file", folder.file("secret.key")] }

        private func audit(_ arguments: String...) throws -> (code: Int32, json: JSON) {
            let audit = try deed.run(["audit", "--json"] + arguments + key)
            return (audit.code, try audit.json)
        }

        /// Removes a customer's last event and every other trace of it in the database.
        private func cutWithCare(_ customer: String) throws {
            try database.run(
                """
                alter table deed.events disable trigger all;
                alter table deed.shards disable trigger all;
                delete from deed.events where customer = '\(customer)';
                delete from deed.customers where customer = '\(customer)';
                update deed.shards as s set
                    head = coalesce((select max(seq) from deed.events as e where e.shard = s.shard), 0),
                    chain = coalesce((
                        select chain from deed.events as e where e.shard = s.shard order by seq desc limit 1
                    ), decode(repeat('00', 32), 'hex')),
                    recorded_at = coalesce((
                        select recorded_at from deed.events as e where e.shard = s.shard
                        order by seq desc limit 1
                    ), 0);
                alter table deed.events enable always trigger events_only_grow;
                alter table deed.events enable always trigger events_are_not_emptied;
                alter table deed.shards enable trigger all;
                """)
        }

        @Test(
            "A checkpoint shows a careful cut; its key is made on first use, for its owner only"
        )
        func checkpoint() throws {
            let file = folder.file("checkpoint")
            let made = try deed.run(["checkpoint", "--out", file] + key)
            #expect(made.code == 0, "\(made.errors)")
            let attributes = try FileManager.default.attributesOfItem(
                atPath: folder.file("secret.key"))
            #expect((attributes[.posixPermissions] as? NSNumber)?.int16Value == 0o600)
            #expect(try audit("--against", file).code == 0)
            try cutWithCare("u2")
            #expect(try audit().code == 0)
            let (code, json) = try audit("--against", file)
            #expect(code == 1)
            #expect(json["findings"]?.array?.first?["column"]?.string == "head")
        }

        @Test("A changed checkpoint, or one signed with another key, is refused by name")
        func forgedCheckpoint() throws {
            let file = folder.file("checkpoint")
            _ = try deed.run(["checkpoint", "--out", file] + key)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let forged = folder.file("forged")
            _ = try deed.run("checkpoint", "--secret-key-file", folder.file("other.key"))
            try text.replacingOccurrences(of: "\"head\":1", with: "\"head\":0")
                .write(toFile: forged, atomically: true, encoding: .utf8)
            for (file, key) in [(forged, "secret.key"), (file, "other.key")] {
                let audit = try deed.run(
                    "audit", "--against", file, "--secret-key-file", folder.file(key))
                #expect(audit.code == 1)
                #expect(audit.errors.contains("not signed with this installation's key"))
            }
            let nothing = try deed.run(["audit", "--against", folder.file("nothing")] + key)
            #expect(nothing.code == 2 && nothing.errors.contains("cannot be read"))
        }

        @Test("Verifying makes no key: a checkpoint whose key is gone says so")
        func keyGone() throws {
            let file = folder.file("checkpoint")
            _ = try deed.run(["checkpoint", "--out", file] + key)
            try FileManager.default.removeItem(atPath: folder.file("secret.key"))
            let audit = try deed.run(["audit", "--against", file] + key)
            #expect(audit.code == 3 && audit.errors.contains("restore the file"))
            #expect(!FileManager.default.fileExists(atPath: folder.file("secret.key")))
        }

        @Test("A checkpoint of a log with a wrong end is refused")
        func uncheckable() throws {
            try database.run(
                """
                alter table deed.shards disable trigger all;
                update deed.shards set head = head + 1 where head > 0
                """)
            #expect(try deed.run(["checkpoint"] + key).errors.contains("run: deed audit"))
        }

        @Test("A key that others may read is refused, and so is a damaged one")
        func keyFile() throws {
            _ = try deed.run(["checkpoint"] + key)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: folder.file("secret.key"))
            let open = try deed.run(["checkpoint"] + key)
            #expect(open.code == 3 && open.errors.contains("chmod 600"))
            try "abc".write(toFile: folder.file("secret.key"), atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: folder.file("secret.key"))
            let damaged = try deed.run(["checkpoint"] + key)
            #expect(damaged.code == 3 && damaged.errors.contains("64 hexadecimal digits"))
        }

        @Test(
            "From its mark on, an audit reads only new events, and stores no mark of a changed log"
        )
        func sinceMark() throws {
            let mark = ["--since-mark", "--data-dir", folder.path]
            func audit() throws -> (code: Int32, json: JSON) {
                let audit = try deed.run(["audit", "--json"] + mark + key)
                return (audit.code, try audit.json)
            }
            #expect(try audit().json["events"] == 3)
            #expect(try audit().json["events"] == 0)
            let ledger = database.ledger()
            _ = try ledger.append(.give("pro", to: .test("u4"), grant: "g1"))
            ledger.close()
            #expect(try deed.run(["audit"] + mark + key).output.hasSuffix("is proven.\n"))
            try cutWithCare("u4")
            #expect(try audit().code == 1)
            #expect(try audit().code == 1)
        }

        @Test(
            "An event beyond the head is named, moved aside with a record, and no longer blocks"
        )
        func quarantine() throws {
            let shard = try Stream.test("u1").shard.number
            // The service's own login can insert this event, and the shard's head stays where it is.
            try database.run(
                """
                insert into deed.events select shard, seq + 1, project, environment, customer, version + 1,
                    type, payload, digest, chain, occurred_at, recorded_at, actor, cause || 'x', cause_index,
                    cause_digest, catalog_version, evidence, format
                from deed.events where customer = 'u1'
                """, role: LedgerSettings.serviceRole)
            let ledger = database.ledger()
            defer { ledger.close() }
            #expect(try ledger.customer(of: .test("u1")).customer.version == 1)
            #expect(try ledger.events(of: .test("u1"), after: 0, limit: 10).count == 1)
            #expect(try ledger.customers([.test("u1")]).first?.get().customer.version == 1)
            #expect(throws: CommandError.fault(.logBlocked)) {
                try ledger.append(.give("pro", to: .test("u1"), grant: "g2"))
            }
            let (code, json) = try audit()
            #expect(code == 1)
            let finding = json["findings"]?.array?.first
            #expect(finding?["row"]?.string == "\(shard):2" && finding?["column"]?.string == "seq")
            let told = try deed.run(["audit"] + key)
            #expect(told.output.contains("found beyond it grant.given"))
            #expect(told.errors.contains("run deed audit --quarantine"))
            let moved = try audit("--quarantine")
            #expect(moved.code == 0, "\(moved.json.text)")
            #expect(moved.json["quarantined"]?.array?.first?["position"]?.string == "\(shard):2")
            #expect(
                try database.number("select count(*) from deed.quarantined_events where head = 1")
                    == 1)
            _ = try ledger.append(.give("pro", to: .test("u1"), grant: "g2"))
            #expect(try audit().code == 0)
        }

        @Test(
            "A schema change beyond the migrations is named, and the audit ends with 1",
            arguments: [
                (
                    "drop trigger events_only_grow on deed.events", "deed.events",
                    "trigger events_only_grow"
                ),
                (
                    """
                    create or replace function deed.refuse_change_of_log() returns trigger language plpgsql
                    set search_path = pg_catalog, pg_temp as 'begin return new; end'
                    """, "deed.refuse_change_of_log()", "function"
                ),
                (
                    "grant update on deed.events to deed_service", "deed.events",
                    "rights of deed_service"
                ),
                (
                    "grant insert on deed.events to public", "deed.events", "rights of PUBLIC"
                ),
                (
                    "update deed.migrations set digest = sha256('x') where number = 1",
                    "deed.migrations", "migration 1"
                ),
                (
                    "insert into deed.migrations select 0, name, digest, applied_at from deed.migrations limit 1",
                    "deed.migrations", "migration 0"
                ),
            ])
        func schema(_ statement: String, _ object: String, _ aspect: String) throws {
            #expect(try audit().json["schema"]?["findings"]?.array?.filter(\.isInside) == [])
            try database.run(statement)
            let (code, json) = try audit()
            #expect(code == 1)
            let findings = json["schema"]?["findings"]?.array?.filter(\.isInside) ?? []
            #expect(findings.map { $0["object"]?.string } == [object])
            #expect(findings.map { $0["aspect"]?.string } == [aspect])
            #expect(findings.first?["expected"] != findings.first?["found"])
            // The log is intact, and the audit says so.
            #expect(json["finding_count"] == 0 && json["events"] == 3)
            let told = try deed.run(["audit"] + key)
            #expect(told.output.contains("\(object), \(aspect): should be "))
            #expect(told.output.contains("3 events are proven."))
            #expect(told.errors.contains("deed migrate changed it"))
        }

        @Test("After a change of the schema no mark is stored")
        func schemaAndMark() throws {
            try database.run("drop trigger events_only_grow on deed.events")
            let audit = try deed.run(["audit", "--since-mark", "--data-dir", folder.path] + key)
            #expect(audit.code == 1)
            #expect(!FileManager.default.fileExists(atPath: folder.file("audit.mark")))
        }

        @Test("The service's own login may neither move anything aside nor read what was")
        func quarantineAsService() throws {
            for statement in [
                "delete from deed.events where seq > 1", "select from deed.quarantined_events",
            ] {
                #expect(throws: (any Error).self) {
                    try database.run(statement, role: LedgerSettings.serviceRole)
                }
            }
        }

        @Test("Flags that need another one say so")
        func usage() throws {
            #expect(try deed.run("audit", "--sample", "5").errors.contains("--projections"))
            #expect(try deed.run("audit", "--projections", "--sample", "0").code == 2)
        }
    }
}

extension JSON {
    /// Whether the difference concerns the schema itself. The server lets every login connect to a test database.
    fileprivate var isInside: Bool {
        self["object"]?.string.map { !["database", "role deed_service"].contains($0) } ?? false
    }
}
