import Foundation
import JSON
import Ledger
import Postgres
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("deed reconcile")
    final class ReconcileTests {
        private let database: ScratchDatabase
        private let deed: Installation

        init() throws {
            database = try ScratchDatabase()
            deed = try Installation(database)
            #expect(try deed.run("project", "create", "default").code == 0)
        }

        private func reconcile(_ arguments: String...) throws -> (code: Int32, json: JSON) {
            let finished = try deed.run(["reconcile", "--json"] + arguments)
            return (finished.code, finished.code == 2 ? .null : try finished.json)
        }

        private func giveOneSecond(to customer: String) throws {
            let given = try deed.run(
                "grant", "--customer", customer, "--entitlement", "pro", "--for", "PT1S",
                "--reason", "test")
            #expect(given.code == 0, "\(given.errors)")
        }

        private func counts(_ json: JSON, _ step: String) -> [Int64?] {
            ["looked_at", "found", "mended"].map { json["steps"]?[step]?[$0]?.integer }
        }

        @Test("A run publishes what is due, and the next only records itself")
        func twice() throws {
            #expect(try reconcile().code == 0)
            try giveOneSecond(to: "u1")
            pause(milliseconds: 1100)
            let first = try reconcile()
            #expect(first.code == 0)
            #expect(counts(first.json, "boundaries") == [1, 1, 1])
            #expect(first.json["drift"] == 0)
            let count = try database.number("select count(*) from deed.events")
            let second = try reconcile()
            #expect(counts(second.json, "boundaries") == [0, 0, 0])
            #expect(try database.number("select count(*) from deed.events") == count + 2)
            let list = try deed.run("reconcile", "list", "--json").json["reconciliations"]?.array
            #expect(list?.count == 3)
            let id = try #require(list?.first?["reconciliation"]?.string)
            #expect(second.json["reconciliation"]?.string == id)
            let shown = try deed.run("reconcile", "show", id, "--json").json
            #expect(shown["steps"] == second.json["steps"])
            #expect(try deed.run("audit", "--projections").code == 0)
        }

        @Test("Shards published side by side give the same result as one by one")
        func parallel() throws {
            #expect(try reconcile().code == 0)
            for number in 0..<40 { try giveOneSecond(to: "u\(number)") }
            pause(milliseconds: 1100)
            let first = try reconcile("--only", "boundaries", "--parallel", "16")
            #expect(first.code == 0)
            #expect(counts(first.json, "boundaries") == [40, 40, 40])
            let ended = "select count(*) from deed.events where type = 'access.ended'"
            #expect(try database.number(ended) == 40)
            #expect(counts(try reconcile().json, "boundaries") == [0, 0, 0])
            #expect(try deed.run("audit", "--projections").code == 0)
        }

        @Test("A rehearsal changes nothing, and prints the counts of the run that follows")
        func rehearsal() throws {
            #expect(try reconcile().code == 0)
            for number in 0..<3 { try giveOneSecond(to: "u\(number)") }
            pause(milliseconds: 1100)
            let count = try database.number("select count(*) from deed.events")
            let rehearsed = try reconcile("--dry-run")
            #expect(rehearsed.code == 0)
            #expect(rehearsed.json["reconciliation"]?.isNull == true)
            #expect(try database.number("select count(*) from deed.events") == count)
            let real = try reconcile()
            #expect(counts(rehearsed.json, "boundaries") == [3, 3, 0])
            #expect(counts(real.json, "boundaries") == [3, 3, 3])
        }

        @Test("A row that differs from the log is drift until it is repaired")
        func drift() throws {
            try giveOneSecond(to: "u1")
            try database.run("update deed.customers set runs = '{}'")
            let found = try reconcile("--only", "projections", "--full")
            #expect(found.code == 1)
            #expect(counts(found.json, "projections") == [1, 1, 0])
            #expect(found.json["drift"] == 1)
            let mended = try reconcile("--only", "projections", "--full", "--repair")
            #expect(mended.code == 1)
            #expect(counts(mended.json, "projections") == [1, 1, 1])
            let sound = try reconcile("--only", "projections", "--full")
            #expect(sound.code == 0)
            #expect(try deed.run("audit", "--projections").code == 0)
        }

        @Test("The chain is walked from its last proof")
        func chain() throws {
            try giveOneSecond(to: "u1")
            let first = try reconcile("--only", "chain")
            #expect(first.code == 0)
            let walked = counts(first.json, "chain")[0] ?? 0
            #expect(walked >= 2)
            // The second run also verifies the events of the first one.
            let second = try reconcile("--only", "chain")
            #expect((counts(second.json, "chain")[0] ?? 9) <= 3)
        }

        @Test(
            "Every project is reconciled in its own run, and an unsound one stops no other"
        )
        func everyProject() throws {
            for project in ["a", "z"] {
                #expect(try deed.run("project", "create", project).code == 0)
            }
            let first = try deed.run("reconcile", "--every-project", "--only", "boundaries")
            #expect(first.code == 0 && first.output.contains("of z."))
            for project in ["a", "default", "z"] {
                let given = try deed.run(
                    "grant", "--project", project, "--customer", "u1", "--entitlement", "pro",
                    "--for",
                    "PT1S", "--reason", "test")
                #expect(given.code == 0, "\(given.errors)")
            }
            let lasting = try deed.run(
                "grant", "--project", "a", "--customer", "u2", "--entitlement", "pro", "--for",
                "P9D",
                "--reason", "test")
            #expect(lasting.code == 0, "\(lasting.errors)")
            pause(milliseconds: 1100)
            try database.run("update deed.customers set runs = '{}' where customer = 'u2'")
            let finished = try deed.run("reconcile", "--json", "--full", "--every-project")
            #expect(finished.code == 1)
            #expect(
                finished.errors.contains("drift_found") && finished.errors.contains("Not sound: a.")
            )
            let reports = try finished.output.split(separator: "\n").map {
                try JSON.read(String($0))
            }
            #expect(reports.map { $0["project"]?.string } == ["a", "default", "z"])
            #expect(reports.map { $0["drift"]?.integer } == [1, 0, 0])
            #expect(reports.allSatisfy { counts($0, "boundaries") == [1, 1, 1] })
            #expect(try deed.run("reconcile", "--every-project", "--project", "a").code == 2)
        }

        @Test("A run that may wait begins when the other one has ended")
        func waiting() throws {
            let ledger = database.ledger(clock: machineInstant)
            defer { ledger.close() }
            let other = try #require(try ledger.reconcileRight())
            let (waiting, output, errors) = try deed.start(
                ["reconcile", "--json", "--only", "intake", "--wait", "60"], [:])
            pause(milliseconds: 2000)
            try other.end()
            _ = waiting.wait(milliseconds: 30_000)
            let told = try String(contentsOfFile: errors, encoding: .utf8)
            #expect(told.isEmpty, "\(told)")
            let report = try String(contentsOfFile: output, encoding: .utf8)
            #expect(report.contains("\"drift\":0"))
        }

        @Test("One reconciliation runs at a time")
        func oneAtATime() throws {
            let ledger = database.ledger(clock: machineInstant)
            defer { ledger.close() }
            let other = try #require(try ledger.reconcileRight())
            let refused = try deed.run("reconcile", "--json")
            #expect(refused.code == 1)
            #expect(refused.errors.contains("reconciliation_running"))
            #expect(other.isHeld)
            try other.end()
            #expect(try deed.run("reconcile", "--json").code == 0)
        }

        @Test("An instant ahead of the clock, and an unknown step, are refused")
        func refused() throws {
            let ahead = try deed.run("reconcile", "--now", "2999-01-01T00:00:00Z", "--json")
            #expect(ahead.code == 1)
            #expect(ahead.errors.contains("instant_ahead"))
            #expect(try deed.run("reconcile", "--only", "everything").code == 2)
            for flag in ["--full", "--repair"] {
                let idle = try deed.run("reconcile", "--only", "boundaries,chain", flag)
                #expect(idle.code == 2)
                #expect(
                    idle.errors.contains("\(flag) has no effect with --only boundaries,chain"),
                    "\(idle.errors)")
            }
            for count in ["0", "17", "two"] {
                #expect(try deed.run("reconcile", "--parallel", count).code == 2)
            }
        }
    }
}
