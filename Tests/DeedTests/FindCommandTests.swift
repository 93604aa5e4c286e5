import Foundation
import Glibc
import JSON
import Machine
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Finding a customer on the command line")
    final class FindCommand {
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

        private func run(_ arguments: String...) throws -> Finished {
            try deed.run(
                arguments,
                variables: [
                    "DEED_SECRET_KEY_FILE": keyFile, "DEED_EXTRA_ROOTS": "\(data)/roots",
                ])
        }

        /// Starts a practice store, and an app that knows the store's key.
        private func connect() throws -> ServingProgram {
            let store = try ServingProgram(
                Installation.practice, ["serve", "--data-dir", data, "--listen", "127.0.0.1:0"],
                in: folder)
            #expect(try run("project", "create", "default", "--if-missing").code == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(data)/keys")
            let name = try #require(names.first { $0.hasPrefix("AuthKey_") })
            let issuer = try String(contentsOfFile: "\(data)/keys/issuer", encoding: .utf8)
                .trimmingCharacters(in: .newlines)
            let set = try run(
                "app", "set", "--bundle-id", "com.example.game", "--apple-id", "1234567890",
                "--issuer-id", issuer, "--key-id", String(name.dropFirst(8).dropLast(3)),
                "--key-file", "\(data)/keys/\(name)", "--store-url", store.url)
            #expect(set.code == 0, "\(set.errors)")
            return store
        }

        @Test("An order number is asked for once somebody says so, and leads to who has it")
        func order() throws {
            let store = try connect()
            let step: JSON = ["do": "buy", "customer": "u1", "product": "level2"]
            let bought = try store.ask("POST", "/practice/steps", step).json
            let id = try #require(bought["transaction"]?.string)
            let state = try store.ask("GET", "/practice/state?customer=u1", nil).json
            let order = try #require(
                state["customers"]?.array?.first?["transactions"]?.array?.first?["order"]?.string)

            let unasked = try run("find", order)
            #expect(unasked.code == 0)
            #expect(
                unasked.output
                    == "Nothing in the project \"default\" is called \"\(order)\" or begins with it.\n"
                    + "If it is an order number from a store's e-mail, ask the store: deed find \(order) --ask-store\n"
            )
            let asked = try run("find", order, "--ask-store")
            #expect(asked.code == 0, "\(asked.errors)")
            let lines = asked.output.split(separator: "\n").map(String.init)
            #expect(
                lines == [
                    "The store of com.example.game knows the order number \(order) (sandbox); new "
                        + "transactions were recorded (1).",
                    "order number \(order)   sandbox   apple:\(id)   level2   no customer has claimed it; to "
                        + "give it to one: deed unclaimed attach apple:\(id) --environment sandbox",
                ])
            let shown = try run("store", "order", order, "--bundle-id", "com.example.game")
            let standing =
                "apple:\(id)   transaction \(id)   level2   bought   no customer has claimed it   "
            #expect(shown.output.hasPrefix(standing), "\(shown.output)")
            let attached = try run(
                "unclaimed", "attach", "apple:\(id)", "--customer", "ann", "--reason", "r",
                "--environment", "sandbox")
            #expect(attached.code == 0, "\(attached.errors)")
            let again = try run("find", order, "--ask-store")
            #expect(again.output.contains("customer ann"), "\(again.output)")
            let held = try run(
                "store", "order", order, "--bundle-id", "com.example.game", "--json")
            let told = try held.json["recorded"]?.array?.first?["standings"]?.array?.first
            #expect(told?["customer"] == "ann" && told?["product"] == "level2")
            #expect(told?["state"] == "bought", "\(held.output)")
            withExtendedLifetime(store) {}
        }

        @Test(
            "A number that the store does not know is said to be unknown, and nothing is recorded")
        func unknown() throws {
            var store: ServingProgram? = try connect()
            let asked = try run("find", "MK5NONE", "--ask-store")
            #expect(asked.code == 0, "\(asked.errors)")
            #expect(
                asked.output.contains(
                    "The store of com.example.game does not know the order number MK5NONE (sandbox)."
                ))
            let shown = try run("store", "order", "MK5NONE", "--bundle-id", "com.example.game")
            #expect(shown.output == "The store knows no such order, so nothing was recorded.\n")
            withExtendedLifetime(store) { store = nil }
            let failed = try run("find", "MK5NONE", "--ask-store", "--json")
            #expect(failed.code == 0, "\(failed.errors)")
            let told = try failed.json["store"]?.array?.first
            #expect(told?["outcome"] == "failed" && told?["code"] == "store_unavailable")
        }

        @Test(
            "What asks for nothing sensible ends with 2, and says why",
            arguments: [
                (["find"], "WORDS is missing"), (["find", "u"], "one character"),
                (["find", "u*"], "wildcard"), (["find", "%"], "one character"),
                (["find", "%u"], "wildcard"), (["find", " "], "empty"),
                (["find", "uu", "--limit", "21"], "--limit"),
                (["find", "uu", "--environment", "moon"], "--environment"),
                (["find", "uu", "--app-transaction", "704"], "not both"),
                (["find", "--app-transaction", "704", "--ask-store"], "--ask-store"),
            ])
        func usage(_ words: [String], _ reason: String) throws {
            let done = try deed.run(words)
            #expect(done.code == 2, "\(done.output)")
            #expect(done.errors.contains(reason), "\(done.errors)")
        }
    }
}
