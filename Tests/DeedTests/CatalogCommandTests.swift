import Foundation
import JSON
import Outbound
import TestSupport
import Testing
import Threading

@Suite("The catalog on the command line")
final class CatalogCommandTests {
    private static let example = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/examples/catalog.json").path

    private let folder: ScratchFolder
    private let database: ScratchDatabase
    private let deed: Installation

    init() throws {
        folder = try ScratchFolder()
        database = try ScratchDatabase()
        deed = try Installation(database)
    }

    @Test("A file is checked without a database; errors and warnings are named by their paths")
    func check() throws {
        let nowhere = ["DEED_DATABASE_URL": "postgresql:///none?host=/nowhere"]
        let fine = try deed.run("catalog", "check", Self.example, variables: nowhere)
        #expect(fine.code == 0)
        #expect(
            fine.output
                == "The catalog is fine; it has products: 7, entitlements: 5, currencies: 2.\n")
        let bad = try folder.write(#"{"products":[{"id":"a","kind":"consumable"},7]}"#, to: "bad")
        let refused = try deed.run("catalog", "check", bad, variables: nowhere)
        #expect(refused.code == 1)
        #expect(
            Set(refused.output.split(separator: "\n")) == [
                "products[0].credits is empty; state what the consumable adds to a balance",
                "products[1] is a number; it must be an object",
            ])
        #expect(refused.errors == "error: The catalog has 2 errors; correct them and try again.\n")
        let json = try deed.run("catalog", "check", bad, "--json", variables: nowhere)
        #expect(try json.json["valid"]?.bool == false)
        #expect(try json.json["errors"]?.array?.count == 2)
        let misspelt = try folder.write(#"{"products":[],"product":[]}"#, to: "misspelt")
        #expect(try deed.run("catalog", "check", misspelt, variables: nowhere).code == 1)
        let odd = try folder.write(
            #"{"products":[{"id":"a","kind":"non_consumable","entitlements":["por"]}],"#
                + #""entitlements":{"pro":{}}}"#, to: "odd")
        let warned = try deed.run("catalog", "check", odd, variables: nowhere)
        #expect(warned.code == 0)
        #expect(warned.output.hasPrefix(#"warning: entitlements does not declare "por""#))
        let strict = try deed.run("catalog", "check", odd, "--strict", variables: nowhere)
        #expect(strict.code == 1)
        #expect(strict.output == warned.output)
        #expect(try deed.run("catalog", "check", Self.example, "--strict").code == 0)
        #expect(try deed.run("catalog", "check", folder.file("none")).code == 2)
        #expect(try deed.run("catalog", "check").code == 2)
    }

    @Test(
        "A file may begin with an encoding mark; for bad JSON, line and column are shown"
    )
    func encodings() throws {
        let text = try String(contentsOfFile: Self.example, encoding: .utf8)
        let marked = try folder.write("\u{FEFF}" + text, to: "marked")
        #expect(try deed.run("catalog", "check", marked).code == 0)
        let wide = folder.file("wide")
        try #require(text.data(using: .utf16)).write(to: URL(filePath: wide))
        #expect(try deed.run("catalog", "check", wide).code == 0)
        let broken = try folder.write("{\n  \"products\": [}\n", to: "broken")
        let told = try deed.run("catalog", "check", broken)
        #expect(told.code == 1 && told.output.hasSuffix("(line 2, column 16)\n"), "\(told.output)")
    }

    @Test(
        "Each command names all confusable new ids by their paths"
    )
    func improper() throws {
        let file = try folder.write(
            #"{"products":[{"id":"p\u202E","kind":"consumable","credits":{"c\u200B":1}},"#
                + #"{"id":"ok","kind":"non_consumable","entitlements":["x\u200B"]}],"#
                + #""entitlements":{"x\u200B":{}}}"#, to: "improper")
        #expect(try deed.run("project", "create", "default").code == 0)
        for words in [["check"], ["diff"], ["apply"]] {
            let refused = try deed.run(["catalog"] + words + [file])
            #expect(refused.code == 1)
            #expect(
                refused.output.split(separator: "\n").map { $0.prefix { $0 != " " } } == [
                    "products[0].id", "products[0].credits.c<U+200B>",
                    "products[1].entitlements[0]",
                    "entitlements.x<U+200B>",
                ])
        }
        #expect(try version() == 0)
    }

    @Test("The shown change can be applied; a dry run and the same catalog write nothing")
    func apply() throws {
        #expect(try deed.run("catalog", "show").code == 1)
        #expect(try deed.run("project", "create", "default").code == 0)
        for words in [["diff"], ["apply", "--dry-run"]] {
            let shown = try deed.run(["catalog"] + words + [Self.example])
            #expect(shown.code == 0)
            #expect(shown.output.contains("  + product com.example.pro.month\n"))
            #expect(try version() == 0)
        }
        let applied = try deed.run("catalog", "apply", Self.example)
        #expect(applied.output.hasSuffix("The catalog is now version 1.\n"))
        #expect(try projectedVersion() == 1)
        let file = try folder.write(try deed.run("catalog", "show").output, to: "shown")
        let again = try deed.run("catalog", "apply", file)
        #expect(again.code == 0)
        #expect(
            again.output
                == "Nothing changes: the file is the same as version 1.\nNothing was written.\n")
        #expect(try version() == 1)
    }

    @Test("Losers are shown, and a catalog that changed meanwhile is left alone")
    func diff() throws {
        #expect(try deed.run("project", "create", "default").code == 0)
        let old = try folder.write(#"{"products":[]}"#, to: "old")
        #expect(try deed.run("catalog", "apply", Self.example).code == 0)
        let late = try deed.run("catalog", "apply", old, "--if-version", "0", "--json")
        #expect(late.code == 1)
        #expect(
            try JSON.read(late.errors)["error"]?["code"]?.string == "catalog_changed_meanwhile")
        let shown = try deed.run("catalog", "diff", old, "--if-version", "1", "--json")
        #expect(try shown.json["applied"]?.bool == false)
        #expect(try shown.json["losses"]?["production"]?["customers"]?.integer == 0)
        #expect(try version() == 1)
    }

    @Test("The same idempotency key applies once, and says so")
    func repetition() throws {
        #expect(try deed.run("project", "create", "default").code == 0)
        let empty = try folder.write(#"{"products":[]}"#, to: "empty")
        let key = ["--idempotency-key", "k"]
        #expect(try deed.run(["catalog", "apply", Self.example] + key).code == 0)
        #expect(try deed.run("catalog", "apply", empty).code == 0)
        let again = try deed.run(["catalog", "apply", Self.example] + key)
        #expect(
            again.output.hasSuffix(
                "This catalog was already applied with the same key, as version 1.\n"))
        #expect(try version() == 2)
    }

    @Test("An explanation reads as sentences, with the facts behind it as JSON")
    func explain() throws {
        #expect(try deed.run("project", "create", "default").code == 0)
        let grant = ["grant", "--customer", "u1", "--entitlement", "pro", "--reason", "r"]
        #expect(try deed.run(grant + ["--start", "2026-01-01T00:00:00Z"]).code == 0)
        let told = try deed.run(
            "customer", "explain", "u1", "--entitlement", "pro", "--at", "2026-02-01T00:00:00Z")
        #expect(
            told.output.hasPrefix(
                """
                pro is active (2.0) for u1 in production at 2026-02-01T00:00:00.000Z, \
                from 2026-01-01T00:00:00.000Z with no end.
                It is active by an admin's decision, grant g_
                """))
        #expect(
            told.output.contains(
                """
                Everything that ever gave this entitlement:
                  yes  from 2026-01-01T00:00:00.000Z with no end   an admin's decision, grant g_
                """))
        let json = try deed.run("customer", "explain", "u1", "--entitlement", "pro", "--json")
        #expect(try json.json["reasons"]?.array?.first?["rule"]?.string == "grant")
        let never = try deed.run("customer", "explain", "u1", "--entitlement", "vip")
        #expect(never.output.hasPrefix("u1 in production at "))
        #expect(never.output.contains(" never held vip.\n"))
    }

    @Test("A service brings other programs' rows to a catalog that came over HTTP")
    func projected() throws {
        let service = try deed.serve()
        let key = try deed.makeKey()
        var client = try HTTPClient()
        var request = OutboundRequest("PUT", "\(service.url)/v1/catalog")
        request.headers = [("Authorization", "Bearer \(key)")]
        request.body = [UInt8](try Data(contentsOf: URL(filePath: Self.example)))
        #expect(try client.send(request).status == 200)
        let deadline = monotonicMilliseconds() + 30_000
        while try projectedVersion() < 1, monotonicMilliseconds() < deadline {
            pause(milliseconds: 20)
        }
        #expect(try projectedVersion() == 1)
    }

    private func projectedVersion() throws -> Int64 {
        try database.number("select projected_version from deed.projects")
    }

    private func version() throws -> Int64? {
        try deed.run("catalog", "show", "--json").json["version"]?.integer
    }
}
