import Commands
import Foundation
import JSON
import Minting
import TestSupport
import Testing

@testable import deed

extension ProgramTests {
    @Suite("Showing a customer in a terminal", .timeLimit(.minutes(20)))
    struct Showing {
        private let installation: Installation

        init() throws {
            installation = try Installation(try ScratchDatabase())
        }

        @Test("It shows everything that the API answers, as JSON and as sections")
        func whole() throws {
            let key = try installation.makeKey("backend")
            for command in [
                ["grant", "--entitlement", "pro", "--reason", "a fair one", "--ticket", "T-7"],
                ["adjust", "--currency", "coins", "--amount", "5", "--reason", "r"],
            ] {
                let done = try installation.run(command + ["--customer", "u1"])
                #expect(done.code == 0, "\(done.errors)")
            }
            let service = try installation.serve()
            var client = try APIClient(key: key)
            let opened = try client.send(
                "POST", "\(service.url)/v1/customers/u1/orders", body: #"{"order":"shop-1"}"#)
            #expect(opened.status == 200 || opened.status == 201, "\(opened.text)")
            let json = try installation.run("customer", "show", "u1", "--json")
            let at = try #require(try json.json["at"]?.string)
            let answer = try client.send("GET", "\(service.url)/v1/customers/u1?at=\(at)")
            #expect(answer.text + "\n" == json.output)
            let text = try installation.run("customer", "show", "u1").output
            for part in [
                "Entitlements\n  pro   active", "Subscriptions: none", "Purchases: none",
                "Grants\n  g_", "reason: a fair one   ticket T-7", "Balances\n  coins   5",
                "Orders\n  shop-1   open",
            ] {
                #expect(text.contains(part), "\(part)\n\(text)")
            }
        }

        @Test("An unknown customer is reported as unknown")
        func unknown() throws {
            _ = try installation.makeKey()
            let shown = try installation.run("customer", "show", "nobody")
            #expect(shown.code == 0)
            #expect(
                shown.output
                    == "Nothing was ever recorded about the customer \"nobody\" in production of "
                    + "the project \"default\"; check the id, --environment and --project.\n")
            let json = try installation.run("customer", "show", "nobody", "--json")
            #expect(try json.json["entitlements"] == [:])
            #expect(try json.json["orders"] == [])
        }

        @Test("An empty answer names the customer and the environment")
        func nothing() throws {
            _ = try installation.makeKey()
            #expect(
                try installation.run("customer", "events", "u9").output
                    == "Nothing has happened to \"u9\" in production.\n")
            let moved = try installation.run(
                "transfer", "--customer", "u9", "--purchase", "apple:1", "--undo", "--reason", "r")
            #expect(
                moved.errors.contains("in the requested environment; see: deed customer show"))
        }

        @Test("Characters that change a terminal's text direction are shown by name")
        func directions() throws {
            _ = try installation.makeKey()
            let shown = try installation.run("customer", "show", "a\u{202E}b")
            #expect(shown.output.contains("about the customer \"a<U+202E>b\" in production"))
            let json = try installation.run("customer", "show", "a\u{202E}b", "--json")
            #expect(try json.json["customer"]?.string == "a\u{202E}b")
        }
    }

    @Suite("Advice in errors")
    struct Advice {
        @Test("Every command in a text exists")
        func commands() throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            let names = Set(CommandLineTool.commands.map(\.name))
            let families = Set(CommandLineTool.commands.compactMap(\.path.first))
            var found = Set<String>()
            for folder in ["Sources", "docs", "deploy", "scripts"] {
                let base = root.appendingPathComponent(folder)
                let files = FileManager.default.enumerator(atPath: base.path)?.allObjects ?? []
                for case let file as String in files where !file.contains("decisions/") {
                    let path = base.appendingPathComponent(file).path
                    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                        continue
                    }
                    for match in text.matches(
                        of: /(?:with: |run: |see: |see |`)deed ([a-z][a-z-]*)(?: ([a-z-]+))?/)
                    {
                        let (one, two) = (String(match.1), match.2.map { "\(match.1) \($0)" })
                        let isKnown = names.contains(one) || two.map(names.contains) == true
                        let isFamily = two == nil && families.contains(one)
                        #expect(isKnown || isFamily, "\(file): deed \(two ?? one)")
                        found.insert(two ?? one)
                    }
                }
            }
            #expect(found.count > 10, "\(found.sorted())")
        }
    }
}
