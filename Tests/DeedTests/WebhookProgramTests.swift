import Foundation
import Glibc
import JSON
import Outbound
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Webhooks and their receivers", .serialized, .timeLimit(.minutes(20)))
    struct Webhooks {
        private func give(
            _ customers: [String], _ entitlement: String = "pro", at service: RunningService,
            _ key: String
        ) throws {
            var client = try APIClient(key: key)
            for customer in customers {
                let answer = try client.send(
                    "POST", "\(service.url)/v1/customers/\(customer)/grants",
                    body: #"{"entitlement":"\#(entitlement)","reason":"r","allow_unknown":true}"#)
                #expect(answer.status == 201, "\(answer.text)")
            }
        }

        private func call(
            _ method: String, _ path: String, _ body: String = "", idempotencyKey: String? = nil,
            at service: RunningService, _ key: String
        ) throws -> (status: Int, json: JSON) {
            var client = try APIClient(key: key)
            let answer = try client.send(
                method, "\(service.url)/v1/webhooks\(path)", body: body,
                idempotencyKey: idempotencyKey)
            return (answer.status, (try? JSON.read(answer.text)) ?? .null)
        }

        /// Returns a Python interpreter with the libraries, set up for the test.
        private func python(in folder: borrowing ScratchFolder) throws -> String {
            let environment = folder.file("python")
            for words in [
                ["python3", "-m", "venv", environment],
                [
                    "\(environment)/bin/pip", "install", "--quiet", "--disable-pip-version-check",
                    "standardwebhooks==1.*", "cryptography",
                ],
            ] {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.arguments = words
                try process.run()
                process.waitUntilExit()
                try #require(process.terminationStatus == 0, "\(words) needs python3-venv and PyPI")
            }
            return "\(environment)/bin/python"
        }

        @Test(
            "The public libraries accept each call, before and after a rotation, and no change to it"
        )
        func libraries() throws {
            let folder = try ScratchFolder()
            let (service, key, installation) = try begin()
            let receivers = try WebhookReceivers(
                [("deed", "none"), ("cloud", "none")], python: try python(in: folder))
            var made: [String: JSON] = [:]
            for (name, format) in [("deed", "deed"), ("cloud", "cloudevents")] {
                let webhook = try installation.makeWebhook(
                    receivers, name, "--format", format, "--types", "entitlement.*,grant.given")
                try receivers.setKeys(
                    name, webhook["secret"]?.string ?? "", webhook["public_key"]?.string ?? "")
                made[name] = webhook
            }
            try give(["u1", "ü2", "u 3"].map(\.pathCoded), at: service, key)
            for name in made.keys {
                #expect(eventually(within: 60_000) { (try? receivers.calls(name).count) == 6 })
            }
            let id = try #require(made["deed"]?["id"]?.string)
            let rotated = try call("POST", "/\(id)/rotate", at: service, key)
            #expect(rotated.status == 200)
            let fresh = try #require(rotated.json["secret"]?.string)
            #expect(fresh != made["deed"]?["secret"]?.string)
            // The receiver still uses the old key.
            try give(["u4"], at: service, key)
            #expect(eventually(within: 60_000) { (try? receivers.calls("deed").count) == 8 })
            try receivers.setKeys("deed", fresh, rotated.json["public_key"]?.string ?? "")
            pause(milliseconds: 6000)
            let tested = try call(
                "POST", "/\(id)/test", #"{"type":"entitlement.ended"}"#, at: service, key)
            #expect(tested.json["status"]?.integer == 204, "\(tested.json.text)")
            try give(["u5"], at: service, key)
            #expect(eventually(within: 60_000) { (try? receivers.calls("deed").count) == 11 })
            #expect(try receivers.calls("deed").contains { $0["test"]?.string == "1" })
            #expect(receivers.wrong == "")
            for text in [service.log, try dump(installation)] {
                for webhook in made.values {
                    let secret = try #require(webhook["secret"]?.string)
                    #expect(!text.contains(secret.dropFirst(6)), "a secret is in the open")
                }
            }
        }

        private func begin(
            _ options: String...
        ) throws -> (RunningService, String, Installation) {
            let installation = try Installation()
            let key = try installation.makeKey()
            let service = try installation.serve(["--webhook-allow", "127.0.0.1"] + options)
            return (service, key, installation)
        }

        /// Returns everything in the log and its tables, as text.
        private func dump(_ installation: Installation) throws -> String {
            var texts: [String] = []
            for table in ["events", "webhook_secrets", "webhook_places", "webhook_attempts"] {
                let rows = "select string_agg(t::text, E'\\n') from deed.\(table) as t"
                texts.append(try queriedText(rows, at: installation.databaseURL))
            }
            return texts.joined(separator: "\n")
        }

        @Test("A failing customer waits and others go on; resume sends again what was parked")
        func waiting() throws {
            let (service, key, installation) = try begin("--webhook-retries", "1,1")
            let receivers = try WebhookReceivers([("sick", "always"), ("well", "none")])
            let sick = try installation.makeWebhook(receivers, "sick", "--types", "grant.given")
            _ = try installation.makeWebhook(receivers, "well", "--types", "grant.given")
            let id = try #require(sick["id"]?.string)
            try give(["u1", "u2", "u1"], at: service, key)
            #expect(eventually(within: 60_000) { (try? receivers.calls("well").count) == 3 })
            #expect(
                eventually(within: 60_000) {
                    (try? call("GET", "/\(id)", at: service, key))?.json["state"]?.string
                        == "parked"
                })
            #expect(eventually(within: 10_000) { service.log.contains("webhook_parked") })
            let shown = try call("GET", "/\(id)/deliveries", at: service, key).json
            #expect((shown["deliveries"]?.array?.count ?? 0) >= 3)
            #expect(shown["waiting"]?.array?.count == 2)
            try receivers.heal()
            #expect(try call("POST", "/\(id)/resume", at: service, key).status == 200)
            #expect(eventually(within: 60_000) { (try? receivers.calls("sick").count) == 3 })
            #expect(
                eventually(within: 60_000) {
                    let now = (try? call("GET", "/\(id)", at: service, key))?.json
                    return now?["state"]?.string == "active" && now?["waiting"]?.integer == 0
                })
            let versions = try receivers.calls("sick").filter { $0["customer"]?.string == "u1" }
                .compactMap { $0["version"]?.integer }
            #expect(versions == versions.sorted())
        }

        @Test("A replay sends the same ids again, once for one idempotency key")
        func replay() throws {
            let (service, key, installation) = try begin()
            let receivers = try WebhookReceivers([("one", "none")])
            let id = try #require(
                try installation.makeWebhook(receivers, "one", "--types", "grant.given")["id"]?
                    .string)
            try give(["u1", "u2", "u3"], at: service, key)
            #expect(eventually(within: 60_000) { (try? receivers.calls("one").count) == 3 })
            let range = #"{"since":"2020-01-01T00:00:00Z","until":"2099-01-01T00:00:00Z"}"#
            let first = try call(
                "POST", "/\(id)/replay", range, idempotencyKey: "r", at: service, key)
            #expect(first.status == 202, "\(first.json.text)")
            let other = #"{"since":"2021-01-01T00:00:00Z","until":"2022-01-01T00:00:00Z"}"#
            let reused = try call(
                "POST", "/\(id)/replay", other, idempotencyKey: "r", at: service, key)
            #expect(reused.json["code"]?.string == "idempotency_mismatch", "\(reused.json.text)")
            #expect(eventually(within: 60_000) { (try? receivers.calls("one").count) == 6 })
            let again = try receivers.calls("one").filter { !($0["replay"]?.isNull ?? true) }
            #expect(Set(again.map { $0["replay"] }) == [first.json["replay"]])
            let ids = Set(try receivers.calls("one").compactMap { $0["id"]?.string })
            #expect(ids.count == 3)
            let event = #"{"event":"\#(ids.min() ?? "")"}"#
            #expect(try call("POST", "/\(id)/replay", event, at: service, key).status == 202)
            #expect(eventually(within: 60_000) { (try? receivers.calls("one").count) == 7 })
            let unknown = try call(
                "POST", "/\(id)/replay", #"{"event":"1-1-00000000"}"#, at: service, key)
            #expect(unknown.status == 404)
            // Deed sends nothing more to a removed webhook.
            #expect(try call("DELETE", "/\(id)", at: service, key).status == 200)
            try give(["u4"], at: service, key)
            pause(milliseconds: 1000)
            #expect(try receivers.calls("one").count == 7)
        }

        @Test(
            "Without --webhook-allow nothing of the own network is reached, and no socket is opened"
        )
        func network() throws {
            let installation = try Installation()
            let key = try installation.makeKey()
            let service = try installation.serve()
            let receivers = try WebhookReceivers([("one", "none")])
            let port = receivers.ports["one"] ?? 0
            let plain = try call(
                "POST", "", #"{"url":"http://127.0.0.1:\#(port)/"}"#, at: service, key)
            #expect(plain.json["member"]?.string == "url")
            for host in ["127.0.0.1", "LocalHost", "[::1]", "[::ffff:127.0.0.1]", "10.1.2.3"] {
                let refused = try call(
                    "POST", "", #"{"url":"https://\#(host):\#(port)/"}"#, at: service, key)
                #expect(refused.json["member"]?.string == "url")
                #expect(refused.json["detail"]?.string?.contains("--webhook-allow") == true)
            }
            // A command set these addresses with more permission than the service has, or in a form
            // that hides the address.
            var made = ["127.0.0.1", "[::ffff:127.0.0.1]"].map { host in
                try? installation.run(
                    "webhook", "create", "--url", "https://\(host):\(port)/", "--json",
                    "--webhook-allow", "127.0.0.1"
                ).json
            }
            made.append(
                try call("POST", "", #"{"url":"https://2130706433:\#(port)/"}"#, at: service, key)
                    .json)
            for webhook in made {
                let id = try #require(webhook?["id"]?.string)
                let tested = try call("POST", "/\(id)/test", at: service, key)
                #expect(tested.json["status"]?.isNull == true)
                #expect(
                    tested.json["error"]?.string?.contains("has no public address") == true)
            }
        }

        @Test(
            "An example receiver verifies and acts once, also after it was killed",
            arguments: ["python3 receive.py", "node receive.mjs"])
        func examples(_ program: String) throws {
            let words = program.split(separator: " ").map(String.init)
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appending(path: "../../docs/examples/webhooks/\(words[1])").path
            let folder = try ScratchFolder()
            let (service, key, installation) = try begin(
                "--webhook-retries", "1,1,2,2,5,5,5,5,5,5,5,5")
            let port = try freePort()
            let made = try installation.run(
                "webhook", "create", "--url", "http://127.0.0.1:\(port)/", "--webhook-allow",
                "127.0.0.1",
                "--types", "grant.given", "--json")
            let secret = try #require(try made.json["secret"]?.string)
            _ = try folder.write(secret + "\n", to: "secret")
            func start() throws -> ChildProcess {
                try ChildProcess(
                    "/usr/bin/env",
                    [
                        words[0], script, "--listen", "127.0.0.1:\(port)", "--secret-file",
                        folder.file("secret"), "--out", folder.file("out"),
                    ], environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""],
                    output: folder.file("std"), errors: folder.file("err"))
            }
            func done() -> [String] {
                let text = (try? String(contentsOfFile: folder.file("out"), encoding: .utf8)) ?? ""
                return text.split(separator: "\n").compactMap {
                    (try? JSON.read(String($0)))?["id"]?.string
                }
            }
            var receiver = try start()
            try give(["u1", "u2"], at: service, key)
            #expect(eventually(within: 60_000) { done().count == 2 })
            receiver.signal(SIGKILL)
            _ = receiver.wait(milliseconds: 5000)
            try give(["u1", "u3"], at: service, key)
            receiver = try start()
            defer {
                receiver.signal(SIGKILL)
                _ = receiver.wait(milliseconds: 5000)
            }
            #expect(eventually(within: 60_000) { done().count == 4 })
            let id = try #require(try made.json["id"]?.string)
            let range = #"{"since":"2020-01-01T00:00:00Z","until":"2099-01-01T00:00:00Z"}"#
            #expect(try call("POST", "/\(id)/replay", range, at: service, key).status == 202)
            let attempts = {
                (try? call("GET", "/\(id)/deliveries", at: service, key))?.json["deliveries"]?.array
            }
            #expect(
                eventually(within: 60_000) {
                    attempts()?.filter {
                        $0["replay"]?.isNull == false && $0["delivered"]?.bool == true
                    }
                    .count == 4
                })
            #expect(done().count == 4 && Set(done()).count == 4)
            let tested = try call("POST", "/\(id)/test", at: service, key)
            #expect(tested.json["status"]?.integer == 204, "\(tested.json.text)")
            var stranger = try HTTPClient()
            let forged = try stranger.send(
                OutboundRequest("POST", "http://127.0.0.1:\(port)/", body: Array("{}".utf8)))
            #expect(forged.status == 401)
        }
    }
}

extension String {
    fileprivate var pathCoded: String {
        addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self
    }
}
