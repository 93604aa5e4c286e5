import API
import CatalogFile
import Core
import Foundation
import JSON
import OpenAPI
import Service
import TestSupport
import Testing

/// Compares the document with the built service. Every test that requests an answer also checks the answer against it.
@Suite("The document of the API")
struct DocumentTests {
    private let document: APIDocument
    private let service: TestService

    init() throws {
        document = try APIDocument.current.get()
        service = try TestService()
    }

    @Test("Routes and document agree both ways: paths, roles, parameters, headers and limits")
    func routes() throws {
        let built = Set(
            service.router.outlines.map { route in
                "\(route.method) \(route.pattern) \(route.roles?.map(\.rawValue) ?? []) "
                    + "\(route.bodyLimit) \(route.parameters.sorted()) "
                    + "\(route.headers.map { "\($0.name)" }.sorted())"
            })
        let written = Set(
            document.operations.map { operation in
                let role = operation.json["x-roles"]?.array?.compactMap(\.string) ?? []
                let limit = operation.json["x-body-limit"]?.integer ?? 0
                let parameters = document.parameters(of: operation, in: "query").sorted()
                let headers = document.parameters(of: operation, in: "header").sorted()
                return
                    "\(operation.method) \(operation.pattern.generic) \(role) \(limit) \(parameters) "
                    + "\(headers)"
            })
        #expect(Set(built.map(\.generic)) == written)
    }

    @Test("The document marks calls that need a key, and writes that may be repeated")
    func keys() throws {
        for operation in document.operations {
            let isKeyed = operation.json["x-roles"] != nil
            let call = "\(operation.method) \(operation.pattern)"
            #expect((operation.json["security"]?.array?.isEmpty == false) == isKeyed, "\(call)")
            #expect(operation.answers[403] != nil || !isKeyed, "\(call)")
            // Queries and searches only read. The test clock and a webhook's test are not in the
            // log. The log records a store's statement only once anyway.
            let isWrite =
                isKeyed && operation.method != "GET" && !call.hasSuffix("/query")
                && !call.hasSuffix("/find") && !call.hasSuffix("/test/clock")
                && !call.hasSuffix("/{webhook}/test")
            let headers = document.parameters(of: operation, in: "header")
            #expect(headers.contains("Idempotency-Key") == isWrite, "\(call)")
            #expect((operation.answers[422] != nil) == isWrite, "\(call)")
        }
    }

    @Test("Every call with an object accepts the members in the document")
    func members() throws {
        let admin = try service.key(.admin)
        var asked = 0
        for operation in document.operations {
            guard let body = document.body(of: operation), body["additionalProperties"] == false,
                operation.pattern != "/v1/catalog"
            else { continue }
            let reply = service.send(
                operation.method, document.target(of: operation), key: admin,
                body: #"{"no_such_member":1}"#)
            let detail = try #require(try reply.json["detail"]?.string)
            let list = try #require(detail.split(separator: "takes ").last).dropLast()
            var written = (body["properties"]?.object?.members ?? []).map(\.name)
            if written.isEmpty { written = ["none"] }
            #expect(
                Set(list.components(separatedBy: ", ")) == Set(written),
                "\(operation.method) \(operation.pattern)")
            asked += 1
        }
        #expect(asked > 15)
    }

    @Test("Every object inside a body accepts the members in the document")
    func nestedMembers() throws {
        let admin = try service.key(.admin)
        let stray: JSON = ["no_such_member": 1]
        func answered(_ method: String, _ path: String, _ body: JSON) throws -> String {
            let reply = service.send(method, path, key: admin, body: body.text)
            #expect(reply.status == 400)
            return reply.text
        }
        func members(_ schema: JSON?) -> Set<String> {
            Set((schema?["properties"]?.object?.members ?? []).map(\.name))
        }
        let limits = try answered("PATCH", "/v1/settings", ["credit_limits": ["coins": stray]])
        let listed = try #require(limits.matches(of: /takes ([a-z_, ]+)\./).first?.1)
        #expect(
            Set(listed.split(separator: ", ").map(String.init))
                == members(document.schema("NewCreditLimit")))

        var inside = [
            (
                "entitlements", ["pro": stray] as JSON,
                document.catalog("entitlements", "additionalProperties")
            ),
            (
                "currencies", ["coins": stray],
                document.catalog("currencies", "additionalProperties")
            ),
            ("original_app_version", [stray], document.catalog("original_app_version", "items")),
        ].map { name, value, schema in (name, value, members(schema)) }
        for name in ["Consumable", "NonConsumable", "NonRenewing", "AutoRenewable"] {
            let schema = try #require(document.schema(name))
            let kind = try #require(schema["properties"]?["kind"]?["const"])
            // The catalog's reader knows this member for every kind, although currency unlocks nothing.
            inside.append(
                (
                    "products", [["kind": kind, "no_such_member": 1]],
                    members(schema).union(["entitlements"])
                ))
        }
        for (name, value, written) in inside {
            var catalog = JSONObject()
            if name != "products" { catalog.append("products", []) }
            catalog.append(name, value)
            let text = try answered("PUT", "/v1/catalog", .object(catalog))
            let listed = try #require(
                text.matches(of: /the known members are ([a-z_, ]+);/).first?.1, "\(text)")
            #expect(Set(listed.split(separator: ", ").map(String.init)) == written, "\(name)")
        }
    }

    @Test("A catalog with every member in the document has no meaningless member")
    func catalogMembers() throws {
        for name in ["Consumable", "NonConsumable", "NonRenewing", "AutoRenewable"] {
            let schema = try #require(document.schema(name)?["properties"]?.object)
            let kind = try #require(schema["kind"]?["const"]?.string)
            var product = JSONObject()
            for member in schema.members {
                product.append(
                    member.name, DocumentTests.catalogValues[member.name] ?? .string(kind))
            }
            #expect(throws: Never.self, "\(name)") {
                try CatalogFile.read(["products": [.object(product)]])
            }
        }
    }

    private static let catalogValues: [String: JSON] = [
        "id": "a", "store": "apple", "entitlements": ["pro"], "family_shared": true,
        "credits": ["coins": 1], "duration": "P1M", "stacking": "extend", "group": "g", "level": 1,
    ]

    @Test("The document's codes are those of the page of errors")
    func codes() throws {
        let answered = document.operations.flatMap { $0.answers.values }.reduce(into: Set()) {
            $0.formUnion($1.codes)
        }
        let evidence = Set(try #require(document.words(of: "EvidenceCode")))
        let listed = Set(try ErrorPage.ours.get().codes)
        // Operations do not return these codes. The command line does, or the answer about one piece of evidence.
        let elsewhere: Set = [
            "route_unknown", "method_not_allowed", "project_exists", "too_many_keys",
            "held_by_another", "moved_recently", "account_shared", "too_many_allowed_apps",
            "key_ends_in_the_past", "key_ends_too_late", "overlap_beyond_end", "key_over",
            "key_rotated",
            "purchase_erased", "never_erased",
        ]
        #expect(listed.subtracting(answered) == elsewhere)
        #expect(answered.subtracting(listed).isSubset(of: evidence))
    }

    @Test("The codes of evidence are those of the page about verification")
    func evidenceCodes() throws {
        let page = try String(
            contentsOf: ErrorPage.root.appending(path: "docs/verify.md"), encoding: .utf8)
        let rows = page.components(separatedBy: "## Refusals").last?.split(separator: "\n") ?? []
        let codes = rows.filter { $0.hasPrefix("| `") }.flatMap { row in
            (row.split(separator: "|").first ?? "").matches(of: /`([a-z_0-9]+)`/).map {
                String($0.1)
            }
        }
        let written = try #require(document.words(of: "EvidenceCode"))
        // Evidence with these codes waits in the queue, because the fault is not in the evidence.
        let storeCodes: Set = [
            "store_not_configured", "store_secret_wrong", "credentials_locked",
            "store_unauthorized", "store_refused", "store_limited", "store_unavailable",
            "store_untrusted", "store_answer_unreadable", "store_answer_foreign",
            "purchase_pending",
        ]
        #expect(Set(codes).union(storeCodes) == Set(written))
    }

    @Test("The document's words are those of the rules")
    func words() throws {
        func expect<Word: CaseIterable & RawRepresentable<String>>(
            _ name: String, _ words: Word.Type
        ) {
            #expect(document.words(of: name) == words.allCases.map(\.rawValue), "\(name)")
        }
        expect("Environment", Environment.self)
        expect("Kind", ProductKind.self)
        expect("Store", Store.self)
        expect("State", Entitlement.State.self)
        expect("TransferRule", TransferPolicy.Rule.self)
        expect("SandboxAccess", SandboxAccess.Word.self)
        expect("ReceiptJudge", ReceiptJudge.self)
        let names = EventType.allCases.map(\.name)
        // No call reads the streams of store accounts, so `account` is in this list.
        let ofProjects = [
            "project", "key", "catalog", "app", "publication", "reconciliation", "log", "account",
            "webhook",
        ]
        let ofCustomers = names.filter { name in
            name == "app.installed" || !ofProjects.contains { name.hasPrefix("\($0).") }
        }
        #expect(ofCustomers.count > 20)
        #expect(Set(try #require(document.words(of: "EventType"))) == Set(ofCustomers))
    }

    @Test("Every example matches its schema")
    func examples() throws {
        var found = 0
        try document.visitExamples { place, example, schema in
            let problems = try JSONSchema(schema).problems(of: example, named: document.schemas)
            #expect(problems.isEmpty, "\(place): \(problems)")
            found += 1
        }
        #expect(found > 80)
        for operation in document.operations {
            for (status, answer) in operation.json["responses"]?.object?.members.map({
                ($0.name, document.resolve($0.value))
            }) ?? [] {
                #expect(
                    answer["content"] == nil || document.hasExample(answer),
                    "\(operation.method) \(operation.pattern) \(status) has no example")
            }
        }
    }

    @Test("The document is served exactly as written")
    func served() throws {
        let reply = service.send("GET", "/openapi.json")
        #expect(reply.status == 200)
        #expect(Array(reply.text.utf8) == OpenAPI.document)
    }

    @Test(
        "The document and its page are made from the parts",
        arguments: ["scripts/api-page --check", "scripts/openapi_test.py", "scripts/rows_test.py"])
    func made(command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.currentDirectoryURL = ErrorPage.root
        process.arguments = ["python3"] + command.split(separator: " ").map(String.init)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(command) says what is wrong")
    }

    @Test("An answer that is missing in the document is reported")
    func undocumented() {
        let headers = [
            (name: "Content-Type", value: "application/json"),
            (name: "Cache-Control", value: "private, no-cache"),
        ]
        func problems(
            _ path: String, _ status: Int, _ body: String,
            _ headers: [(name: String, value: String)]
        ) -> [String] {
            ReceivedAnswer("GET", path, status: status, headers: headers, body: body)
                .problems(by: document)
        }
        #expect(problems("/healthz", 200, #"{"alive":true}"#, headers) == [])
        for (path, status, body) in [
            ("/healthz", 200, #"{"alive":1}"#), ("/healthz", 200, "{}"),
            ("/healthz", 200, #"{"alive":true,"well":true}"#), ("/healthz", 200, "alive"),
            ("/healthz", 201, #"{"alive":true}"#), ("/healthy", 200, #"{"alive":true}"#),
        ] {
            #expect(problems(path, status, body, headers) != [], "\(path) \(status) \(body)")
        }
        let alive = #"{"alive":true}"#
        #expect(problems("/healthz", 200, alive, Array(headers.prefix(1))) != [])
        #expect(problems("/healthz", 200, alive, headers + [(name: "X-New", value: "1")]) != [])
        #expect(throws: JSONSchema.Unreadable.self) { try JSONSchema(["maximal": 3]) }
    }
}

extension String {
    /// The path without the names of arguments: `/v1/orders/{}`.
    fileprivate var generic: String { replacing(/\{\w+\}/, with: "{}") }
}

extension APIDocument {
    fileprivate func schema(_ name: String) -> JSON? { json["components"]?["schemas"]?[name] }

    /// Returns the part of the catalog with that name.
    fileprivate func catalog(_ name: String, _ part: String) -> JSON? {
        schema("Catalog")?["properties"]?[name]?[part].map(resolve)
    }

    fileprivate func words(of name: String) -> [String]? {
        schema(name)?["enum"]?.array?.compactMap(\.string)
    }

    fileprivate func parameters(of operation: Operation, in place: String) -> [String] {
        (operation.json["parameters"]?.array ?? []).map(resolve).filter {
            $0["in"]?.string == place
        }.compactMap { $0["name"]?.string }
    }

    fileprivate func body(of operation: Operation) -> JSON? {
        let content = operation.json["requestBody"]?["content"]?["application/json"]
        return content?["schema"].map(resolve)
    }

    /// Returns the path with each argument's example.
    fileprivate func target(of operation: Operation) -> String {
        (operation.json["parameters"]?.array ?? []).map(resolve).reduce(operation.pattern) {
            $0.replacing(
                "{\($1["name"]?.string ?? "")}", with: $1["example"]?.string ?? "")
        }
    }

    /// Returns whether the content or its schema has an example.
    fileprivate func hasExample(_ answer: JSON) -> Bool {
        (answer["content"]?.object?.members ?? []).allSatisfy { media in
            media.value["example"] != nil
                || media.value["schema"].map(resolve)?["examples"] != nil
        }
    }

    /// Visits every example of a schema, wherever it occurs.
    fileprivate func visitExamples(_ visit: (String, JSON, JSON) throws -> Void) rethrows {
        try visitExamples(of: json, at: "", visit)
    }

    private func visitExamples(
        of json: JSON, at place: String, _ visit: (String, JSON, JSON) throws -> Void
    ) rethrows {
        if let schema = json["schema"], let example = json["example"] {
            try visit(place, example, schema)
        }
        if json["type"] != nil || json["oneOf"] != nil {
            for example in json["examples"]?.array ?? [] { try visit(place, example, json) }
        }
        for member in json.object?.members ?? []
        where !["example", "examples", "default"].contains(member.name) {
            try visitExamples(of: member.value, at: "\(place)/\(member.name)", visit)
        }
    }
}
