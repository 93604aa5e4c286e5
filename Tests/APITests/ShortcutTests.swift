import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("The plainest read, by its shortcut and by its route")
struct ShortcutTests {
    private let service: TestService
    private let key: NewKey

    init() throws {
        service = try TestService()
        key = try service.key(.reader)
    }

    @Test(
        "Whatever the customer is called, both ways give one answer",
        arguments: [
            "u1", "a", "a.b-c_d~e", "a:b@c", "a b", "ü", "🎮", "a%2Fb", "%75%31", "%2575",
            "entitlements", "$unclaimed", "$unclaimed/apple:1", "$project%2F", "%", "%zz", "",
            String(repeating: "x", count: 256), String(repeating: "x", count: 257),
        ])
    func oneAnswer(_ name: String) throws {
        let path = "/v1/customers/\(name)/entitlements"
        let first = service.send("GET", path, key: key)
        let shortcut = service.send("GET", path, key: key)
        // A query that changes nothing leads past the shortcut.
        let route = service.send("GET", path + "?environment=production", key: key)
        #expect(shortcut.status == first.status)
        #expect(shortcut.text == route.text)
        #expect(shortcut.status == route.status)
        #expect(
            shortcut.headers.map { "\($0.0): \($0.1)" } == route.headers.map { "\($0.0): \($0.1)" })
    }

    @Test("Sandbox, conditions and positions are heeded however plain the path is")
    func conditions() throws {
        let path = "/v1/customers/u1/entitlements"
        let tag = try #require(service.send("GET", path, key: key).header("ETag"))
        let known = service.send("GET", path, key: key, headers: [("If-None-Match", tag)])
        #expect(known.status == 304)
        let never = service.send("GET", path, key: key, headers: [("Deed-After", "1:99999")])
        #expect(never.status == 503)
        let sandbox = service.send("GET", path + "?environment=sandbox", key: key)
        #expect(try sandbox.json["environment"]?.string == "sandbox")
    }

    @Test("A key of another project, an unknown one and none are told apart as ever")
    func keys() throws {
        let path = "/v1/customers/u1/entitlements"
        let admin = try service.key(.admin)
        _ = service.send(
            "POST", "/v1/customers/u1/grants", key: admin,
            body: #"{"entitlement":"pro","reason":"r"}"#)
        for _ in 0..<2 {
            #expect(try service.send("GET", path, key: key).json["entitlements"]?["pro"] != nil)
        }
        try service.createProject("other")
        let other = try service.key(.reader, project: "other")
        for _ in 0..<3 {
            #expect(try service.send("GET", path, key: other).json["entitlements"] == [:])
        }
        let spelt = service.send("GET", path, headers: [("Authorization", "bEARER \(key.text)")])
        #expect(try spelt.json["entitlements"]?["pro"] != nil)
        for value in ["Bearer x\(key.text)", "Bearer ", "Basic \(key.text)", key.text] {
            let refused = service.send("GET", path, headers: [("Authorization", value)])
            #expect(refused.status == 401, "\(value)")
        }
        #expect(service.send("GET", path).status == 401)
        try service.revoke(key)
        #expect(service.send("GET", path, key: key).status == 401)
    }
}
