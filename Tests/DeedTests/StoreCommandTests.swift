import Foundation
import Glibc
import JSON
import Machine
import Outbound
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Asking the store on the command line")
    final class StoreCommands {
        private let folder: ScratchFolder
        private let deed: Installation
        private let data: String
        private let keyFile: String

        init() throws {
            folder = try ScratchFolder()
            // If root runs the commands, the folder's owner also owns new files and runs the service.
            if getuid() == 0, let user = ServiceUser.usualOne {
                chown(folder.path, user.id, user.group)
            }
            deed = try Installation(ScratchDatabase())
            data = folder.file("practice")
            keyFile = folder.file("secret.key")
        }

        private func run(_ arguments: String...) throws -> Finished { try run(arguments) }

        private func run(_ arguments: [String]) throws -> Finished {
            try deed.run(
                arguments,
                variables: [
                    "DEED_SECRET_KEY_FILE": keyFile, "DEED_EXTRA_ROOTS": "\(data)/roots",
                ])
        }

        /// Starts a practice store, and an app that knows the store's key.
        private func connect(_ more: String...) throws -> ServingProgram {
            let store = try ServingProgram(
                Installation.practice,
                ["serve", "--data-dir", data, "--listen", "127.0.0.1:0"] + more, in: folder)
            #expect(try run("project", "create", "default", "--if-missing").code == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(data)/keys")
            let name = try #require(names.first { $0.hasPrefix("AuthKey_") })
            let issuer = try String(contentsOfFile: "\(data)/keys/issuer", encoding: .utf8)
                .trimmingCharacters(in: .newlines)
            let secret = try folder.write("practice-shared-secret\n", to: "secret")
            let set = try run(
                "app", "set", "--bundle-id", "com.example.game", "--apple-id", "1234567890",
                "--receipts", "store", "--issuer-id", issuer,
                "--key-id", String(name.dropFirst(8).dropLast(3)),
                "--key-file", "\(data)/keys/\(name)", "--shared-secret-file", secret,
                "--store-url", store.url)
            #expect(set.code == 0, "\(set.errors)")
            return store
        }

        private func buy(_ product: String, _ store: ServingProgram) throws -> JSON {
            let step: JSON = ["do": "buy", "customer": "u1", "product": .string(product)]
            return try store.ask("POST", "/practice/steps", step).json
        }

        @Test(
            "An operator who sends credentials to a local port is told who may listen there"
        )
        func portsOfOthers() throws {
            _ = try connect()
            func set(_ words: String...) throws -> Finished {
                try run(["app", "set", "--bundle-id", "com.example.game"] + words)
            }
            let kept = try set()
            #expect(kept.code == 0)
            #expect(kept.errors.contains("who listens on that port first gets them"))
            #expect(try set("--store-url", "none").errors == "")
            // The address can be set before the credentials.
            let early = try set("--forget-credentials", "--store-url", "http://127.0.0.1:9090")
            #expect(early.code == 0)
            #expect(early.errors.contains("who listens on that port first gets them"))
            #expect(try set("--store-url", "none").errors == "")
        }

        @Test("A history is recorded, and a rotated key still opens the store")
        func history() throws {
            let store = try connect()
            let id = try #require(try buy("pro.month", store)["transaction"]?.string)
            _ = try buy("level2", store)
            let app = ["--bundle-id", "com.example.game", "--json"]
            let first = try run("store", "history", id, app[0], app[1], app[2])
            #expect(first.code == 0, "\(first.errors)")
            let outcomes = try first.json["recorded"]?.array?.map { $0["outcome"]?.string }
            #expect(outcomes == ["recorded", "recorded"])
            let before = try String(contentsOfFile: keyFile, encoding: .utf8)
            let rotated = try run("secret", "rotate", "--json")
            #expect(try rotated.json["credentials"] == 1, "\(rotated.errors)")
            let after = try String(contentsOfFile: keyFile, encoding: .utf8)
            #expect(before != after)
            let refunds = try run("store", "refunds", id, app[0], app[1])
            #expect(
                refunds.output.contains("The store lists no refund (sandbox)."), "\(refunds.output)"
            )
            let statuses = try run("store", "statuses", id, app[0], app[1], app[2])
            #expect(try statuses.json["statuses"]?.array?.first?["status"] == "active")
            try FileManager.default.removeItem(atPath: keyFile)
            let old = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasPrefix("secret.key.old.") }
            #expect(old.count == 1)
            for name in old { try FileManager.default.removeItem(atPath: folder.file(name)) }
            let locked = try run("store", "statuses", id, app[0], app[1], app[2])
            #expect(locked.code == 1 && locked.errors.contains("credentials_locked"))
            let (service, key) = try serve()
            #expect(service.log.contains("credentials_locked"))
            var client = try APIClient(key: key)
            let read = try client.send("GET", "\(service.url)/v1/customers/u1/entitlements")
            #expect(read.status == 200)
            let audit = try run("audit", "--projections")
            #expect(audit.code == 0, "\(audit.output)")
        }

        @Test(
            "Rotated twice, and twice at once, every earlier key still proves its signatures")
        func rotations() throws {
            let database = ["--secret-key-file", keyFile]
            let file = folder.file("checkpoint")
            #expect(try run(["checkpoint", "--out", file] + database).code == 0)
            for _ in 0..<2 { #expect(try run("secret", "rotate").code == 0) }
            let ended = Monitor<[Int32]>([])
            let variables = ["DEED_SECRET_KEY_FILE": keyFile]
            for number in 0..<2 {
                startThread("rotation-\(number)") { [deed] in
                    let rotated = try? deed.run(["secret", "rotate"], variables: variables)
                    let code = rotated?.code ?? -1
                    ended.change { $0.append(code) }
                }
            }
            let codes = ended.wait(milliseconds: 60_000) { $0.count == 2 ? $0 : nil }
            #expect(codes?.contains(0) == true, "\(codes ?? [])")
            let audit = try deed.run(["audit", "--against", file] + database)
            #expect(audit.code == 0, "\(audit.errors) \(audit.output)")
            let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasPrefix("secret.key.old.") }
            #expect(kept.count == 2 + (codes ?? []).count { $0 == 0 })
        }

        @Test("The check names the step that fails")
        func check() throws {
            let store = try connect()
            let unsent = try run("app", "check", "--bundle-id", "com.example.game", "--json")
            #expect(unsent.code == 1)
            let steps = try unsent.json["steps"]?.array ?? []
            #expect(steps.map { $0["passed"] ?? .null } == [true, true, false, .null, .null])
            withExtendedLifetime(store) {}
        }

        @Test("With an address that answers, every step of the check passes")
        func passes() throws {
            let made = try ServingProgram.run(
                Installation.practice, ["roots", "--data-dir", data], in: folder)
            #expect(made == 0)
            let (service, _) = try serve()
            let store = try connect("--notify", "\(service.url)/v1/stores/apple/notifications")
            let checked = try run("app", "check", "--bundle-id", "com.example.game", "--json")
            #expect(checked.code == 0, "\(checked.errors)")
            let steps = try checked.json["steps"]?.array ?? []
            #expect(steps.allSatisfy { $0["passed"] == true } && steps.count == 5)
            withExtendedLifetime(store) {}
        }

        @Test("Secrets are in no output, log, event, metric or process list")
        func planted() throws {
            let store = try connect()
            let receipt = try #require(try buy("pro.month", store)["receipt"]?.string)
            let keys = try FileManager.default.contentsOfDirectory(atPath: "\(data)/keys")
            let name = try #require(keys.first { $0.hasPrefix("AuthKey_") })
            let pem = try String(contentsOfFile: "\(data)/keys/\(name)", encoding: .utf8)
            let heart = pem.split(separator: "\n")[1]
            // The bearer tokens that Deed makes from the credentials are also secret. The last two
            // texts are their beginnings.
            let secrets = [
                "practice-shared-secret", "another-planted-secret", "a-secret-over-http",
                String(heart), "eyJhbGciOiJFUzI1NiIsImtpZ", "Bearer ey",
            ]
            var seen = ""
            let (service, key) = try serve()
            var client = try APIClient(key: key)
            seen += try judge(receipt, of: "u1", until: #""state":"believed""#, service, &client)
            // Asks again with a wrong secret, because a refusal may reveal most.
            let wrong = try folder.write("another-planted-secret", to: "wrong")
            let set = try run(
                "app", "set", "--bundle-id", "com.example.game", "--shared-secret-file", wrong)
            #expect(set.code == 0, "\(set.errors)")
            let other = try #require(try buy("season", store)["receipt"]?.string)
            seen += try judge(other, of: "u2", until: "store_secret_wrong", service, &client)
            // Also tests refusals over HTTP: one because the store's address is on this machine,
            // and one because a member is wrong.
            let app = ["app", "set", "--bundle-id", "com.example.game"]
            for (address, id, code) in [
                (store.url, name.dropFirst(8).dropLast(3), 409),
                ("none", name.dropFirst(8).dropLast(3), 200), ("none", "no id", 400),
            ] {
                #expect(try run(app + ["--store-url", address]).code == 0)
                let credentials: JSON = [
                    "issuer_id": "57246542-96fe-1a63-e053-0824d011072a", "key_id": .string("\(id)"),
                    "key": .string(pem), "shared_secret": "a-secret-over-http",
                ]
                let body: JSON = ["receipts": "store", "credentials": credentials]
                let put = try client.send(
                    "PUT", "\(service.url)/v1/apps/com.example.game", body: body.text)
                #expect(put.status == code, "\(put.text)")
                seen += put.text
            }
            #expect(try run(app + ["--store-url", store.url]).code == 0)
            // Deed made a token, but the store rejected it because of its issuer.
            let asked = try run("store", "statuses", "1", "--bundle-id", "com.example.game")
            #expect(asked.code == 1 && asked.errors.contains("rejects the key"))
            seen += asked.output + asked.errors
            seen += try client.send("GET", "\(service.url)/v1/settings").text
            seen += String(
                decoding: try client.get("\(service.url)/metrics").body, as: UTF8.self)
            seen += service.log
            for arguments in [
                ["app", "list", "--json"], ["app", "list"], ["status", "--json"],
                ["intake", "list", "--state", "all", "--json"],
            ] {
                let done = try run(arguments)
                seen += done.output + done.errors
            }
            seen += try dump()
            seen += try processes()
            #expect(seen.count > 10_000)
            for secret in secrets {
                let bytes = Data(secret.utf8)
                // A dump shows bytes as hexadecimal digits.
                let digits = bytes.map { String(format: "%02x", $0) }.joined()
                for form in [secret, digits, bytes.base64EncodedString()] {
                    #expect(!seen.contains(form), "\(form.prefix(8))…")
                }
            }
        }

        /// Queues a receipt. Returns the answer once it contains `word`.
        private func judge(
            _ receipt: String, of customer: String, until word: String, _ service: RunningService,
            _ client: inout APIClient
        ) throws -> String {
            let queued = try client.send(
                "POST", "\(service.url)/v1/customers/\(customer)/receipts",
                body: #"{"receipt":"\#(receipt)"}"#)
            #expect(queued.status == 202, "\(queued.text)")
            let answer = try JSON.read(queued.text)
            let id = try #require(answer["items"]?.array?.first?["intake"]?.string)
            var item = ""
            _ = try eventually(within: 30_000) {
                item = try client.send("GET", "\(service.url)/v1/intake/\(id)").text
                return item.contains(word)
            }
            #expect(item.contains(word), "\(item)")
            return item
        }

        @Test("Any instance reports on a requested refund from the log, once")
        func refund() throws {
            let made = try ServingProgram.run(
                Installation.practice, ["roots", "--data-dir", data], in: folder)
            #expect(made == 0)
            let (service, key) = try serve()
            let store = try connect("--notify", "\(service.url)/v1/stores/apple/notifications")
            let consented = try run(
                "project", "set", "--refund-reports", "consented", "--refund-preference", "decline")
            #expect(consented.code == 0, "\(consented.errors)")
            let catalog =
                #"{"products":[{"id":"coins.100","kind":"consumable","credits":{"coins":100}}],"#
                + #""entitlements":{},"currencies":{"coins":{}}}"#
            let applied = try run("catalog", "apply", try folder.write(catalog, to: "catalog"))
            #expect(applied.code == 0, "\(applied.errors)")
            let signed = try #require(try buy("coins.100", store)["signed_transaction"]?.string)
            var client = try APIClient(key: key)
            let submitted = try client.send(
                "POST", "\(service.url)/v1/customers/u1/receipts",
                body: #"{"signed_transactions":["\#(signed)"],"environment":"sandbox"}"#)
            #expect(submitted.status == 200, "\(submitted.text)")
            let step: JSON = ["do": "request_refund", "customer": "u1", "product": "coins.100"]
            #expect(try store.ask("POST", "/practice/steps", step).status == 200)
            // The job runs immediately after the start.
            let (other, _) = try serve()
            let events = "\(service.url)/v1/customers/u1/events?environment=sandbox"
            var seen = ""
            let isTold = try eventually(within: 30_000) {
                seen = String(decoding: try client.get(events).body, as: UTF8.self)
                return seen.contains("refund.reported")
            }
            #expect(isTold, "\(seen) \(service.log) \(other.log)")
            #expect(seen.components(separatedBy: "\"refund.reported\"").count == 2)
            let list = try run("refund", "list", "--environment", "sandbox", "--json")
            #expect(try list.json["requests"]?.array == [])
        }

        private func serve() throws -> (RunningService, String) {
            let key = try deed.makeKey()
            let service = try deed.serve(
                "--extra-roots", "\(data)/roots", "--secret-key-file", keyFile)
            return (service, key)
        }

        /// Returns a dump of the whole database.
        private func dump() throws -> String {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["pg_dump", "--dbname", deed.databaseURL]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let bytes = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            return String(decoding: bytes, as: UTF8.self)
        }

        private func processes() throws -> String {
            let all = try FileManager.default.contentsOfDirectory(atPath: "/proc")
            return all.compactMap { Int($0) }.map { process in
                let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline")
                return String(decoding: words ?? Data(), as: UTF8.self)
            }.joined(separator: "\n")
        }
    }
}
