import Foundation
import Glibc
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Secrets of webhooks, and whom they trust", .serialized, .timeLimit(.minutes(20)))
    struct WebhookSecrets {
        private static let value = "s3cret-header-value"

        @Test("Secrets and fixed headers are in no log, event, metric, answer or dump")
        func hidden() throws {
            let ground = try WebhookGround("--webhook-retries", "1,1")
            let receivers = try WebhookReceivers([("echo", "echo"), ("sick", "always")])
            let value = WebhookSecrets.value
            var ids: [String] = []
            var secrets: [String] = [value]
            for name in ["echo", "sick"] {
                let body = #"""
                    {"url":"\#(receivers.url(name))","types":["grant.given"],
                    "headers":{"X-Shop":"\#(value)","Authorization":"Bearer t0ken-\#(value)"}}
                    """#
                let made = try ground.call("POST", "", body)
                #expect(made.status == 201, "\(made.json.text)")
                ids.append(try #require(made.json["id"]?.string))
                secrets.append(String(try #require(made.json["secret"]?.string).dropFirst(6)))
            }
            try ground.give(["u1", "u2"])
            ground.expect(2, at: "echo", receivers)
            let id = try #require(ids.first)
            let rotated = try ground.call("POST", "/\(id)/rotate")
            secrets.append(String(try #require(rotated.json["secret"]?.string).dropFirst(6)))
            let tested = try ground.call("POST", "/\(id)/test")
            #expect(tested.json["status"]?.integer == 200, "\(tested.json.text)")
            try ground.give(["u3"])
            ground.expect(4, at: "echo", receivers)
            #expect(try receivers.calls("echo").allSatisfy { $0["header"]?.string == value })
            #expect(eventually(within: 30_000) { (try? ground.deliveries(id).count) == 3 })
            let answers = try ground.deliveries(id).compactMap { $0["answer"]?.string }
            #expect(answers.allSatisfy { $0.contains("***") })
            let places = try self.places(ground, ids) + [("the answer of a test", tested.json.text)]
            for (place, text) in places {
                #expect(!text.isEmpty, "\(place)")
                for secret in secrets {
                    #expect(!text.contains(secret), "a secret is in \(place)")
                }
            }
        }

        /// Returns all answers that a person may read, and everything in the database.
        private func places(
            _ ground: WebhookGround, _ ids: [String]
        ) throws -> [(String, String)] {
            var client = try APIClient(key: ground.key)
            var places = [("the log", ground.service.log)]
            for path in ["/metrics", "/v1/events?limit=1000", "/v1/trail", "/v1/webhooks"]
                + ids.map({ "/v1/webhooks/\($0)/deliveries" })
            {
                places.append((path, try client.send("GET", ground.service.url + path).text))
            }
            let url = ground.installation.databaseURL
            let tables = try queriedText(
                "select string_agg(tablename, ' ') from pg_tables where schemaname = 'deed'",
                at: url)
            for table in tables.split(separator: " ") {
                let rows = "select coalesce(string_agg(t::text, ' '), '-') from deed.\(table) as t"
                places.append((String(table), try queriedText(rows, at: url)))
            }
            return places
        }

        @Test(
            "After a rotation of the installation's key deliveries go on, with the same signature")
        func rotation() throws {
            let ground = try WebhookGround()
            let receivers = try WebhookReceivers([("one", "none")])
            let id = try ground.make(receivers, "one")
            try ground.give(["u1"])
            ground.expect(1, at: "one", receivers)
            let rotated = try ground.installation.run("secret", "rotate")
            #expect(rotated.code == 0, "\(rotated.errors)")
            let folder = ground.installation.dataFolder
            let old = try FileManager.default.contentsOfDirectory(atPath: folder)
                .filter { $0.hasPrefix("secret.key.old.") }
            #expect(old.count == 1)
            for name in old { try FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
            // Deed reads the secrets again every five seconds.
            pause(milliseconds: 6000)
            try ground.give(["u2"])
            ground.expect(2, at: "one", receivers)
            // Deed would send messages again if their progress is not stored yet.
            pause(milliseconds: 3000)
            ground.service.process.signal(SIGKILL)
            #expect(ground.service.process.wait(milliseconds: 5000) == 128 + SIGKILL)
            let next = try ground.installation.serve("--webhook-allow", "127.0.0.1")
            let later = WebhookGround(ground.installation, next, ground.key)
            try later.give(["u3"])
            later.expect(3, at: "one", receivers)
            #expect(try later.call("POST", "/\(id)/test").json["status"]?.integer == 204)
            later.expect(4, at: "one", receivers)
            #expect(try receivers.calls("one").allSatisfy { $0["genuine"]?.bool == true })
        }

        @Test("--webhook-ca trusts one more authority, and nothing else does")
        func authority() throws {
            let server = try SecureServer()
            let plain = try WebhookGround()
            let body = #"{"url":"\#(server.url)/","types":["grant.given"],"from":"end"}"#
            let made = try plain.call("POST", "", body)
            let id = try #require(made.json["id"]?.string, "\(made.json.text)")
            let refused = try plain.call("POST", "/\(id)/test").json
            #expect(refused["status"]?.isNull == true)
            #expect(
                refused["error"]?.string?.contains("could not prove its identity") == true,
                "\(refused.text)")
            plain.service.process.signal(SIGKILL)
            #expect(plain.service.process.wait(milliseconds: 5000) == 128 + SIGKILL)
            let service = try plain.installation.serve(
                "--webhook-allow", "127.0.0.1,::1", "--webhook-ca", server.authority)
            let trusting = WebhookGround(plain.installation, service, plain.key)
            let tested = try trusting.call("POST", "/\(id)/test").json
            #expect(tested["status"]?.integer == 200, "\(tested.text)")
            try trusting.give(["u1"])
            #expect(
                eventually(within: 60_000) {
                    (try? trusting.deliveries(id).first?["delivered"]?.bool) == true
                })
        }
    }
}
