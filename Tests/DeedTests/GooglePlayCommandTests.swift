import Foundation
import Glibc
import JSON
import Outbound
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Google Play on the command line")
    final class GooglePlayCommands {
        private let folder: ScratchFolder
        private let deed: Installation
        private let data: String
        private let keyFile: String

        init() throws {
            folder = try ScratchFolder()
            deed = try Installation(ScratchDatabase())
            data = folder.file("practice")
            keyFile = folder.file("secret.key")
        }

        private func run(_ arguments: String...) throws -> Finished { try run(arguments) }

        private func run(_ arguments: [String]) throws -> Finished {
            try deed.run(arguments, variables: ["DEED_SECRET_KEY_FILE": keyFile])
        }

        private var accountFile: String { "\(data)/keys/google-service-account.json" }

        /// Starts a practice store, and an app that knows its key.
        private func connect() throws -> ServingProgram {
            let store = try ServingProgram(
                Installation.practice, ["serve", "--data-dir", data, "--listen", "127.0.0.1:0"],
                in: folder)
            #expect(try run("project", "create", "default", "--if-missing").code == 0)
            let catalog =
                #"{"products":[{"store":"google","id":"level2","kind":"non_consumable","#
                + #""entitlements":["level2"]}]}"#
            #expect(
                try run("catalog", "apply", try folder.write(catalog, to: "catalog")).code == 0)
            let set = try run(
                "app", "set", "--package", "com.example.game", "--sandbox-access", "all",
                "--service-account-file", accountFile, "--store-url", store.url)
            #expect(set.code == 0, "\(set.errors)")
            return store
        }

        private func step(_ json: JSON, _ store: ServingProgram) throws -> JSON {
            let answer = try store.ask("POST", "/practice/steps", json)
            #expect(answer.status == 200)
            return answer.json
        }

        @Test("A purchase is bought, handed in, read, refunded, handed in again, and gone")
        func wholeWay() throws {
            let store = try connect()
            let (service, key) = try serve()
            let bought = try step(
                ["do": "buy", "store": "google", "customer": "u1", "product": "level2"], store)
            let token = try #require(bought["google"]?.array?.first?["token"]?.string)
            let submit = [
                "submit", "--google-token", token, "--package", "com.example.game", "--customer",
                "u1", "--json",
            ]
            let first = try run(submit)
            #expect(first.code == 0, "\(first.errors) \(first.output)")
            #expect(try first.json["items"]?.array?.first?["outcome"] == "recorded")
            #expect(!first.output.contains(token))
            var client = try APIClient(key: key)
            let path = "\(service.url)/v1/customers/u1/entitlements"
            let read = try JSON.read(client.send("GET", path).text)
            #expect(read["entitlements"]?["level2"]?["active"] == true, "\(read.text)")
            _ = try step(
                ["do": "refund", "store": "google", "customer": "u1", "product": "level2"], store)
            let body: JSON = [
                "google": [["package": "com.example.game", "token": .string(token)]]
            ]
            let again = try client.send(
                "POST", "\(service.url)/v1/customers/u1/receipts", body: body.text)
            #expect(again.status == 200, "\(again.text)")
            let answer = try JSON.read(again.text)
            #expect(answer["items"]?.array?.first?["outcome"] == "recorded", "\(again.text)")
            #expect(answer["entitlements"]?["level2"]?["active"] == false, "\(again.text)")
            for proof in ["--projections", "--evidence"] {
                let audit = try run("audit", proof)
                #expect(audit.code == 0, "\(audit.output) \(audit.errors)")
            }
        }

        @Test("The check of an app tells each step, and what to do where one fails")
        func check() throws {
            let store = try connect()
            let app = ["app", "check", "--package", "com.example.game"]
            let good = try run(app + ["--json"])
            #expect(good.code == 0, "\(good.errors)")
            let steps = try good.json["steps"]?.array ?? []
            #expect(
                steps.map { $0["step"]?.string } == ["key", "token", "purchases", "orders"])
            #expect(steps.allSatisfy { $0["passed"] == true })
            let other = try run(
                "app", "set", "--package", "com.example.other", "--service-account-file",
                accountFile, "--store-url", store.url)
            #expect(other.code == 0)
            let unknown = try run("app", "check", "--package", "com.example.other")
            #expect(unknown.code == 1 && unknown.errors.contains("check the package name"))
            _ = try run("app", "set", "--package", "com.example.game", "--forget-credentials")
            let without = try run(app)
            #expect(without.code == 1 && without.errors.contains("--service-account-file"))
        }

        @Test("An app is named in its store's word, and what belongs to another store is refused")
        func flags() throws {
            #expect(try run("project", "create", "default").code == 0)
            let app = ["app", "set", "--package", "com.example.game"]
            #expect(try run(app + ["--store", "google"]).code == 0)
            #expect(try run(app + ["--store", "apple"]).code == 2)
            #expect(try run(app + ["--store", "amazon"]).code == 2)
            #expect(try run(app + ["--apple-id", "1"]).code == 2)
            #expect(try run(app + ["--issuer-id", "x"]).code == 2)
            #expect(try run(app + ["--bundle-id", "com.example.game"]).code == 2)
            #expect(try run("app", "set").code == 2)
            let foreign = try folder.write(
                #"{"type":"service_account","client_email":"a","private_key_id":"b","#
                    + #""private_key":"c","token_uri":"https://example.com/token"}"#,
                to: "foreign.json")
            let refused = try run(app + ["--service-account-file", foreign])
            #expect(refused.code == 1 && refused.errors.contains("private_key"))
            let submit = ["submit", "--customer", "u1", "--google-token", "t"]
            #expect(try run(submit).errors.contains("--package is missing"))
            #expect(
                try run(submit + ["--package", "game"]).errors.contains("is not a package name"))
            let order = try run(
                "store", "finish", "1", "--package", "com.example.game")
            #expect(order.code == 1 && order.errors.contains("store does not support that"))
        }

        @Test("The key is in no output, log, event, metric or answer")
        func planted() throws {
            let store = try connect()
            let (service, key) = try serve()
            var client = try APIClient(key: key)
            let file = try String(contentsOfFile: accountFile, encoding: .utf8)
            let json = try JSON.read(file)
            let pem = try #require(json["private_key"]?.string)
            let heart = String(pem.split(separator: "\n")[2])
            let email = try #require(json["client_email"]?.string)
            var seen = ""
            let bought = try step(
                ["do": "buy", "store": "google", "customer": "u1", "product": "level2"], store)
            let token = try #require(bought["google"]?.array?.first?["token"]?.string)
            for token in [token, "no-such-token-at-all-in-any-store"] {
                let body: JSON = [
                    "google": [["package": "com.example.game", "token": .string(token)]]
                ]
                seen += try client.send(
                    "POST", "\(service.url)/v1/customers/u1/receipts", body: body.text
                ).text
            }
            let put: JSON = ["credentials": ["service_account": .string(file)]]
            seen += try client.send(
                "PUT", "\(service.url)/v1/apps/com.example.game?store=google", body: put.text
            ).text
            let broken: JSON = [
                "credentials": [
                    "service_account": .string(file.replacing("service_account", with: "user"))
                ]
            ]
            seen += try client.send(
                "PUT", "\(service.url)/v1/apps/com.example.game?store=google", body: broken.text
            ).text
            seen += try client.send("GET", "\(service.url)/v1/settings").text
            seen += String(
                decoding: try client.get("\(service.url)/metrics").body, as: UTF8.self)
            for arguments in [
                ["app", "list", "--json"], ["status", "--json"], ["doctor", "--json"],
                ["app", "check", "--package", "com.example.game"],
                ["events", "--customer", "u1", "--environment", "sandbox", "--json"],
            ] {
                let done = try run(arguments)
                seen += done.output + done.errors
            }
            seen += service.log
            #expect(seen.count > 10_000)
            for secret in [heart, email, "ya29.", "eyJhbGciOiJSUzI1NiI"] {
                #expect(!seen.contains(secret), "\(secret.prefix(8))…")
            }
            // The token is sensitive. It may occur in events, because Deed needs it to ask Google,
            // but never in the log output.
            #expect(!service.log.contains(token))
        }

        @Test("Five hundred calls that wait for Google take no threads and little memory")
        func crowd() throws {
            let store = try connect()
            let (service, key) = try serve()
            func call(_ number: Int) throws -> RawClient {
                let body = #"{"google":[{"package":"com.example.game","token":"t\#(number)"}]}"#
                let client = try RawClient(port: service.port, milliseconds: 60_000)
                client.send(
                    "POST /v1/customers/w\(number)/receipts HTTP/1.1\r\nHost: h\r\n"
                        + "Authorization: Bearer \(key)\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                return client
            }
            // Deed gets its access token before the store falls silent.
            #expect(try call(0).reply()?.status == 200)
            store.signal(SIGSTOP)
            defer { store.signal(SIGCONT) }
            let before = try Footprint(of: service.process)
            let started = monotonicMilliseconds()
            let waiting = try (1...500).map(call)
            pause(milliseconds: 2000)
            let during = try Footprint(of: service.process)
            #expect(during.threads - before.threads < 20)
            #expect(during.memory - before.memory < 50_000, "KiB")
            for client in waiting { #expect(client.reply()?.status == 202) }
            // If the calls ran one after another, they would take 40 minutes.
            #expect(monotonicMilliseconds() - started < 60_000)
            let kept = try run("status", "--json").json["intake"]?["waiting"]?.integer
            #expect(kept == 500)
            print("\(during.memory - before.memory) KiB for 500 calls")
        }

        private func serve() throws -> (RunningService, String) {
            let key = try deed.makeKey()
            return (try deed.serve("--secret-key-file", keyFile), key)
        }
    }
}
