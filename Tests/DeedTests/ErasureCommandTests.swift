import Core
import Foundation
import Glibc
import JSON
import Minting
import Postgres
import TestSupport
import Testing

extension ProgramTests {
    @Suite("deed customer erase, erased and export", .timeLimit(.minutes(20)))
    final class ErasureCommandTests: ErasingShop {
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

        @Test(
            "A dry run of many says for each which rights end and what the store keeps charging for"
        )
        func dryRunOfMany() throws {
            try buy("1", for: "m1")
            let path = folder.path + "/ids"
            try Data("m1\n".utf8).write(to: URL(fileURLWithPath: path))
            let look = try deed.run(["customer", "erase", "--file", path] + how)
            #expect(look.output.contains("1 events; rights end: level2"), "\(look.output)")
            let json = try deed.run(["customer", "erase", "--file", path, "--json"] + how)
            let line = try JSON.read(String(json.output.split(separator: "\n")[0]))
            #expect(line["environments"]?.array?.first?["ending"]?.array == ["level2"])
        }

        @Test("The look names who had the purchases before, and so does the command")
        func cameFrom() throws {
            try buy("1", for: "anon-1")
            let moved = try deed.run(
                "transfer", "--customer", "anon-1", "--to", "u1", "--purchase", "apple:1",
                "--environment", "sandbox", "--reason", "new phone")
            #expect(moved.code == 0, "\(moved.errors)")
            let look = try deed.run(["customer", "erase", "u1", "--json"] + how)
            #expect(
                try look.json["environments"]?.array?.first?["came_from"]?.array == ["anon-1"])
            let text = try deed.run(["customer", "erase", "u1"] + how).output
            #expect(text.contains("purchases came from anon-1; erase that id too"), "\(text)")
        }

        @Test("Killed before the contents are emptied, any service that runs empties them")
        func killed() throws {
            try buy("1")
            try killBeforeEmptying("u1")
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
            "What a killed erasure left is emptied when it is repeated, beside a new life, and not by a dry run"
        )
        func repeated() throws {
            try buy("1")
            try buy("2", for: "a1")
            let merged = try deed.run(
                "customer", "merge", "--from", "a1", "--into", "u1", "--reason", "r")
            #expect(merged.code == 0, "\(merged.errors)")
            try killBeforeEmptying("u1")
            service.close()
            let path = folder.path + "/ids"
            try Data("u1\n".utf8).write(to: URL(fileURLWithPath: path))
            let rows = """
                select count(*) from deed.events
                where payload <> '' and customer in ('u1', 'a1') and type <> 'customer.erased'
                """
            let before = try database.number(rows)
            #expect(before > 2)
            let look = try deed.run(["customer", "erase", "--file", path] + how)
            #expect(look.code == 0 && look.output.hasPrefix("u1   erased already\n"), "\(look)")
            #expect(try database.number(rows) == before)
            let given = try deed.run(
                "grant", "--customer", "u1", "--environment", "sandbox", "--entitlement", "level2",
                "--reason", "r")
            #expect(given.code == 0, "\(given.errors)")
            let others = folder.path + "/others"
            try Data("u9\n".utf8).write(to: URL(fileURLWithPath: others))
            let done = try deed.run(["customer", "erase", "--file", others, "--yes"] + how)
            #expect(done.code == 1 && done.output == "u9   customer_unknown\n", "\(done)")
            // Only the events after the erasure have content now.
            #expect(try database.number(rows) == 1)
        }

        @Test(
            "Wrong usage ends with 2",
            arguments: [
                ["u1"], ["u1", "--purchases", "burn", "--reason", "r"],
                ["u1", "--purchases", "free", "--reason", " "],
                ["--purchases", "free", "--reason", "r"],
                ["u1", "--file", "x", "--purchases", "free", "--reason", "r"],
                ["--file", "x", "--purchases", "free", "--reason", "r", "--idempotency-key", "k"],
                ["--again", "x", "--reason", "r"], ["--again", "x", "--purchases", "free"],
                ["u1", "--yes", "--purchases", "free", "--reason", "r"],
                ["$unclaimed/apple:1", "--purchases", "free", "--reason", "r"],
            ])
        func usage(_ arguments: [String]) throws {
            #expect(try deed.run(["customer", "erase"] + arguments).code == 2)
        }
    }
}
