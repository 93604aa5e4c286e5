import API
import Core
import JSON
import Service
import Telemetry
import TestSupport
import Testing

@Suite("Asking about many customers, and for everything about one")
struct QueryTests {
    private let service: TestService
    private let admin: NewKey
    private let reader: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
        reader = try service.key(.reader)
    }

    @Test("A thousand customers are answered in order, as if asked alone, with one read")
    func thousand() throws {
        for number in 0..<5 { try give("e\(number)", to: "c\(number * 200)") }
        let names = (0..<1000).map { "c\($0)" }
        let first = try query(names)
        let alone = service.send(
            "GET", "/v1/customers/c400/entitlements?consistency=strong", key: reader)
        let answers = try #require(try first.json["answers"]?.array)
        #expect(answers.map { $0["customer"]?.string } == names)
        #expect(answers[400].text == alone.text)
        #expect(answers[401]["entitlements"] == [:])
        let second = try query(names)
        #expect(second.text == first.text)
        let lines = service.metrics.text().split(separator: "\n")
        #expect(lines.contains("deed_bulk_read_size_count 1"))
        #expect(lines.contains("deed_bulk_read_size_sum 1000"))
    }

    @Test("A customer who is named twice is answered twice, and known ones come from memory")
    func mixed() throws {
        try give("pro", to: "known")
        _ = service.send("GET", "/v1/customers/known/entitlements", key: reader)
        let reply = try query(["new", "known", "new"])
        let answers = try #require(try reply.json["answers"]?.array)
        #expect(answers.map { $0["customer"]?.string } == ["new", "known", "new"])
        #expect(answers[1]["entitlements"]?["pro"]?["active"] == true)
        #expect(
            service.metrics.text().contains("deed_bulk_read_size_sum 1\n"))
    }

    @Test(
        "An unreadable customer gets a problem in its place, and the others are answered")
    func unreadable() throws {
        try give("pro", to: "good")
        try give("pro", to: "bad")
        try service.database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{}' where customer = 'bad'
            """)
        // This instance has not read either customer.
        let other = try TestService(beside: service)
        let reply = other.send(
            "POST", "/v1/entitlements/query", key: reader,
            body: #"{"customers":["none","bad","good","bad"]}"#)
        #expect(reply.status == 200, "\(reply.text)")
        let answers = try #require(try reply.json["answers"]?.array)
        #expect(answers.map { $0["customer"]?.string } == ["none", "bad", "good", "bad"])
        #expect(answers[2]["entitlements"]?["pro"]?["active"] == true)
        for place in [1, 3] {
            #expect(answers[place]["environment"]?.string == "production")
            #expect(answers[place]["error"]?["code"]?.string == "unreadable")
            #expect(answers[place]["entitlements"] == nil)
        }
        func toldOf(_ service: TestService) -> [String] {
            service.logged.all.filter { $0.contains(#""event":"stream_unread""#) }
        }
        // The log reports the unreadable customer once, although the calls name that customer several times.
        let alone = other.send("GET", "/v1/customers/bad/entitlements", key: reader)
        #expect(answers[1]["error"]?.text == alone.text)
        #expect(toldOf(other).count == 1)
        #expect(toldOf(other).first?.contains(#""customer":"bad""#) == true)
        let third = try TestService(beside: service)
        #expect(third.send("GET", "/v1/customers/bad/entitlements", key: reader).status == 500)
        #expect(toldOf(third).count == 1)
    }

    @Test("A caller who names a write's position sees the write, on any instance")
    func after() throws {
        let other = try TestService(beside: service)
        for number in 0..<20 {
            _ = other.send(
                "POST", "/v1/entitlements/query", key: reader, body: #"{"customers":["a","b"]}"#)
            let given = service.send(
                "POST", "/v1/customers/a/grants", key: admin,
                body: #"{"entitlement":"e\#(number)","reason":"r"}"#)
            let reply = other.send(
                "POST", "/v1/entitlements/query", key: reader,
                headers: [("Deed-After", try #require(given.header("Deed-Position")))],
                body: #"{"customers":["a","b"]}"#)
            #expect(
                try reply.json["answers"]?.array?[0]["entitlements"]?["e\(number)"] != nil)
        }
        let never = service.send(
            "POST", "/v1/entitlements/query", key: reader,
            headers: [("Deed-After", "3:99999")], body: #"{"customers":["a"]}"#)
        #expect(try never.json["code"]?.string == "position_not_reached")
    }

    @Test(
        "An impossible question is refused with the name of the wrong member",
        arguments: [
            ("{}", "customers"), (#"{"customers":"u1"}"#, "customers"),
            (#"{"customers":[1]}"#, "customers[0]"), (#"{"customers":["a",""]}"#, "customers[1]"),
            (#"{"customers":["a","b","$project/"]}"#, "customers[2]"),
            (#"{"customers":[],"environment":"test"}"#, "environment"), ("[]", "body"),
        ])
    func refused(_ body: String, _ member: String) throws {
        let reply = service.send("POST", "/v1/entitlements/query", key: reader, body: body)
        #expect(reply.status == 400)
        #expect(try reply.json["member"]?.string == member)
    }

    @Test("A query of no customers gets an empty answer; one above a thousand is too many")
    func bounds() throws {
        #expect(try query([]).text == #"{"answers":[]}"#)
        let reply = try query((0...1000).map { "c\($0)" })
        #expect(reply.status == 400)
        #expect(try reply.json["member"]?.string == "customers")
    }

    @Test("Answers above their total limit are refused before they are assembled")
    func answerLimit() throws {
        for number in 0..<400 {
            try give("\(String(repeating: "long", count: 60))\(number)", to: "rich")
        }
        #expect(try query(["rich"]).status == 200)
        let refused = try query(Array(repeating: "rich", count: 1000))
        #expect(refused.status == 413)
        #expect(try refused.json["code"]?.string == "answer_too_large")
    }

    @Test("Without a database, customers in memory are answered as stale, others not at all")
    func outage() throws {
        try give("pro", to: "a")
        _ = try query(["a", "b"])
        try service.database.drop()
        service.outage.advance(byMilliseconds: 3000)
        let stale = try query(["b", "a"])
        #expect(stale.status == 200)
        #expect(try #require(stale.header("Deed-Stale").flatMap { Int($0) }) >= 3000)
        #expect(try query(["a", "c"]).status == 503)
    }

    // MARK: One customer

    @Test("A customer is answered with everything behind the entitlements")
    func whole() throws {
        _ = service.send("PUT", "/v1/catalog", key: admin, body: CatalogTests.shop)
        let start = service.clock.now
        let end = start.advanced(byMilliseconds: 30 * 86_400_000)
        _ = try service.ledger.append(
            .record(
                [
                    .bought("pro", .autoRenewable, transaction: "1", at: start, until: end),
                    .bought("coins", .consumable, transaction: "2", at: start),
                ], for: .test("u1"), key: "k"))
        let grant = try give("vip", to: "u1")
        _ = service.send(
            "POST", "/v1/customers/u1/orders", key: admin, body: #"{"order":"o1"}"#)
        let reply = service.send("GET", "/v1/customers/u1", key: reader)
        let json = try reply.json
        let alone = service.send(
            "GET", "/v1/customers/u1/entitlements?consistency=strong", key: reader)
        for member in try #require(try alone.json.object).members {
            #expect(json[member.name] == member.value, "\(member.name)")
        }
        #expect(reply.header("Deed-Position") == alone.header("Deed-Position"))
        #expect(
            json["subscriptions"]?.text
                == #"[{"purchase":"apple:1","product":"pro","kind":"auto_renewable","#
                + #""group":null,"current":true,"active":true,"#
                + #""since":"2026-11-20T19:21:00.000Z","until":"2026-12-20T19:21:00.000Z","#
                + #""state":"active","code":"5.0","will_renew":true,"next_product":null,"#
                + #""expiration_reason":null,"sandbox":false}]"#)
        #expect(
            json["purchases"]?.array?[0].text
                == #"{"purchase":"apple:1","app":"com.example.game","product":"pro","#
                + #""kind":"auto_renewable","purchased":"2026-11-20T19:21:00.000Z","#
                + #""transaction":"1","transactions":1,"expires":"2026-12-20T19:21:00.000Z","#
                + #""revoked_at":null,"family_shared":false,"came_from":null,"came_at":null,"#
                + #""sandbox":false}"#)
        #expect(json["purchases"]?.array?.count == 2)
        #expect(json["grants"]?.array?.map { $0["id"]?.string } == [grant])
        #expect(json["balances"]?.text == #"{"coins":100}"#)
        #expect(json["orders"]?.array?.map { $0["id"]?.string } == ["o1"])
    }

    @Test("An unknown customer has nothing, and that answer is never cached")
    func unknown() throws {
        let reply = service.send("GET", "/v1/customers/nobody", key: reader)
        #expect(
            reply.text.hasSuffix(
                #""entitlements":{},"subscriptions":[],"purchases":[],"grants":[],"#
                    + #""balances":{},"orders":[]}"#))
        for path in ["", "/entitlements", "/balances", "/events", "/explain?entitlement=pro"] {
            let reply = service.send("GET", "/v1/customers/nobody\(path)", key: reader)
            #expect(reply.status == 200)
            #expect(reply.header("Cache-Control") == "private, no-cache")
            #expect(reply.header("Deed-Position") != nil, "\(path)")
            let never = service.send(
                "GET", "/v1/customers/nobody\(path)", key: reader,
                headers: [("Deed-After", "3:99999")])
            #expect(try never.json["code"]?.string == "position_not_reached", "\(path)")
        }
        for path in ["/v1/customers/nobody/orders", "/v1/orders/none"] {
            let never = service.send("GET", path, key: admin, headers: [("Deed-After", "3:99999")])
            #expect(try never.json["code"]?.string == "position_not_reached", "\(path)")
        }
    }

    @discardableResult
    private func give(_ entitlement: String, to customer: String) throws -> String {
        let reply = service.send(
            "POST", "/v1/customers/\(customer)/grants", key: admin,
            body: #"{"entitlement":"\#(entitlement)","reason":"r","allow_unknown":true}"#)
        return try #require(try reply.json["grant"]?["id"]?.string, "\(reply.text)")
    }

    private func query(_ customers: [String]) throws -> Reply {
        let body: JSON = ["customers": .array(customers.map(JSON.string))]
        return service.send("POST", "/v1/entitlements/query", key: reader, body: body.text)
    }
}
