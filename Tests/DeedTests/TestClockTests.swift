import Foundation
import Glibc
import JSON
import Outbound
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("A test clock", .timeLimit(.minutes(20)))
    struct TestClocks {
        private let database: ScratchDatabase
        private let deed: Installation

        init() throws {
            database = try ScratchDatabase()
            deed = try Installation(database)
        }

        private func move(
            _ service: RunningService, _ client: inout APIClient, _ body: String
        ) throws -> (status: Int, json: JSON) {
            let answer = try client.send("PUT", "\(service.url)/v1/test/clock", body: body)
            return (answer.status, try JSON.read(answer.text))
        }

        @Test("Answers, boundaries and records follow it, and each answer shows it")
        func everythingFollows() throws {
            let key = try deed.makeKey()
            let service = try deed.serve("--test-clock")
            var client = try APIClient(key: key)
            let start = try move(service, &client, #"{"now":"2030-01-31T00:00:00Z"}"#)
            #expect(start.status == 200)
            #expect(start.json["now"]?.string == "2030-01-31T00:00:00.000Z")
            #expect(start.json["next_due"]?.isNull == true)
            let given = try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"pro","reason":"r","for":"P1M"}"#)
            #expect(given.text.contains("2030-02-28T00:00:00.000Z"))

            let path = "\(service.url)/v1/customers/u1/entitlements"
            // The second answer comes from memory.
            for _ in 1...2 {
                let held = try client.get(path)
                #expect(held.header("Deed-Test-Clock") == "2030-01-31T00:00:00.000Z")
                let json = try JSON.read(held.body)
                #expect(json["at"]?.string == "2030-01-31T00:00:00.000Z")
                #expect(json["entitlements"]?["pro"]?["active"]?.bool == true)
            }
            let moved = try move(service, &client, #"{"advance":"P1M"}"#)
            #expect(moved.json["now"]?.string == "2030-02-28T00:00:00.000Z")
            #expect(moved.json["next_due"]?.isNull == true)
            let ended = try client.get(path)
            #expect(ended.header("Deed-Test-Clock") == "2030-02-28T00:00:00.000Z")
            #expect(
                try JSON.read(ended.body)["entitlements"]?["pro"]?["active"]?.bool == false)

            for (path, headers, status) in [
                ("/v1/nothing", [], 404), ("/healthz", [], 200),
                ("/v1/catalog", [("Authorization", "Bearer deed_admin_x")], 400),
                (
                    "/v1/customers/u1/entitlements",
                    [("If-None-Match", ended.header("ETag") ?? "")], 304
                ),
            ] {
                let answer = try client.get(service.url + path, headers: headers)
                #expect(answer.status == status)
                #expect(answer.header("Deed-Test-Clock") == "2030-02-28T00:00:00.000Z")
            }
            let events = try client.events(of: "u1", at: service.url)
            #expect(events[0]["recorded_at"]?.string == "2030-01-31T00:00:00.000Z")
            #expect(service.log.contains("\"event\":\"test_clock\""))
            #expect(service.log.contains("\"event\":\"test_clock_moved\""))
        }

        @Test("A reminder of an end is due before the end")
        func endingSoon() throws {
            let key = try deed.makeKey()
            let service = try deed.serve("--test-clock")
            var client = try APIClient(key: key)
            _ = try move(service, &client, #"{"now":"2030-01-01T00:00:00Z"}"#)
            let catalog = #"{"products":[],"entitlements":{"pro":{"ending_soon":"P3D"}}}"#
            let applied = try client.send("PUT", "\(service.url)/v1/catalog", body: catalog)
            #expect(applied.status == 200, "\(applied.text)")
            _ = try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"pro","reason":"r","for":"P30D"}"#)
            var due = try client.read("\(service.url)/v1/test/clock")
            #expect(due["next_due"]?.string == "2030-01-28T00:00:00.000Z")
            let moved = try move(service, &client, #"{"now":"2030-01-28T00:00:00Z"}"#)
            #expect(moved.json["next_due"]?.string == "2030-01-31T00:00:00.000Z")
            let types = try client.events(of: "u1", at: service.url).map { $0["type"]?.string }
            #expect(types == ["grant.given", "access.ending_soon"])
            due = try move(service, &client, #"{"advance":"P3D"}"#).json
            #expect(due["next_due"]?.isNull == true)
        }

        @Test("It only moves forward, over the API and in SQL, and names what is due next")
        func forwardOnly() throws {
            let key = try deed.makeKey()
            let backendKey = try deed.makeKey("backend")
            let service = try deed.serve("--test-clock")
            var client = try APIClient(key: key)
            _ = try move(service, &client, #"{"now":"2030-01-01T00:00:00Z"}"#)
            _ = try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body:
                    #"{"entitlement":"pro","reason":"r","start":"2030-01-05T00:00:00Z","for":"P1M"}"#
            )
            let due = try client.read("\(service.url)/v1/test/clock")
            #expect(due["next_due"]?.string == "2030-01-05T00:00:00.000Z")
            let later = try move(service, &client, #"{"now":"2030-01-06T00:00:00Z"}"#)
            #expect(later.json["next_due"]?.string == "2030-02-05T00:00:00.000Z")

            let back = try move(service, &client, #"{"now":"2030-01-05T23:59:59.999Z"}"#)
            #expect(back.status == 409)
            #expect(back.json["code"]?.string == "test_clock_goes_forward")
            let far = try move(service, &client, #"{"advance":"P9000Y"}"#)
            #expect(far.json["code"]?.string == "test_clock_out_of_range")
            for body in ["{}", #"{"now":"2031-01-01T00:00:00Z","advance":"P1D"}"#, #"{"now":5}"#] {
                #expect(try move(service, &client, body).status == 400)
            }
            var reader = try APIClient(key: backendKey)
            #expect(try move(service, &reader, #"{"advance":"P1D"}"#).status == 403)
            for text in [
                "update deed.test_clock set stands_at = stands_at - 1",
                "delete from deed.test_clock", "truncate deed.test_clock",
            ] {
                #expect(throws: (any Error).self) { try database.run(text) }
            }
            #expect(
                try database.number("select (extract(epoch from deed.now()) * 1000)::bigint")
                    == 1_893_888_000_000)
        }

        @Test("Every instance follows it, and a restarted one finds its time")
        func instances() throws {
            let key = try deed.makeKey()
            let first = try deed.serve("--test-clock")
            let second = try deed.serve("--test-clock")
            var client = try APIClient(key: key)
            _ = try client.send(
                "POST", "\(first.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"pro","reason":"r","for":"P10D"}"#)
            let path = "/v1/customers/u1/entitlements/pro"
            #expect(
                try eventually(within: 2000) {
                    try client.read(second.url + path)["active"]?.bool == true
                })
            let moved = try move(first, &client, #"{"advance":"P11D"}"#)
            let now = try #require(moved.json["now"]?.string)
            #expect(
                try eventually(within: 2000) {
                    try client.get(second.url + path).header("Deed-Test-Clock") == now
                })
            let ended = try client.read("\(second.url)/v1/customers/u1/entitlements")
            #expect(ended["entitlements"]?["pro"]?["active"]?.bool == false)
            #expect(
                eventually(within: 2000) { second.log.contains("\"event\":\"test_clock_moved\"") })
            let third = try deed.serve("--test-clock")
            #expect(try client.read("\(third.url)/v1/test/clock")["now"]?.string == now)
        }

        @Test("Without the flag its database is not served, and stays unchanged")
        func flagNeeded() throws {
            let key = try deed.makeKey()
            let unflagged = try deed.serve()
            var client = try APIClient(key: key)
            let missing = try move(unflagged, &client, #"{"advance":"P1D"}"#)
            #expect(missing.status == 404)
            #expect(missing.json["code"]?.string == "test_clock_missing")
            #expect(
                try client.get("\(unflagged.url)/healthz").header("Deed-Test-Clock") == nil)

            // An instance on the machine's clock stops when another instance gives the database a test clock.
            let service = try deed.serve("--test-clock")
            #expect(unflagged.process.wait(milliseconds: 20_000) == 1)
            #expect(unflagged.log.contains("follows a test clock"))
            _ = try move(service, &client, #"{"now":"2030-01-01T00:00:00Z"}"#)

            let refused = try deed.run("serve", "--listen", "127.0.0.1:0")
            #expect(refused.code == 1)
            #expect(refused.errors.contains("Add --test-clock"))
            let grant = [
                "grant", "--customer", "u1", "--entitlement", "pro", "--for", "P1D", "--reason",
                "r",
            ]
            let unnamed = try deed.run(grant + ["--json"])
            #expect(unnamed.code == 1)
            #expect(unnamed.errors.contains("2030-01-01T00:00:00.000Z"))
            let named = try deed.run(grant + ["--test-clock"])
            #expect(named.output.contains("2030-01-02T00:00:00.000Z"))
            let byVariable = try deed.run(grant, variables: ["DEED_TEST_CLOCK": "1"])
            #expect(byVariable.code == 0)
            // Commands that only read follow the test clock automatically.
            let shown = try deed.run("customer", "show", "u1", "--json")
            #expect(try shown.json["at"]?.string == "2030-01-01T00:00:00.000Z")
            #expect(
                try deed.run("status", "--json").json["test_clock"]?.string
                    == "2030-01-01T00:00:00.000Z")
            #expect(try deed.run("audit", "--projections").code == 0)
        }

        @Test("A command cannot use the clock of a database that has none")
        func noClock() throws {
            _ = try deed.makeKey()
            let answer = try deed.run("project", "create", "other", "--test-clock", "--json")
            #expect(answer.code == 1)
            #expect(answer.errors.contains("test_clock_missing"))
            let wrong = try deed.run(
                "project", "create", "other", variables: ["DEED_TEST_CLOCK": "perhaps"])
            #expect(wrong.code == 2)
        }

        @Test("A database with any production data gets none")
        func realCustomers() throws {
            _ = try deed.makeKey()
            let granted = try deed.run(
                "grant", "--customer", "u1", "--entitlement", "pro", "--for", "P1Y", "--reason", "r"
            )
            try #require(granted.code == 0, "\(granted.errors)")
            func isRefused() throws -> Bool {
                let refused = try deed.run("serve", "--listen", "127.0.0.1:0", "--test-clock")
                return refused.code == 1 && refused.errors.contains("has customers in production")
            }
            #expect(try isRefused())
            for (table, insertion) in [
                (
                    "holders",
                    """
                    insert into deed.holders (original, project, store, environment, app, customer)
                    values ('1', 'default', 'apple', 'production', 'com.example.game', 'u1')
                    """
                ),
                (
                    "tokens",
                    """
                    insert into deed.tokens (token, project, environment, customer)
                    values ('0', 'default', 'production', 'u1')
                    """
                ),
            ] {
                try database.run("delete from deed.customers")
                try database.run(insertion)
                #expect(try isRefused(), "\(table)")
                try database.run("delete from deed.\(table)")
            }
            #expect(try database.number("select count(*) from deed.test_clock") == 0)
        }

        @Test("A variable left in a shell can name a clock, but never makes one")
        func leftOver() throws {
            _ = try deed.makeKey()
            let serve = ["serve", "--listen", "127.0.0.1:0"]
            let refused = try deed.run(serve, variables: ["DEED_TEST_CLOCK": "1"])
            #expect(refused.code == 1)
            #expect(refused.errors.contains("Unset the variable"))
            #expect(try database.number("select count(*) from deed.test_clock") == 0)
        }

        @Test(
            "Operators' calls at their own address show it, and do not move it"
        )
        func apart() throws {
            let key = try deed.makeKey()
            let service = try deed.serve("--test-clock", "--operations-listen", "127.0.0.1:0")
            let port = try #require(
                service.log.firstMatch(of: /"operations_port":(\d+)/).map { String($0.1) })
            var client = try APIClient(key: key)
            let ready = try client.get("http://127.0.0.1:\(port)/readyz")
            #expect(ready.status == 200)
            let now = try #require(ready.header("Deed-Test-Clock"))
            #expect(try client.read("\(service.url)/v1/test/clock")["now"]?.string == now)
            // This address does not serve the API's calls.
            var http = try HTTPClient()
            let clock = OutboundRequest("GET", "http://127.0.0.1:\(port)/v1/test/clock")
            #expect(try http.send(clock).status == 404)
        }

        @Test("Keys made after many unknown ones are found, however long the clock stands still")
        func unknownKeys() throws {
            _ = try deed.makeKey()
            let service = try deed.serve("--test-clock")
            for number in 0..<60 {
                var stranger = try APIClient(
                    key: "deed_admin_" + String(repeating: "a", count: 30) + "\(1000 + number)")
                let status = try stranger.send("GET", "\(service.url)/v1/catalog").status
                // After some attempts, the address has to wait. This uses the machine's clock.
                #expect([401, 429].contains(status))
            }
            let made = try deed.run(
                "key", "create", "--role", "admin", "--json",
                variables: ["DEED_TEST_CLOCK": "1"])
            var client = try APIClient(key: try #require(made.json["key"]?.string))
            #expect(
                try eventually(within: 2000) {
                    try client.send("GET", "\(service.url)/v1/test/clock").status == 200
                })
        }
    }
}
