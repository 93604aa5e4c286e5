import Foundation
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("The command line", .serialized, .timeLimit(.minutes(20)))
    struct Commands {
        /// Settings without a database, for commands that must fail before they need one.
        private static let nowhere = [
            "DEED_DATABASE_URL": "postgresql:///postgres?host=/nonexistent"
        ]

        @Test("Every command explains itself with an example")
        func help() throws {
            let installation = try Installation()
            let overview = try installation.run("--help")
            #expect(overview.code == 0)
            let names = overview.output.split(separator: "\n").filter { $0.hasPrefix("  deed ") }
                .compactMap { $0.dropFirst(7).components(separatedBy: "   ").first }
            #expect(names.count >= 13)
            for name in names {
                let help = try installation.run(
                    name.split(separator: " ").map(String.init) + ["--help"])
                #expect(help.code == 0)
                #expect(help.errors.isEmpty)
                #expect(help.output.contains("usage: deed \(name)"), "\(name)")
                #expect(help.output.contains("example: deed \(name)"), "\(name)")
            }
            for family in ["project", "key", "customer"] {
                let help = try installation.run(family, "--help")
                #expect(help.code == 0 && help.output.contains("deed \(family) "))
            }
        }

        @Test(
            "Wrong usage gets a sentence on standard error, with exit code 2",
            arguments: [
                "", "nonsense", "--nonsense", "project", "project nonsense", "project create",
                "project create a b", "key create", "key create --role king", "key revoke",
                "key revoke deed_admin_secret",
                "key list --role admin", "grant --customer u1", "grant --entitlement pro",
                "grant --customer u1 --entitlement pro --reason r --for 30",
                "grant --customer u1 --entitlement pro --reason r --end tomorrow",
                "grant --customer u1 --entitlement pro --reason r --for P1D --end 2027-01-01T00:00:00Z",
                "grant --customer u1 --entitlement pro --reason r --environment xcode",
                "grant --customer u1 --customer u2 --entitlement pro --reason r",
                "grant --customer \u{7F} --entitlement pro --reason r",
                "grant --customer $project/ --entitlement pro --reason r",
                "grant --customer u1 --entitlement pro --reason", "revoke --customer u1 --reason r",
                "customer show", "customer show u1 --at now", "customer events u1 --limit 0",
                "customer show u1 -j", "status --json=yes", "serve --connections none",
                "serve --connections 0", "serve --tls-key k.pem", "serve --listen nonsense",
                "serve --listen 127.0.0.1:99999", "status --listen nonsense",
            ])
        func wrongUsage(_ line: String) throws {
            let installation = try Installation()
            let words = line.split(separator: " ").map(String.init)
            let refused = try installation.run(words, variables: Commands.nowhere)
            #expect(refused.code == 2)
            #expect(refused.output.isEmpty)
            #expect(refused.errors.hasPrefix("error: "))
            #expect(
                refused.errors.contains("; see: deed") || refused.errors.contains("one more word"))
            #expect(refused.errors.split(separator: "\n").count == 1)
            #expect(!refused.errors.contains("deed_admin_secret"))
        }

        @Test("An unreachable database is a fault, with exit code 3")
        func fault() throws {
            let installation = try Installation()
            for command in [["project", "list"], ["migrate"], ["status"], ["audit"]] {
                let failed = try installation.run(command, variables: Commands.nowhere)
                #expect(failed.code == 3, "\(command)")
                #expect(failed.errors.contains("cannot be reached"), "\(failed.errors)")
            }
        }

        @Test("With --json, a refusal is one JSON document too")
        func refusalAsJSON() throws {
            let installation = try Installation(try ScratchDatabase())
            for (command, code, exitCode) in [
                (["revoke", "--nonsense"], "usage", 2),
                (["key", "list", "--project", "none"], "project_unknown", 1),
            ] as [([String], String, Int32)] {
                let refused = try installation.run(command + ["--json"])
                #expect(refused.code == exitCode)
                let error = try JSON.read(refused.errors)["error"]
                #expect(error?["code"]?.string == code)
                #expect(error?["detail"]?.string?.isEmpty == false)
            }
        }

        @Test("A project is created once, or found if that is enough")
        func projects() throws {
            let installation = try Installation(try ScratchDatabase())
            let first = try installation.run("project", "create", "game", "--json")
            #expect(first.code == 0)
            #expect(try first.json["project"]?.string == "game")
            let second = try installation.run("project", "create", "game")
            #expect(second.code == 1)
            #expect(second.errors.contains("already exists"))
            #expect(try installation.run("project", "create", "game", "--if-missing").code == 0)
            let list = try installation.run("project", "list", "--json")
            #expect(try list.json["projects"]?.array?.map { $0["project"]?.string } == ["game"])
        }

        @Test("A key works at once on a running service, and stops a second after its revocation")
        func keys() throws {
            let installation = try Installation(try ScratchDatabase())
            #expect(try installation.run("project", "create", "default").code == 0)
            let service = try installation.serve()
            let made = try installation.run(
                "key", "create", "--role", "reader", "--name", "lobby", "--json")
            let text = try #require(try made.json["key"]?.string)
            let id = try #require(try made.json["id"]?.string)
            var client = try APIClient(key: text)
            let url = "\(service.url)/v1/customers/u1/entitlements"
            #expect(try client.send("GET", url).status == 200)
            let list = try installation.run("key", "list", "--json")
            let listed = try #require(try list.json["keys"]?.array?.first)
            #expect(listed["name"]?.string == "lobby" && listed["revoked_at"]?.isNull == true)
            #expect(!list.output.contains(text))
            #expect(try installation.run("key", "revoke", id).code == 0)
            #expect(try eventually(within: 1000) { try client.send("GET", url).status == 401 })
            #expect(try installation.run("key", "revoke", id).code == 0)
            #expect(try installation.run("key", "revoke", "k_none").code == 1)
        }

        @Test("A grant is given, shown, revoked and listed in the events")
        func grants() throws {
            let installation = try Installation(try ScratchDatabase())
            let key = try installation.makeKey("reader")
            let give = [
                "grant", "--customer", "u/1", "--entitlement", "pro", "--for", "P30D", "--reason",
                "lost purchase", "--ticket", "T-1", "--idempotency-key", "k", "--json",
            ]
            let given = try installation.run(give)
            let grant = try #require(try given.json["grant"]?["id"]?.string)
            #expect(try installation.run(give).output == given.output)
            #expect(
                try installation.run(give + ["--environment", "sandbox"]).output != given.output)

            let shown = try installation.run("customer", "show", "u/1", "--json")
            #expect(try shown.json["entitlements"]?["pro"]?["grant"]?.string == grant)
            let service = try installation.serve()
            var client = try APIClient(key: key)
            let at = try #require(try shown.json["at"]?.string)
            let answer = try client.send(
                "GET", "\(service.url)/v1/customers/u%2F1?at=\(at)")
            #expect(answer.text + "\n" == shown.output)

            let take = ["revoke", "--customer", "u/1", "--grant", grant, "--reason", "mistake"]
            #expect(try installation.run(take).output.contains("was revoked at"))
            #expect(try installation.run(take).code == 0)
            #expect(
                try installation.run("customer", "show", "--customer", "u/1").output.contains(
                    "revoked"))
            let events = try installation.run("customer", "events", "u/1", "--json")
            let types = try events.json["events"]?.array?.map { $0["type"]?.string }
            #expect(types == ["grant.given", "grant.revoked"])
            let actor = try events.json["events"]?.array?.first?["actor"]?.string
            #expect(actor?.hasPrefix("cli:") == true)
            let page = try installation.run("customer", "events", "u/1", "--limit", "1")
            #expect(page.output.contains("--after 1"))
        }

        @Test("A missing thing is refused with exit code 1, and nothing is written")
        func refused() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            for command in [
                ["grant", "--customer", "u1", "--entitlement", "pro", "--reason", "r"],
                ["revoke", "--customer", "u1", "--grant", "g_1", "--reason", "r"],
                ["key", "create", "--role", "admin"], ["key", "list"],
                ["customer", "show", "u1"], ["customer", "events", "u1"],
            ] {
                let refused = try installation.run(command + ["--project", "none"])
                #expect(refused.code == 1, "\(command)")
                #expect(refused.errors.contains("deed project create none"), "\(refused.errors)")
            }
            #expect(try database.number("select count(*) from deed.events") == 0)
        }

        @Test("The status shows database, schema and server")
        func status() throws {
            let installation = try Installation(try ScratchDatabase())
            let service = try installation.serve()
            let listen = "127.0.0.1:\(service.port)"
            let status = try installation.run("status", "--listen", listen, "--json")
            #expect(status.code == 0)
            #expect(try status.json["server"]?.string == "ready")
            #expect(try status.json["schema"]?["current"]?.bool == true)
            let elsewhere = try installation.run("status", "--listen", "127.0.0.1:1")
            #expect(elsewhere.output.contains("not running"))
            let old = try Installation(try ScratchDatabase(migrated: false))
            #expect(try old.run("status").code == 1)
        }

        @Test("An audit finds changes made without Deed")
        func audit() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            for customer in ["u1", "u2"] {
                _ = try installation.run("project", "create", "default", "--if-missing")
                let given = try installation.run(
                    "grant", "--customer", customer, "--entitlement", "pro", "--reason", "r")
                #expect(given.code == 0)
            }
            #expect(try installation.run("audit", "--json").json["events"]?.integer == 3)
            try database.run(
                """
                alter table deed.events disable trigger all;
                update deed.events set payload = replace(payload, 'pro', 'vip')
                where customer = 'u2'
                """)
            let audit = try installation.run("audit", "--json")
            #expect(audit.code == 1)
            #expect(try audit.json["findings"]?.array?.count == 1)
            let finding = try audit.json["findings"]?.array?.first
            #expect(finding?["column"]?.string == "payload")
        }
    }
}
