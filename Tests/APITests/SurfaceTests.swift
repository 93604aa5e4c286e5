import Core
import HTTPServer
import JSON
import Outbound
import Service
import Telemetry
import TestSupport
import Testing

@testable import API

/// Two surfaces next to `/v1`: one with its own wording, and one with its key in a cookie and with
/// files.
@Suite("Surfaces of the API", .timeLimit(.minutes(20)))
struct SurfaceTests {
    private let service: TestService
    private let router: Router
    private let key: String

    init() throws {
        service = try TestService()
        key = try service.key(.reader).text
        let whose: @Sendable (Call) throws(Problem) -> Response = { call in
            .json(["project": .string(call.access.project.text), "at": .string(call.arguments[0])])
        }
        let plain = Surface(
            prefix: "/plain",
            refusal: { problem in
                Response(status: problem.status, body: Array("no: \(problem.code)".utf8))
            },
            routes: [
                Route("GET", "/things/{thing}", .read, .memory, whose),
                Route("POST", "/things/{thing}", bodyLimit: 10, .read, .memory, whose),
            ])
        let pages = Surface(
            prefix: "/pages", keys: .cookie("deed"),
            routes: [
                Route("GET", "/things/{thing}", .read, .database, whose),
                Route("POST", "/things/{thing}", .read, .memory, whose),
                .file("/style.css", type: "text/css", LastingBody(Array("p{}".utf8))),
                Route("GET", "/guide/{chapter}/{rest*}", .memory) { call in
                    (.known, Response.json(.array(call.arguments.map(JSON.string))).reaction)
                },
                Route("GET", "/guide/{chapter}/about", parameters: ["in"], .memory) { call in
                    let told = [call.arguments[0], call.query["in"] ?? "-"]
                    return (Room.known, Response.json(.array(told.map(JSON.string))).reaction)
                },
            ])
        router = Router(
            [plain, pages], service.useCases, keys: service.keys, service.metrics, .silent)
    }

    @Test("A key counts only in the place that the surface names")
    func places() throws {
        let headers: [String: (String, String)] = [
            "/plain": ("Authorization", "Bearer \(key)"),
            "/pages": ("Cookie", "a=b; deed=\(key); c=d"),
        ]
        for (surface, own) in headers {
            let (status, text) = ask("GET", "\(surface)/things/x%2Fy", [own])
            #expect(status == 200 && text.contains(#"{"project":"default","at":"x/y"}"#), "\(text)")
            for (other, header) in headers where other != surface {
                #expect(ask("GET", "\(surface)/things/1", [header]).status == 401)
            }
            #expect(ask("GET", "\(surface)/things/1", [("X-Api-Key", key)]).status == 401)
            #expect(ask("GET", "\(surface)/things/1", [(own.0, "x")]).status == 401)
            // A valid key still works after these refusals.
            #expect(ask("GET", "\(surface)/things/2", [own]).status == 200)
        }
    }

    @Test("A revoked key works on no surface")
    func revoked() throws {
        let new = try service.key(.reader)
        #expect(
            ask("GET", "/plain/things/1", [("Authorization", "Bearer \(new.text)")]).status == 200)
        try service.revoke(new)
        #expect(
            ask("GET", "/plain/things/1", [("Authorization", "Bearer \(new.text)")]).status == 401)
    }

    @Test("A cookie that occurs twice, or under another name, is no key")
    func cookies() {
        for cookie in ["deed=\(key); deed=\(key)", "Deed=\(key)", "deed", "deed=", "xdeed=\(key)"] {
            #expect(ask("GET", "/pages/things/1", [("Cookie", cookie)]).status == 401, "\(cookie)")
        }
        #expect(ask("GET", "/pages/things/1", [("Cookie", "deed=\(key)")]).status == 200)
        #expect(ask("GET", "/pages/things/1", [("Cookie", "x;deed=\(key) ")]).status == 200)
    }

    @Test("A cookie changes nothing unless the browser reports the same site")
    func foreignSites() {
        let cookie = ("Cookie", "deed=\(key)")
        for site in ["cross-site", "same-site", "none", ""] {
            let status = ask("POST", "/pages/things/1", [cookie, ("Sec-Fetch-Site", site)]).status
            #expect(status == 401, "\(site)")
        }
        #expect(ask("POST", "/pages/things/1", [cookie]).status == 401)
        let own = [cookie, ("Sec-Fetch-Site", "same-origin")]
        #expect(ask("POST", "/pages/things/1", own).status == 200)
    }

    @Test("Each surface words every refusal in its own way")
    func dialects() throws {
        let paths = ["/plain/nowhere", "/plain", "/plain/things/a/b"]
        for path in paths { #expect(ask("GET", path, []) == (404, "no: route_unknown")) }
        #expect(ask("DELETE", "/plain/things/1", []) == (405, "no: method_not_allowed"))
        #expect(ask("GET", "/plain/things/1", []) == (401, "no: key_missing"))
        for path in ["/plainer", "/pages/nowhere", "/v1/nowhere", "/"] {
            #expect(try JSON.read(ask("GET", path, []).text)["code"]?.string == "route_unknown")
        }
        // Refusals by the server itself have the same wording.
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        let server = try Server(settings, metrics: Metrics(), router)
        defer { server.drain(milliseconds: 2000) }
        var client = try HTTPClient()
        let url = "http://127.0.0.1:\(server.port)"
        var request = OutboundRequest(
            "POST", "\(url)/plain/things/1", headers: [("Authorization", "Bearer \(key)")])
        request.body = Array("eleven chars".utf8)
        let refused = try client.send(request)
        #expect(refused.status == 413)
        #expect(String(decoding: refused.body, as: UTF8.self) == "no: body_too_large")
    }

    @Test("A public route has arguments, and its last one may take the rest of the path")
    func tails() throws {
        #expect(ask("GET", "/pages/guide/1/a/b%20c/d", []).text == #"["1","a/b c/d"]"#)
        #expect(ask("GET", "/pages/guide/1/", []).text == #"["1",""]"#)
        #expect(ask("GET", "/pages/guide/1", []).status == 404)
        // The literal segment `about` wins, and the tail matches longer paths.
        #expect(ask("GET", "/pages/guide/1/about", []).text == #"["1","-"]"#)
        #expect(ask("GET", "/pages/guide/1/about/x", []).text == #"["1","about/x"]"#)
        #expect(
            ask("GET", "/pages/guide/1/about", [], query: "in=en").text == #"["1","en"]"#)
        #expect(ask("GET", "/pages/guide/1/about", [], query: "inn=en").status == 400)
        // A file without parameters is served whatever the query says.
        #expect(ask("GET", "/pages/style.css", [], query: "v=2").status == 200)
        let broken = ask("GET", "/pages/guide/1/%zz", [])
        #expect(broken.status == 400)
        #expect(try JSON.read(broken.text)["member"]?.string == "path")
    }

    @Test("A file is the same for everybody")
    func files() {
        #expect(ask("GET", "/pages/style.css", []) == (200, "p{}"))
        #expect(ask("POST", "/pages/style.css", []).status == 405)
    }

    private func ask(
        _ method: String, _ path: String, _ headers: [(String, String)], query: String? = nil
    ) -> (status: Int, text: String) {
        let response = router.response(
            to: Request(method: method, path: path, query: query, headers: headers)
        ).response
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }
}
