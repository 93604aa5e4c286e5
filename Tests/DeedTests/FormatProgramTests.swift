import Core
import Foundation
import Glibc
import JSON
import Outbound
import Postgres
import TestSupport
import Testing
import Threading

extension ProgramTests {
    /// Tests a newer program's database, whose format number and events are one ahead, and an older
    /// program, whose format number is one behind.
    @Suite("Programs and the log's format", .timeLimit(.minutes(20)))
    struct Formats {
        private let database: ScratchDatabase
        private let deed: Installation

        init() throws {
            database = try ScratchDatabase(migrated: false)
            deed = try Installation(database)
        }

        private static let newer = LogFormat.own.number + 1

        private func set(_ number: Int) throws {
            try database.run(
                """
                alter table deed.format disable trigger all;
                update deed.format set number = \(number), program = '9.9.9';
                alter table deed.format enable trigger all
                """)
        }

        /// Replaces a customer's events with events from a newer release.
        private func renew(_ customer: String) throws {
            try database.run(
                """
                alter table deed.events disable trigger all;
                update deed.events set type = 'grant.lent', format = \(Self.newer)
                where customer = '\(customer)';
                alter table deed.events enable trigger all
                """)
        }

        private func grant(_ customer: String) throws {
            let given = try deed.run(
                "grant", "--customer", customer, "--entitlement", "pro", "--reason", "r",
                "--allow-unknown")
            #expect(given.code == 0, "\(given.errors)")
        }

        private var findings: [String] {
            get throws { try deed.run("doctor", "--json").findings.map(\.code) }
        }

        private var eventCount: Int64 {
            get throws { try database.number("select count(*) from deed.events") }
        }

        @Test("Under a newer format a running program writes nothing, and says which is wanted")
        func outdated() throws {
            let (service, key) = try deed.begin()
            for customer in ["known", "late"] { try grant(customer) }
            var client = try APIClient(key: key)
            func read(_ customer: String) throws -> (status: Int, text: String) {
                try client.send("GET", "\(service.url)/v1/customers/\(customer)/entitlements")
            }
            func give(_ customer: String) throws -> (status: Int, text: String) {
                try client.send(
                    "POST", "\(service.url)/v1/customers/\(customer)/grants",
                    body: #"{"entitlement":"pro","reason":"r","allow_unknown":true}"#)
            }
            #expect(try read("known").status == 200)
            #expect(try give("other").status == 201)
            try set(Self.newer)
            try renew("late")
            let before = try eventCount
            let raisedAt = monotonicMilliseconds()
            let refused = try give("known")
            #expect(refused.status == 503, "\(refused.text)")
            #expect(try JSON.read(refused.text)["code"] == "program_outdated")
            #expect(try JSON.read(refused.text)["retryable"] == true)
            var reasons = ""
            while !reasons.contains("deed 9.9.9"), monotonicMilliseconds() - raisedAt < 10_000 {
                let ready = try client.get("\(service.url)/readyz")
                reasons = String(decoding: ready.body, as: UTF8.self)
                pause(milliseconds: 10)
            }
            let took = monotonicMilliseconds() - raisedAt
            #expect(took < 1000, "it took \(took) ms: \(reasons)")
            #expect(try client.get("\(service.url)/readyz?for=reads").status == 503)
            // The service still answers what it can read, and refuses the rest instead of guessing.
            #expect(try read("known").status == 200)
            let unread = try read("late")
            #expect(unread.status == 500, "\(unread.text)")
            #expect(unread.text.contains("A newer release of Deed wrote"), "\(unread.text)")
            for customer in ["known", "late", "new"] {
                #expect(try give(customer).status == 503)
            }
            #expect(try eventCount == before)
            try expectCommands(named: "program_outdated")
            #expect(try eventCount == before)
            #expect(service.process.wait(milliseconds: 0) == nil)
        }

        /// Expects every command to fail and to give the reason.
        private func expectCommands(named code: String) throws {
            for command in [
                ["serve", "--listen", "127.0.0.1:0"],
                ["grant", "--customer", "u", "--entitlement", "pro", "--reason", "r"],
                ["status", "--json"],
            ] {
                let done = try deed.run(command)
                #expect(done.code != 0)
                #expect(done.errors.contains("deed 9.9.9"), "\(command): \(done.errors)")
            }
            #expect(try findings.contains(code))
            #expect(
                try deed.run("status", "--json").json["format"]?["number"]?.integer
                    == Int64(Self.newer))
        }

        @Test("The step is named until it is taken, and running programs need no restart for it")
        func step() throws {
            let (service, key) = try deed.begin()
            try grant("u1")
            try set(1)
            #expect(try deed.run("status").output.contains("1 of \(LogFormat.own.number)"))
            let status = try deed.run("status", "--json")
            #expect(status.code == 1)
            #expect(try status.json["format"]?["pending"] == true)
            #expect(try findings.contains("format_pending"))
            let dry = try deed.run("migrate", "--dry-run")
            #expect(dry.code == 0 && dry.output.contains("deed migrate --format"), "\(dry.output)")
            #expect(try deed.run("migrate").code == 0)
            #expect(try database.number("select number from deed.format") == 1)
            try grant("u2")
            // Acts as if an older program were still running.
            try database.run(
                """
                insert into deed.instances (instance, started_at, seen_at, says)
                values ('i_old', 0, (extract(epoch from clock_timestamp()) * 1000)::bigint,
                    '{"version":"0.1.0","host":"h","listen":"l"}')
                """)
            let held = try deed.run("migrate", "--format")
            #expect(held.code == 1 && held.errors.contains("0.1.0 on h"), "\(held.errors)")
            #expect(try database.number("select number from deed.format") == 1)
            try database.run("delete from deed.instances where instance = 'i_old'")
            let raised = try deed.run("migrate", "--format")
            #expect(raised.code == 0, "\(raised.errors)")
            #expect(raised.output.contains("from 1 to \(LogFormat.own.number)"))
            let again = try deed.run("migrate", "--format", "--json")
            #expect(again.code == 0)
            #expect(try again.json["format"]?["raised"] == false)
            #expect(
                try database.number("select number from deed.format")
                    == Int64(LogFormat.own.number))
            #expect(try !findings.contains("format_pending"))
            var client = try APIClient(key: key)
            #expect(try client.get("\(service.url)/readyz").status == 200)
            try grant("u3")
        }

        @Test("Only a service on a private database raises the format by itself")
        func privately() throws {
            let own = try Installation()
            let (service, _) = try own.begin()
            func number() throws -> Int64 {
                try queriedNumber("select number::bigint from deed.format", at: own.databaseURL)
            }
            #expect(try number() == Int64(LogFormat.own.number))
            let lowering = """
                alter table deed.format disable trigger all; update deed.format set number = 1;
                alter table deed.format enable trigger all
                """
            var connection = try Connection.open(
                ConnectionSettings(url: own.databaseURL, role: nil))
            try connection.run(Script(embedded: Array(lowering.utf8)))
            _ = consume connection
            // A command that runs meanwhile does not write to the format's row.
            #expect(try own.run("project", "list").code == 0)
            #expect(try number() == 1)
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 30_000) == 0)
            let next = try own.serve()
            #expect(next.log.contains(#""event":"format_raised""#), "\(next.log)")
            #expect(try number() == Int64(LogFormat.own.number))
        }
    }
}
