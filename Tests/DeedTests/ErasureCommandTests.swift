import Core
import Foundation
import Glibc
import JSON
import Minting
import Postgres
import TestSupport
import Testing

extension ProgramTests {
    @Suite("deed customer erase, erased and export", .timeLimit(.minutes(10)))
    final class ErasureCommandTests: SandboxShop {
        private func buy(_ transaction: String, for customer: String = "u1") throws {
            let sale = Sale(transaction, "level2", .nonConsumable, at: Payload.signedAt)
            let body: JSON = [
                "signed_transactions": [.string(store.transaction(sale))],
                "environment": "sandbox",
            ]
            let reply = service.send(
                "POST", "/v1/customers/\(customer)/receipts", key: try service.key(.backend),
                body: body.text)
            #expect(reply.status == 200, "\(reply.text)")
        }

        private let how = ["--purchases", "forget", "--reason", "asked for it"]

        private func intent(of customer: String = "u1") throws -> String {
            let look = try deed.run(["customer", "erase", customer, "--json"] + how)
            #expect(look.code == 0, "\(look.errors)")
            return try #require(try look.json["intent"]?.string)
        }

        private func erase(_ customer: String = "u1") throws {
            let intent = try intent(of: customer)
            let done = try deed.run(
                ["customer", "erase", customer, "--intent", intent] + how)
            #expect(done.code == 0, "\(done.errors)")
        }

        private func code(_ finished: Finished) -> String? {
            (try? JSON.read(finished.errors))?["error"]?["code"]?.string
        }

        private func full(_ database: ScratchDatabase) throws -> Int64 {
            try database.number(
                """
                select count(*) from deed.events
                where customer = 'u1' and payload <> '' and type <> 'customer.erased'
                """)
        }

        @Test("An erasure is looked at, done, looked back at, and every audit passes")
        func erased() throws {
            try buy("1")
            let checkpoint = folder.path + "/before"
            #expect(try deed.run("checkpoint", "--out", checkpoint).code == 0)
            let look = try deed.run(["customer", "erase", "u1"] + how)
            #expect(look.code == 0 && look.output.contains("Nothing was done"), "\(look.output)")
            #expect(look.output.contains("rights that end: level2"))
            try erase()
            let back = try deed.run("customer", "erased", "u1")
            #expect(back.code == 0, "\(back.errors)")
            #expect(back.output.contains("asked for it") && back.output.contains("nothing is left"))
            let list = try deed.run("customer", "erased", "--list", "--json")
            #expect(list.output.split(separator: "\n").count == 1)
            #expect(try list.json["customer"]?.string == "u1")
            for audit in [
                ["audit"], ["audit", "--projections"], ["audit", "--against", checkpoint],
                ["audit", "--evidence", "--extra-roots", folder.path + "/roots"],
            ] {
                let finished = try deed.run(audit)
                #expect(finished.code == 0, "\(audit): \(finished.output) \(finished.errors)")
            }
            let again = try deed.run(["customer", "erase", "u1", "--json"] + how)
            #expect(again.code == 1 && code(again) == "already_erased")
            #expect(code(try deed.run("customer", "erased", "u9", "--json")) == "never_erased")
        }

        @Test("An export is one document with everything, and an unknown customer has none")
        func exported() throws {
            try buy("1")
            let export = try deed.run("customer", "export", "u1")
            #expect(export.code == 0, "\(export.errors)")
            let sides = try #require(try export.json["environments"]?.array)
            #expect(sides.count == 2)
            #expect(sides[1]["events"]?.array?.count == 1)
            let content = try #require(sides[1]["evidence"]?.array?.first?["content"]?.string)
            let bytes = try #require(Data(base64Encoded: content))
            #expect(String(decoding: bytes, as: UTF8.self).split(separator: ".").count == 3)
            #expect(try deed.run("customer", "export", "u9").code == 1)
        }

        @Test("Many are erased from a file, one result each, and a second run repeats nothing")
        func many() throws {
            for number in 1...3 { try buy("\(number)", for: "m\(number)") }
            let path = folder.path + "/ids"
            try Data("m1\nm2\nu9\nm3\n".utf8).write(to: URL(fileURLWithPath: path))
            let look = try deed.run(["customer", "erase", "--file", path] + how)
            #expect(look.output.contains("m1   would be erased"), "\(look.output)")
            let erasures = "select count(*) from deed.events where type = 'customer.erased'"
            #expect(try database.number(erasures) == 0)
            let done = try deed.run(["customer", "erase", "--file", path, "--yes"] + how)
            #expect(done.code == 1, "\(done.output)")
            let lines = done.output.split(separator: "\n").map(String.init)
            #expect(
                lines == ["m1   erased", "m2   erased", "u9   customer_unknown", "m3   erased"])
            #expect(try database.number(erasures) == 3)
            _ = try deed.run(["customer", "erase", "--file", path, "--yes"] + how)
            #expect(try database.number(erasures) == 3)
        }

        @Test("After a restore a list repeats the erasures that the log has lost")
        func again() throws {
            try buy("1")
            try buy("2", for: "u2")
            service.close()
            let backup = try ScratchDatabase(copying: database)
            try erase()
            let list = try deed.run("customer", "erased", "--list", "--json").output
            let path = folder.path + "/erasures.jsonl"
            try Data(list.utf8).write(to: URL(fileURLWithPath: path))
            let here = try deed.run("customer", "erase", "--again", path, "--yes")
            #expect(here.code == 0 && here.output == "u1   erased already\n", "\(here.output)")
            let restored = try Installation(backup)
            #expect(try full(backup) == 1)
            let look = try restored.run("customer", "erase", "--again", path)
            #expect(look.output.contains("would be erased"))
            for _ in 0..<2 {
                let done = try restored.run("customer", "erase", "--again", path, "--yes")
                #expect(done.code == 0, "\(done.output) \(done.errors)")
            }
            #expect(try full(backup) == 0)
            #expect(
                try backup.number(
                    "select count(*) from deed.events where type = 'customer.erased'") == 1)
            #expect(
                try backup.number(
                    "select count(*) from deed.erased_purchases where customer = 'u1'") == 1)
            #expect(try restored.run("audit", "--projections").code == 0)
        }

        @Test(
            "A list brings back what was forgotten of a customer whom the restored log never knew")
        func unknownAgain() throws {
            try buy("2", for: "u2")
            let backup = try ScratchDatabase(copying: database)
            try buy("1")
            try erase()
            service.close()
            let path = folder.path + "/erasures.jsonl"
            let list = try deed.run("customer", "erased", "--list", "--json").output
            try Data(list.utf8).write(to: URL(fileURLWithPath: path))
            let restored = try Installation(backup)
            for _ in 0..<2 {
                let done = try restored.run("customer", "erase", "--again", path, "--yes")
                #expect(done.code == 0 && done.output == "u1   erased\n", "\(done)")
            }
            let marks = "select mark from deed.erased_purchases"
            #expect(try backup.text(marks) == database.text(marks))
            #expect(try restored.run("audit", "--projections").code == 0)
        }

        @Test("Killed before the contents are emptied, any service that runs empties them")
        func killed() throws {
            try buy("1")
            let intent = try intent()
            // The commit passes, and the emptying waits for this.
            var holder = try Connection.open(database.settings())
            try holder.run(
                Script(embedded: Array("begin; lock deed.evidence in exclusive mode".utf8)))
            let (process, _, _) = try deed.start(
                ["customer", "erase", "u1", "--intent", intent] + how)
            let erasures = "select count(*) from deed.events where type = 'customer.erased'"
            #expect(eventually(within: 60_000) { (try? database.number(erasures)) == 1 })
            let sessions = """
                from pg_stat_activity
                where wait_event_type = 'Lock' and datname = current_database()
                """
            #expect(
                eventually(within: 60_000) {
                    (try? database.number("select count(*) \(sessions)")) == 1
                })
            process.signal(SIGKILL)
            _ = process.wait(milliseconds: 60_000)
            // Its session would empty them yet, once it has the lock.
            try database.run("select pg_terminate_backend(pid) \(sessions)")
            #expect(
                eventually(within: 60_000) {
                    (try? database.number("select count(*) \(sessions)")) == 0
                })
            try holder.run(Script(embedded: Array("rollback".utf8)))
            #expect(try full(database) == 1)
            #expect(try database.number("select count(*) from deed.purchases") == 0)
            let left = try deed.run("customer", "erased", "u1", "--json")
            #expect(left.code == 1 && code(left) == "erasure_unfinished", "\(left.errors)")
            let serving = try deed.serve()
            #expect(eventually(within: 120_000) { (try? full(database)) == 0 })
            #expect(
                eventually(within: 120_000) {
                    (try? database.number("select count(*) from deed.emptying")) == 0
                })
            #expect(try deed.run("customer", "erased", "u1").code == 0)
            serving.process.signal(SIGTERM)
        }

        @Test(
            "Wrong usage ends with 2",
            arguments: [
                ["u1"], ["u1", "--purchases", "burn", "--reason", "r"],
                ["u1", "--purchases", "free", "--reason", " "],
                ["--purchases", "free", "--reason", "r"],
                ["u1", "--file", "x", "--purchases", "free", "--reason", "r"],
                ["u1", "--yes", "--purchases", "free", "--reason", "r"],
                ["$unclaimed/apple:1", "--purchases", "free", "--reason", "r"],
            ])
        func usage(_ arguments: [String]) throws {
            #expect(try deed.run(["customer", "erase"] + arguments).code == 2)
        }
    }
}
