import Foundation
import Glibc
import JSON
import Outbound
import TestSupport
import Testing
import Threading

extension ProgramTests {
    /// Tests the first steps that have caused trouble for operators.
    @Suite("An operator's first steps", .timeLimit(.minutes(20)))
    struct Operator {
        @Test(
            "A database that is no PostgreSQL is refused by name",
            arguments: [
                ("mysql://root:secret@localhost/deed", "begins with mysql://"),
                ("localhost:5432/deed", "does not begin with postgresql://"),
            ])
        func otherDatabase(_ url: String, _ words: String) throws {
            let refused = try Installation(url: url).run("status")
            #expect(refused.code == 1 && refused.errors.contains(words), "\(refused.errors)")
            #expect(!refused.errors.contains("secret"))
        }

        @Test(
            "A mistyped command or flag gets the one that was most likely meant",
            arguments: [
                (["grnt", "--customer", "u1"], "did you mean deed grant?"),
                (["customer", "shwo", "u1"], "did you mean deed customer show?"),
                (["statsu"], "did you mean deed status?"),
                (["merge", "--from", "u1"], "did you mean deed customer merge?"),
                (["grant", "--custmer", "u1"], "did you mean --customer?"),
            ])
        func suggestions(_ words: [String], _ suggestion: String) throws {
            let refused = try Installation().run(words)
            #expect(refused.code == 2 && refused.errors.contains(suggestion), "\(refused.errors)")
            let strange = try Installation().run(["xylophone"])
            #expect(strange.code == 2 && !strange.errors.contains("did you mean"))
        }

        @Test("A setting under its former name is refused with the present one")
        func formerName() throws {
            let deed = try Installation()
            let flag = try deed.run("serve", "--max-stale", "4")
            #expect(flag.code == 2 && flag.errors.contains("is now called --max-stale-seconds"))
            let variable = try deed.run(["serve"], variables: ["DEED_ANSWER_MEMORY": "4"])
            #expect(
                variable.code == 2
                    && variable.errors.contains("is now called DEED_ANSWER_MEMORY_MEGABYTES"),
                "\(variable.errors)")
        }

        @Test(
            "deed verify says what a file is that is not evidence",
            arguments: [
                ("", "is empty"), ("-----BEGIN PRIVATE KEY-----\nabc\n", "a private key in PEM"),
                ("{\"a\":1,\"b\":2}", "a JSON object with \"a\", \"b\""),
                ("\u{89}PNG", "Evidence is"), ("%PDF-1.7", "a PDF"),
                ("this is a note to myself", "a text"),
            ])
        func verifying(_ content: String, _ words: String) throws {
            let folder = try ScratchFolder()
            let file = try folder.write(content, to: "file")
            let refused = try Installation().run("verify", file)
            #expect(refused.code == 1 && refused.errors.contains(words), "\(refused.errors)")
            #expect(refused.errors.contains("a signed transaction"), "\(refused.errors)")
        }

        @Test("A lost key is not made anew while something is sealed, unless that is said")
        func lostKey() throws {
            let folder = try ScratchFolder()
            let secret = try folder.write("secret", to: "shared")
            let deed = try Installation(ScratchDatabase())
            #expect(try deed.run("project", "create", "default").code == 0)
            for app in ["com.example.one", "com.example.two"] {
                let set = try deed.run(
                    "app", "set", "--bundle-id", app, "--shared-secret-file", secret)
                #expect(set.code == 0, "\(set.errors)")
            }
            let key = "\(deed.dataFolder)/secret.key"
            #expect(try deed.run("secret", "rotate", "--lost").code == 1)
            unlink(key)
            let again = try deed.run(
                "app", "set", "--bundle-id", "com.example.one", "--shared-secret-file", secret)
            #expect(again.code == 1)
            #expect(again.errors.contains("is missing"), "\(again.errors)")
            let marked = try deed.run("checkpoint", "--out", folder.file("checkpoint"))
            #expect(marked.code == 3, "\(marked.errors)")
            #expect(access(key, F_OK) != 0)
            let made = try deed.run("secret", "rotate", "--lost")
            #expect(made.code == 0 && made.output.contains("com.example.two"), "\(made.errors)")
        }

        @Test(
            "A rotated key keeps its owner, and one that cannot be read is not called missing",
            .enabled(if: getuid() == 0, "only root can give files away"))
        func owner() throws {
            let folder = try ScratchFolder()
            let path = folder.file("secret.key")
            let deed = try Installation(ScratchDatabase())
            let key = ["--secret-key-file", path]
            #expect(try deed.run(["checkpoint", "--out", folder.file("c")] + key).code == 0)
            let worker = ["deed", "postgres"].compactMap { (name: String) in
                getpwnam(name)?.pointee.pw_uid
            }.first
            var found = stat()
            #expect(stat(path, &found) == 0 && found.st_uid == worker)
            chown(path, 1, 1)
            #expect(try deed.run(["secret", "rotate"] + key).code == 0)
            #expect(stat(path, &found) == 0 && found.st_uid == 1)
            chown(path, 0, 0)
            let refused = try deed.run(["serve", "--listen", "127.0.0.1:0"] + key)
            #expect(refused.errors.contains("is unreadable by"), "\(refused.errors)")
        }

        @Test("A drifted reconciliation is logged with its reasons")
        func drift() throws {
            let database = try ScratchDatabase()
            let deed = try Installation(database)
            let key = try deed.makeKey()
            #expect(
                try deed.run(
                    "grant", "--customer", "u1", "--entitlement", "pro", "--reason", "r",
                    "--allow-unknown"
                ).code == 0)
            try database.run("update deed.customers set version = version + 1")
            let service = try deed.serve()
            var client = try APIClient(key: key)
            let asked = try client.send("POST", "\(service.url)/v1/reconciliations", body: "{}")
            #expect(asked.status < 300, "\(asked.text)")
            let deadline = monotonicMilliseconds() + 120_000
            while !service.log.contains("\"drifted\""), monotonicMilliseconds() < deadline {
                pause(milliseconds: 100)
            }
            let line = service.log.split(separator: "\n").first { $0.contains("\"drifted\"") }
            #expect(line?.contains("The step projections found") == true, "\(line ?? "")")
            #expect(line?.contains("deed reconcile show") == true)
        }
    }
}
