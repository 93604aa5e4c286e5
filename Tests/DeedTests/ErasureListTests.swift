import Core
import Foundation
import JSON
import Ledger
import TestSupport
import Testing

extension ProgramTests {
    /// Tests erasures that a restore lost, and the list with which they are repeated.
    @Suite("deed customer erase --again", .timeLimit(.minutes(20)))
    final class ErasureLists: ErasingShop {
        private var path: String { folder.path + "/erasures.jsonl" }

        /// Writes the list of all erasures to the file, with a change if one is given.
        private func keepList(_ change: (String) -> String = { $0 }) throws {
            let list = try deed.run("customer", "erased", "--list", "--json").output
            try Data(change(list).utf8).write(to: URL(fileURLWithPath: path))
        }

        /// Repeats the erasures in the list. Returns each customer with its outcome.
        private func `repeat`(
            at installation: Installation, _ more: String...
        ) throws -> (code: Int32, outcomes: [String]) {
            let done = try installation.run(
                ["customer", "erase", "--again", path, "--json"] + more)
            let lines = try done.output.split(separator: "\n").map { try JSON.read(String($0)) }
            let outcomes = lines.map {
                "\($0["customer"]?.string ?? "") \($0["outcome"]?.string ?? "")"
            }
            return (done.code, outcomes)
        }

        private func expect(
            _ outcomes: [String], code: Int32 = 0, at installation: Installation
        ) throws {
            let done = try `repeat`(at: installation, "--yes")
            #expect(done.code == code && done.outcomes == outcomes, "\(done)")
        }

        @Test("After a restore it repeats what the log has lost, once")
        func again() throws {
            try buy("1")
            try buy("2", for: "u2")
            service.close()
            let backup = try ScratchDatabase(copying: database)
            try erase()
            try keepList()
            try expect(["u1 erased already"], at: deed)
            let restored = try Installation(backup)
            #expect(try full(backup) == 1)
            #expect(
                try `repeat`(at: restored).outcomes == [
                    "u1 would be erased: 1 events; rights end: level2"
                ])
            try expect(["u1 erased"], at: restored)
            try expect(["u1 erased already"], at: restored)
            #expect(try full(backup) == 0)
            #expect(
                try backup.number(
                    "select count(*) from deed.events where type = 'customer.erased'") == 1)
            #expect(
                try backup.number(
                    "select count(*) from deed.erased_purchases where customer = 'u1'") == 1)
            #expect(try restored.run("audit", "--projections").code == 0)
        }

        @Test("What was forgotten of a customer whom the restored log never knew stays forgotten")
        func unknownAgain() throws {
            try buy("2", for: "u2")
            let backup = try ScratchDatabase(copying: database)
            try buy("1")
            try erase()
            service.close()
            try keepList()
            let restored = try Installation(backup)
            try expect(["u1 erased"], at: restored)
            try expect(["u1 erased already"], at: restored)
            let marks = "select mark from deed.erased_purchases"
            #expect(try backup.text(marks) == database.text(marks))
            #expect(try restored.run("audit", "--projections").code == 0)
        }

        @Test("A life that began after the erasure is left alone")
        func newLife() throws {
            let backup = try ScratchDatabase(copying: database)
            try grant("level2", to: "u1", by: deed)
            try erase()
            try buy("3", for: "u3")
            try erase("u3")
            service.close()
            try keepList()
            let restored = try Installation(backup)
            try grant("level2", to: "u1", by: restored)
            try grant("level2", to: "u3", by: restored)
            try expect(["u1 nothing to erase", "u3 lives_again"], code: 1, at: restored)
            #expect(try full(backup) == 1)
            #expect(try full(backup, of: "u3") == 1)
        }

        @Test(
            "A forgotten purchase that waits for a customer in the restored log has no holder again"
        )
        func waiting() throws {
            let ledger = database.ledger()
            let fact = try TransactionFact.bought(
                "level2", .nonConsumable, transaction: "9", at: Instant(milliseconds: 0))
            _ = try ledger.append(
                .record([fact], for: .test("$unclaimed/apple:9"), key: "buy"))
            ledger.close()
            let backup = try ScratchDatabase(copying: database)
            let attached = try deed.run(
                "unclaimed", "attach", "apple:9", "--customer", "u1", "--reason", "r")
            #expect(attached.code == 0, "\(attached.errors)")
            try erase()
            service.close()
            try keepList()
            let restored = try Installation(backup)
            #expect(try full(backup, of: "$unclaimed/apple:9") == 1)
            try expect(["u1 erased"], at: restored)
            #expect(try full(backup, of: "$unclaimed/apple:9") == 0)
            let attach = try restored.run(
                "unclaimed", "attach", "apple:9", "--customer", "u2", "--reason", "r", "--json")
            #expect(attach.code == 1, "\(attach.output)")
            try expect(["u1 erased already"], at: restored)
            let audit = try restored.run("audit", "--projections")
            #expect(audit.code == 0, "\(audit.output) \(audit.errors)")
        }

        @Test("Who was merged goes along with the other one, in whatever order the list has them")
        func merged() throws {
            let pairs = (1...4).map { ("a\($0)", "b\($0)") }
            for (index, (part, whole)) in pairs.enumerated() {
                try buy("\(index)1", for: part)
                try buy("\(index)2", for: whole)
                let merged = try deed.run(
                    "customer", "merge", "--from", part, "--into", whole, "--reason", "r")
                #expect(merged.code == 0, "\(merged.errors)")
            }
            let backup = try ScratchDatabase(copying: database)
            for (_, whole) in pairs { try erase(whole) }
            service.close()
            try keepList { list in
                list.split(separator: "\n").reversed().joined(separator: "\n") + "\n"
            }
            let restored = try Installation(backup)
            let done = try `repeat`(at: restored, "--yes")
            #expect(done.code == 0, "\(done)")
            for (part, whole) in pairs {
                #expect(done.outcomes.contains("\(whole) erased"), "\(done)")
                #expect(
                    done.outcomes.contains("\(part) is erased with \(whole)")
                        || done.outcomes.contains("\(part) erased already"), "\(done)")
                #expect(try full(backup, of: part) + full(backup, of: whole) == 0)
            }
        }

        @Test("A list with another project, without marks, or with nothing in it, says so")
        func strange() throws {
            try buy("1")
            try erase()
            service.close()
            try keepList {
                $0.replacingOccurrences(
                    of: #""project":"default""#, with: #""project":"elsewhere""#)
            }
            try expect(["u1 project_unknown"], code: 1, at: deed)
            for marks in [#","marks":[]"#, ""] {
                try keepList { list in
                    let start = list.range(of: #","marks":["#)
                    return start.map { list[..<$0.lowerBound] + marks + "}\n" } ?? list
                }
                let refused = try deed.run("customer", "erase", "--again", path)
                #expect(refused.code == 2 && refused.errors.contains("line 1"), "\(refused)")
            }
            try Data().write(to: URL(fileURLWithPath: path))
            let empty = try deed.run("customer", "erase", "--again", path)
            #expect(empty.code == 0 && empty.output.contains("there is no erasure to repeat"))
            let none = try deed.run(["customer", "erase", "--file", path] + how)
            #expect(none.code == 2 && none.errors.contains("names no customer"), "\(none)")
        }
    }
}
