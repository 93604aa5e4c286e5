import API
import Core
import HTTPServer
import JSON
import Service
import TestSupport
import Testing
import Threading

@Suite("The simplest read")
struct PlainReadTests {
    private let service: TestService
    private let key: NewKey

    init() throws {
        service = try TestService()
        key = try service.key(.reader)
    }

    @Test(
        "Whatever the customer's id, calls with and without a query give one answer",
        arguments: [
            "u1", "a", "a.b-c_d~e", "a:b@c", "a b", "ü", "🎮", "a%2Fb", "%75%31", "%2575",
            "entitlements", "$unclaimed", "$unclaimed/apple:1", "$project%2F", "%", "%zz", "",
            String(repeating: "x", count: 256), String(repeating: "x", count: 257),
        ])
    func oneAnswer(_ name: String) throws {
        let path = "/v1/customers/\(name)/entitlements"
        let first = service.send("GET", path, key: key)
        let second = service.send("GET", path, key: key)
        // This parameter does not change the answer.
        let queried = service.send("GET", path + "?environment=production", key: key)
        #expect(second.status == first.status)
        #expect(second.text == queried.text)
        #expect(second.status == queried.status)
        #expect(second.headers == queried.headers)
    }

    @Test("Sandbox, conditions and positions are observed however plain the path is")
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

    @Test("Another project's key, an unknown key and no key get different answers")
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
        for value in ["Bearer \(key.text)  ", "Bearer  \(key.text)\t"] {
            for path in [path, path + "?environment=production"] {
                let padded = service.send("GET", path, headers: [("Authorization", value)])
                #expect(padded.status == 200, "\(value)")
            }
        }
        for value in ["Bearer x\(key.text)", "Bearer ", "Basic \(key.text)", key.text] {
            let refused = service.send("GET", path, headers: [("Authorization", value)])
            #expect(refused.status == 401, "\(value)")
        }
        #expect(service.send("GET", path).status == 401)
        try service.revoke(key)
        #expect(service.send("GET", path, key: key).status == 401)
    }

    private func listen() throws -> Server {
        let router = service.router
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        return try Server(
            settings, metrics: service.metrics, bodyLimit: { _, _ in 1000 },
            refusal: { router.refuse($0, at: $1) }, handler: { router.answer($0) })
    }

    @Test("A connection's key permits what its role may, on any call, until it is revoked")
    func rolesOfOneConnection() throws {
        let server = try listen()
        let client = try RawClient(port: server.port, milliseconds: 10_000)
        let admin = try service.key(.admin)
        func status(_ method: String, _ path: String, _ key: NewKey, _ body: String = "") throws
            -> Int
        {
            client.send(
                "\(method) \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key.text)\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return try #require(client.reply()).status
        }
        let grants = "/v1/customers/u1/grants"
        let grant = #"{"entitlement":"pro","reason":"r"}"#
        for _ in 0..<2 {
            #expect(try status("GET", "/v1/customers/u1/entitlements", key) == 200)
            #expect(try status("POST", grants, key, grant) == 403)
            #expect(try status("GET", "/v1/catalog", key) == 403)
            #expect(try status("POST", grants, admin, grant) == 201)
            #expect(try status("GET", "/v1/catalog", admin) == 200)
        }
        try service.revoke(admin)
        #expect(try status("POST", grants, admin, grant) == 401)
        #expect(try status("GET", "/v1/catalog", admin) == 401)
        #expect(try status("GET", "/v1/customers/u1/entitlements", key) == 200)
    }

    @Test("A call that waited for a worker is refused if its key was revoked meanwhile")
    func revokedMeanwhile() throws {
        #expect(service.send("GET", "/v1/customers/u1", key: key).status == 200)
        let request = Request(
            method: "GET", path: "/v1/customers/u1",
            headers: [("Authorization", "Bearer \(key.text)")])
        guard case .eventually(_, let work) = service.router.answer(request) else {
            Issue.record("the call does not wait for a worker")
            return
        }
        try service.revoke(key)
        let status = Monitor<Int?>(nil)
        work(LateReply { response in status.change { $0 = response?.status } })
        #expect(status.wait(milliseconds: 10_000) { $0 } == 401)
    }

    @Test("One connection can use several keys in turn, each with its own rights")
    func oneConnection() throws {
        let server = try listen()
        let client = try RawClient(port: server.port, milliseconds: 10_000)
        func ask(_ authorizations: String...) throws -> RawClient.Reply {
            let lines = authorizations.map { "Authorization: \($0)\r\n" }.joined()
            client.send("GET /v1/customers/u1/entitlements HTTP/1.1\r\nHost: x\r\n\(lines)\r\n")
            return try #require(client.reply())
        }
        _ = service.send(
            "POST", "/v1/customers/u1/grants", key: try service.key(.admin),
            body: #"{"entitlement":"pro","reason":"r"}"#)
        try service.createProject("other")
        let (mine, foreign) = (
            "Bearer \(key.text)", "Bearer \(try service.key(.reader, project: "other").text)"
        )
        for _ in 0..<3 {
            for _ in 0..<2 { #expect(try ask(mine).body.contains("\"pro\"")) }
            for _ in 0..<2 { #expect(try ask(foreign).body.contains("\"entitlements\":{}")) }
            // Tries the key without its last letter, with an extra letter, and with a different last letter.
            for wrong in [String(mine.dropLast()), mine + "x", mine.dropLast() + "?"] {
                #expect(try ask(wrong).status == 401)
            }
            #expect(try ask().status == 401)
            #expect(try ask(mine, mine).status == 400)
            #expect(try ask(mine, foreign).status == 400)
        }
        #expect(try ask(mine).status == 200)
        try service.revoke(key)
        #expect(try ask(mine).status == 401)
        #expect(try ask(foreign).status == 200)
    }
}
