import API
import Core
import Foundation
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@Suite("The catalog over the API")
struct CatalogTests {
    private let service: TestService
    private let admin: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
    }

    @Test("A project starts with an empty catalog of version 0")
    func empty() throws {
        #expect(
            get("/v1/catalog").text
                == #"{"version":0,"catalog":{"products":[],"entitlements":{},"currencies":{},"#
                + #""original_app_version":[]}}"#)
        #expect(get("/v1/products").text == #"{"version":0,"products":[]}"#)
    }

    @Test("An applied catalog can be read back, and readers get its list of products")
    func applied() throws {
        let reply = put(Self.shop)
        #expect(reply.status == 200)
        #expect(try reply.json["version"]?.integer == 1)
        #expect(try reply.json["applied"]?.bool == true)
        let read = try get("/v1/catalog").json
        #expect(read["version"]?.integer == 1)
        #expect(read["catalog"]?["products"]?.array?.count == 3)
        let products = service.send("GET", "/v1/products", key: try service.key(.reader))
        #expect(
            products.text
                == #"{"version":1,"products":["#
                + #"{"id":"coins","store":"apple","kind":"consumable"},"#
                + #"{"id":"level2","store":"apple","kind":"non_consumable"},"#
                + #"{"id":"pro","store":"apple","kind":"auto_renewable"}]}"#)
    }

    @Test("Only an admin may read or change it", arguments: [Role.reader, .backend])
    func roles(_ role: Role) throws {
        let key = try service.key(role)
        #expect(service.send("GET", "/v1/catalog", key: key).status == 403)
        #expect(service.send("PUT", "/v1/catalog", key: key, body: Self.shop).status == 403)
        #expect(try version() == 0)
    }

    @Test("The same catalog, however it is written, changes nothing and writes nothing")
    func same() throws {
        _ = put(Self.shop)
        let events = try service.eventCount()
        let reply = put(Self.shop.replacing(",", with: " , "))
        #expect(
            reply.text
                == #"{"version":1,"changes":[],"gains":\#(Self.nobody),"losses":\#(Self.nobody),"#
                + #""customers":[],"more":false,"waiting":[],"unread":0,"applied":false,"warnings":[]}"#
        )
        #expect(try service.eventCount() == events)
    }

    @Test("All errors are reported together with their paths, and nothing is written")
    func invalid() throws {
        let events = try service.eventCount()
        let reply = put(
            #"{"products":[{"id":"a","kind":"consumable"},7,{"id":"b","kind":"auto_renewable","#
                + #""level":0,"entitlements":["x"]}],"currencies":[]}"#)
        #expect(reply.status == 400)
        #expect(reply.header("Content-Type") == "application/problem+json")
        #expect(try reply.json["code"]?.string == "catalog_invalid")
        #expect(
            Set(try errors(reply)) == [
                "products[0].credits is empty; state what the consumable adds to a balance",
                "products[1] is a number; it must be an object",
                "products[2].level is 0; the lowest level is 1",
                "currencies is an array; it must be an object",
            ])
        #expect(try service.eventCount() == events)
    }

    @Test("Errors are counted, and the first thousand are listed")
    func manyErrors() throws {
        let reply = put(
            "{\"products\":[\([String](repeating: "7", count: 1500).joined(separator: ","))]}")
        #expect(try errors(reply).count == 1000)
        #expect(try reply.json["detail"]?.string?.contains("1500 errors") == true)
    }

    @Test(
        "A body that is not JSON, or not a catalog, is refused under the same name",
        arguments: ["", "{", "[]"])
    func notACatalog(_ body: String) throws {
        let reply = put(body)
        #expect(reply.status == 400)
        #expect(try reply.json["code"]?.string == "catalog_invalid")
        #expect(try errors(reply).count == 1)
    }

    @Test("An unknown member is refused, and a possible misspelling causes a warning")
    func warnings() throws {
        let misspelt = put(
            #"{"products":[{"id":"a","kind":"non_consumable","entitlements":["x"],"familly":1}]}"#)
        #expect(misspelt.status == 400)
        #expect(try errors(misspelt).map { String($0.prefix(20)) } == ["products[0].familly "])
        let reply = put(
            #"{"products":[{"id":"a","kind":"non_consumable","entitlements":["x"]}],"#
                + #""entitlements":{"y":{}}}"#)
        #expect(try reply.json["warnings"]?.array?.map { $0["path"]?.string } == ["entitlements"])
        #expect(try reply.json["applied"]?.bool == true)
    }

    @Test(
        "A text that no view could show is refused by its path, and every view answers",
        arguments: [
            (#""entitlements":{"x":{"title":"a\u0000"}}"#, "entitlements.x.title"),
            (#""currencies":{"c":{"title":"a\u0000"}}"#, "currencies.c.title"),
            (
                #""original_app_version":[{"below":"1\u0000","entitlements":["x"]}]"#,
                "original_app_version[0].below"
            ),
            (#""x\u0000":1"#, "x\u{0}"),
        ])
    func unprintable(_ member: String, _ path: String) throws {
        #expect(put(Self.shop).status == 200)
        let reply = put(#"{"products":[],\#(member)}"#)
        #expect(reply.status == 400, "\(reply.text)")
        #expect(try errors(reply).first?.hasPrefix("\(path) ") == true, "\(reply.text)")
        try service.database.readEveryView()
    }

    @Test(
        "A product's text that no view could show is refused as well",
        arguments: [
            ("group", #""kind":"auto_renewable","group":"a\u0000""#),
            ("duration", #""kind":"non_renewing","duration":"P1M\u0000""#),
            ("id", #""kind":"auto_renewable","id":"a\u0000""#),
            ("kind", #""kind":"a\u0000""#), ("store", #""store":"a\u0000","kind":"consumable""#),
        ])
    func unprintableProduct(_ member: String, _ members: String) throws {
        let id = member == "id" ? "" : #""id":"a","#
        let reply = put(#"{"products":[{\#(id)\#(members),"entitlements":["x"]}]}"#)
        #expect(reply.status == 400, "\(reply.text)")
        let isTold = try errors(reply).contains { $0.hasPrefix("products[0].\(member) ") }
        #expect(isTold, "\(reply.text)")
        try service.database.readEveryView()
    }

    @Test("A title has at most 256 bytes")
    func titleLength() throws {
        func title(of length: Int) -> String {
            let title = String(repeating: "x", count: length)
            return #"{"products":[],"entitlements":{"x":{"title":"\#(title)"}}}"#
        }
        #expect(put(title(of: 256)).status == 200)
        let reply = put(title(of: 257))
        #expect(try errors(reply) == ["entitlements.x.title is longer than 256 bytes"])
    }

    @Test("A catalog that is too large for an event is refused, and one that just fits is kept")
    func size() throws {
        // One title has the length `last`, so the catalog gets exactly the wanted size.
        func catalog(titles count: Int, last length: Int) -> String {
            let titles = (0..<count).map {
                let length = $0 == count - 1 ? length : 256
                let title = String(repeating: "x", count: length)
                return "\"e\(1000 + $0)\":{\"title\":\"\(title)\"}"
            }
            return "{\"products\":[],\"entitlements\":{\(titles.joined(separator: ","))},"
                + "\"currencies\":{},\"original_app_version\":[]}"
        }
        let limit = (1 << 20) - 64
        let each =
            catalog(titles: 2, last: 256).utf8.count - catalog(titles: 1, last: 256).utf8.count
        let count = (limit - catalog(titles: 1, last: 1).utf8.count) / each + 1
        let last = limit - catalog(titles: count, last: 0).utf8.count
        let fitting = catalog(titles: count, last: last)
        #expect(fitting.utf8.count == limit)
        #expect(put(catalog(titles: count, last: last + 1)).status == 400)
        #expect(try version() == 0)
        #expect(put(fitting).status == 200)
        #expect(try version() == 1)
    }

    @Test("Only the catalog may have a body of a mebibyte")
    func bodyLimit() {
        let limits = service.router.outlines.reduce(into: [String: Int]()) {
            $0["\($1.method) \($1.pattern)"] = $1.bodyLimit
        }
        #expect(limits["PUT /v1/catalog"] == 1 << 20)
        #expect(limits["GET /v1/catalog"] == 64 << 10)
        #expect(limits["POST /v1/customers/{customer}/grants"] == 64 << 10)
        #expect(limits["POST /v1/entitlements/query"] == 1 << 20)
    }

    @Test("If two admins start from the same version, one is told that it changed")
    func race() throws {
        _ = put(Self.shop)
        let statuses = Mutex<[Int]>([])
        let (service, admin) = (service, admin)
        inParallel(8) { index in
            let body = Self.shop.replacing("\"level\":1", with: "\"level\":\(index + 2)")
            let reply = service.send("PUT", "/v1/catalog?if_version=1", key: admin, body: body)
            statuses.withLock { $0.append(reply.status) }
        }
        #expect(statuses.withLock { $0.sorted() } == [200] + [Int](repeating: 409, count: 7))
        #expect(try version() == 2)
        let reply = put(Self.shop, "?if_version=1")
        #expect(try reply.json["code"]?.string == "catalog_changed_meanwhile")
        #expect(try reply.json["version"]?.integer == 2)
        #expect(put(Self.shop, "?if_version=1&dry_run=1").status == 409)
        #expect(put(Self.shop, "?if_version=2").status == 200)
    }

    @Test("A repetition with the same key gets the first answer, even after a later change")
    func repetition() throws {
        let first = put(Self.shop, idempotencyKey: "k")
        #expect(put(Self.shop, idempotencyKey: "k").text == first.text)
        _ = put(#"{"products":[]}"#)
        #expect(put(Self.shop, idempotencyKey: "k").text == first.text)
        #expect(try version() == 2)
        let other = put(#"{"products":[],"currencies":{"c":{}}}"#, idempotencyKey: "k")
        #expect(other.status == 422)
    }

    @Test("A dry run shows what would change and writes nothing", arguments: ["1", "true"])
    func dryRun(_ flag: String) throws {
        let events = try service.eventCount()
        let reply = put(Self.shop, "?dry_run=\(flag)")
        #expect(try reply.json["version"]?.integer == 0)
        #expect(try reply.json["applied"]?.bool == false)
        #expect(try reply.json["changes"]?.array?.count == 3)
        #expect(
            try reply.json["changes"]?.array?.first?.text
                == #"{"change":"added","subject":"product","store":"apple","id":"coins","members":[]}"#
        )
        #expect(try service.eventCount() == events)
        #expect(try version() == 0)
        #expect(put(Self.shop, "?dry_run=perhaps").status == 400)
    }

    @Test("A misspelt request for a dry run applies nothing")
    func misspeltDryRun() throws {
        let reply = put(#"{"products":[]}"#, "?dryrun=1")
        #expect(reply.status == 400)
        #expect(try reply.json["member"]?.string == "dryrun")
        #expect(try version() == 0)
    }

    static let nobody =
        #"{"production":{"customers":0,"entitlements":{}},"#
        + #""sandbox":{"customers":0,"entitlements":{}}}"#

    static let shop = #"""
        {"products":[{"id":"coins","kind":"consumable","credits":{"coins":100}},
        {"id":"level2","kind":"non_consumable","entitlements":["level2"]},
        {"id":"pro","kind":"auto_renewable","level":1,"entitlements":["ad_free","pro"]}]}
        """#

    private func get(_ target: String) -> Reply { service.send("GET", target, key: admin) }

    private func put(
        _ body: String, _ query: String = "", idempotencyKey: String? = nil
    ) -> Reply {
        service.send(
            "PUT", "/v1/catalog\(query)", key: admin,
            headers: idempotencyKey.map { [("Idempotency-Key", $0)] } ?? [], body: body)
    }

    private func version() throws -> Int64? { try get("/v1/catalog").json["version"]?.integer }

    private func errors(_ reply: Reply) throws -> [String] {
        try #require(try reply.json["errors"]?.array).map {
            "\($0["path"]?.string ?? "") \($0["detail"]?.string ?? "")"
        }
    }
}
