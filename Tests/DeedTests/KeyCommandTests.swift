import Core
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Keys on the command line", .timeLimit(.minutes(20)))
    struct KeyCommands {
        private let deed: Installation

        init() throws {
            deed = try Installation(ScratchDatabase())
            #expect(try deed.run("project", "create", "default").code == 0)
        }

        private func create(_ flags: String...) throws -> JSON {
            let made = try deed.run(["key", "create", "--role", "reader", "--json"] + flags)
            #expect(made.code == 0, "\(made.errors)")
            return try made.json
        }

        private func text(_ json: JSON, _ name: String) throws -> String {
            try #require(json[name]?.string, "\(json.text)")
        }

        private func listed(_ id: String) throws -> JSON {
            let keys = try deed.run("key", "list", "--json").json["keys"]?.array
            return try #require(keys?.first { $0["id"]?.string == id })
        }

        private func status(_ key: String, at service: RunningService) throws -> Int {
            var api = try APIClient(key: key)
            return try api.send("GET", "\(service.url)/v1/customers/u1/entitlements").status
        }

        @Test("A key is refused within a second of its end, and used until then, by both services")
        func end() throws {
            let services = [try deed.serve(), try deed.serve()]
            let key = try create("--expires", "PT20S")
            let secret = try text(key, "key")
            let end = try #require(Instant(text: try text(key, "expires_at")))
            var last = [0, 0]
            let isOver = eventually(within: 120_000) {
                for (number, service) in services.enumerated() {
                    let asked = machineInstant()
                    guard let status = try? status(secret, at: service) else { return false }
                    // Deed refuses calls that begin a second after the key's end. It may still answer earlier calls.
                    if asked >= end.advanced(byMilliseconds: 1000) { #expect(status == 401) }
                    if machineInstant() < end { #expect(status == 200) }
                    last[number] = status
                }
                return machineInstant() >= end.advanced(byMilliseconds: 1000) && last == [401, 401]
            }
            #expect(isOver)
            #expect(try listed(text(key, "id"))["state"] == "expired")
        }

        @Test("A rotation prints a key like the old one, and both services take both until its end")
        func rotated() throws {
            let services = [try deed.serve(), try deed.serve()]
            let old = try create("--name", "lobby", "--environment", "production")
            let id = try text(old, "id")
            let done = try deed.run("key", "rotate", id, "--overlap", "P7D", "--json")
            #expect(done.code == 0, "\(done.errors)")
            let new = try done.json
            #expect(new["name"] == "lobby" && new["role"] == "reader")
            #expect(new["environment"] == "production" && new["replaces"]?.string == id)
            for service in services {
                for key in [old, new] {
                    let secret = try text(key, "key")
                    #expect(
                        eventually(within: 60_000) { (try? status(secret, at: service)) == 200 })
                }
            }
            #expect(try listed(id)["replaced_by"]?.string == text(new, "id"))
            #expect(try listed(id)["expires_at"]?.string == text(new, "overlap_until"))
            // Both keys were used in this hour, or at the end of the previous one.
            let isNoted = eventually(within: 60_000) {
                (try? listed(id)["last_used_at"]?.string) ?? nil != nil
            }
            #expect(isNoted)
            let now = try deed.run("key", "rotate", text(new, "id"), "--overlap", "none", "--json")
            #expect(now.code == 0, "\(now.errors)")
            let secret = try text(new, "key")
            for service in services {
                #expect(eventually(within: 60_000) { (try? status(secret, at: service)) == 401 })
            }
        }

        @Test("Each wrong end has its own code, and makes no key")
        func wrong() throws {
            let key = try text(create("--expires", "P5D"), "id")
            let gone = try text(create(), "id")
            #expect(try deed.run("key", "revoke", gone).code == 0)
            let count = try deed.run("key", "list", "--json").json["keys"]?.array?.count
            let calls: [([String], Int32, String)] = [
                (
                    ["create", "--role", "reader", "--expires", "2020-01-01T00:00:00Z"], 1,
                    "key_ends_in_the_past"
                ),
                (["create", "--role", "reader", "--expires", "P9000Y"], 1, "key_ends_too_late"),
                (["create", "--role", "reader", "--expires", "soon"], 2, "usage"),
                (["create", "--role", "reader", "--expires", "PT0S"], 2, "usage"),
                (["create", "--role", "reader", "--environment", "moon"], 2, "usage"),
                (["rotate", key, "--overlap", "P6D"], 1, "overlap_beyond_end"),
                (["rotate", key, "--overlap", "P0D"], 2, "usage"),
                (["rotate", key, "--expires", "2020-01-01T00:00:00Z"], 1, "key_ends_in_the_past"),
                (["rotate", gone], 1, "key_over"), (["rotate", "k_none"], 1, "key_unknown"),
                (["rotate", "deed_reader_x"], 2, "usage"), (["rotate"], 2, "usage"),
            ]
            for (words, code, name) in calls {
                let done = try deed.run(["key"] + words + ["--json"])
                #expect(done.code == code, "\(words): \(done.errors)")
                #expect(
                    try JSON.read(done.errors)["error"]?["code"]?.string == name, "\(words)")
            }
            #expect(try deed.run("key", "list", "--json").json["keys"]?.array?.count == count)
            #expect(try deed.run("key", "rotate", key).code == 0)
            let again = try deed.run("key", "rotate", key, "--json")
            #expect(try JSON.read(again.errors)["error"]?["code"] == "key_rotated")
        }

        @Test("The trail has what was done at the command line, and the tables follow from the log")
        func trail() throws {
            let given = try deed.run(
                "grant", "--customer", "u1", "--entitlement", "pro", "--for", "P1D", "--reason",
                "outage", "--ticket", "T-1")
            #expect(given.code == 0, "\(given.errors)")
            let trail = try deed.run("trail", "--ticket", "T-1")
            #expect(trail.output.contains("grant.given   u1   by cli:"), "\(trail.output)")
            #expect(trail.output.contains(": outage   ticket T-1"), "\(trail.output)")
            let page = try deed.run("trail", "--limit", "1", "--json").json
            let next = try text(page, "next")
            let rest = try deed.run("trail", "--after", next, "--json").json
            #expect(rest["entries"]?.array?.last?["action"] == "project.created")
            _ = try create("--expires", "P5D", "--environment", "sandbox")
            #expect(try deed.run("trail", "--after", "x").code == 2)
            let audit = try deed.run("audit", "--projections")
            #expect(audit.code == 0, "\(audit.output) \(audit.errors)")
        }
    }
}
