import Glibc
import HTTPServer
import Outbound
import Telemetry
import TestSupport
import Testing
import Threading

@Suite(.timeLimit(.minutes(20)))
struct HTTPClientTests {
    /// Returns a server that answers with the request.
    private func makeServer(
        tls: TLSFiles? = nil, metrics: Metrics = Metrics()
    ) throws -> Server {
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        settings.tls = tls
        return try Server(
            settings, metrics: metrics, bodyLimit: { _, _ in 1 << 20 },
            refusal: { _, _ in Response(status: 503) }, handler: answer)
    }

    @Test(arguments: ["GET", "POST", "PUT", "DELETE", "PATCH"])
    func `Method, path, headers and body arrive as given`(method: String) throws {
        let server = try makeServer()
        var client = try HTTPClient()
        let body = method == "GET" ? [] : Array("body".utf8)
        let request = OutboundRequest(
            method, "http://127.0.0.1:\(server.port)/a/../b%2Fc?d=e",
            headers: [("X-Name", "value")], body: body)
        let response = try client.send(request)
        #expect(response.status == 207)
        #expect(response.header("x-path") == "/a/../b%2Fc")
        #expect(response.header("X-METHOD") == method)
        #expect(response.header("X-Name") == "value")
        #expect(response.header("X-Type") == "none")
        #expect(response.header("X-Expect") == "none")
        #expect(response.body == body)
    }

    @Test func `One connection serves requests of every kind`() throws {
        let metrics = Metrics()
        let server = try makeServer(metrics: metrics)
        var client = try HTTPClient()
        let url = "http://127.0.0.1:\(server.port)/"
        for method in ["POST", "GET", "HEAD", "POST", "GET"] {
            let body = method == "POST" ? [UInt8](repeating: 7, count: 100_000) : []
            let response = try client.send(OutboundRequest(method, url, body: body))
            #expect(response.header("X-Method") == (method == "HEAD" ? "GET" : method))
            #expect(response.body == body)
        }
        #expect(metrics.text().contains("deed_http_connections_total 1\n"))
    }

    @Test func `An untrusted server is told apart from one that is away`() throws {
        let folder = try ScratchFolder()
        let files = try folder.makeCertificate("server")
        let server = try makeServer(tls: TLSFiles(certificate: files.certificate, key: files.key))
        let url = "https://127.0.0.1:\(server.port)/"
        var stranger = try HTTPClient()
        do {
            _ = try stranger.send(OutboundRequest("GET", url))
            Issue.record("an unknown certificate was believed")
        } catch {
            guard case .untrusted = error else { throw error }
        }
        var friend = try HTTPClient(caFile: files.certificate)
        let response = try friend.send(OutboundRequest("GET", url))
        #expect(response.status == 207)
    }

    @Test func `A server that is away is unreachable`() throws {
        var client = try HTTPClient()
        let server = try makeServer()
        server.drain(milliseconds: 100)
        do {
            _ = try client.send(OutboundRequest("GET", "http://127.0.0.1:\(server.port)/"))
            Issue.record("a closed port answered")
        } catch {
            guard case .unreachable = error else { throw error }
        }
    }

    @Test func `A slow answer is given up`() throws {
        let server = try makeServer()
        var client = try HTTPClient()
        var request = OutboundRequest("GET", "http://127.0.0.1:\(server.port)/slow")
        request.timeoutMilliseconds = 50
        #expect(throws: OutboundError.timedOut(milliseconds: 50)) {
            _ = try client.send(request)
        }
        request.timeoutMilliseconds = 2000
        let response = try client.send(request)
        #expect(response.status == 207)
    }

    @Test func `An answer may be as large as its limit`() throws {
        let server = try makeServer()
        var client = try HTTPClient()
        var request = OutboundRequest(
            "POST", "http://127.0.0.1:\(server.port)/", body: Array(repeating: 1, count: 1000))
        request.replyLimit = 1000
        let response = try client.send(request)
        #expect(response.body.count == 1000)
        request.replyLimit = 999
        #expect(throws: OutboundError.replyTooLarge(limit: 999)) { _ = try client.send(request) }
    }

    @Test(arguments: [
        OutboundRequest("GET", "http://127.0.0.1:1/", headers: [("X-A", "b\r\nX-C: d")]),
        OutboundRequest("GET\r\nX: y", "http://127.0.0.1:1/"), OutboundRequest("GET", "file:///x"),
        OutboundRequest("GET", ""), OutboundRequest("GET", "http://127.0.0.1:1/\u{0}"),
    ])
    func `A request that cannot be sent as meant is not sent`(request: OutboundRequest) throws {
        var client = try HTTPClient()
        do {
            _ = try client.send(request)
            Issue.record("it was sent")
        } catch {
            guard case .malformedRequest = error else { throw error }
        }
    }

    @Test func `A socket file stands in for the host`() throws {
        let folder = try ScratchFolder()
        let path = folder.file("socket")
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
        }
        try #require(isBound == 0 && listen(listener, 1) == 0)
        startThread("unix") {
            let peer = accept(listener, nil, nil)
            var request = [UInt8](repeating: 0, count: 4096)
            recv(peer, &request, request.count, 0)
            let reply = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8)
            send(peer, reply, reply.count, Int32(MSG_NOSIGNAL))
            close(peer)
        }
        var client = try HTTPClient(unixSocket: path)
        let response = try client.send(OutboundRequest("GET", "http://any.invalid/"))
        #expect(response.body == Array("hi".utf8))
    }

    @Test func `A redirect is an answer like any other`() throws {
        let server = try makeServer()
        var client = try HTTPClient()
        let response = try client.send(
            OutboundRequest("GET", "http://127.0.0.1:\(server.port)/redirect"))
        #expect(response.status == 302)
        #expect(response.header("Location") == "/")
    }
}

@Sendable private func answer(_ request: borrowing Request) -> Answer {
    if request.path == "/redirect" {
        return .now(Response(status: 302, headers: [Header("Location", "/")]))
    }
    let response = Response(
        status: 207,
        headers: [
            Header("X-Method", request.method), Header("X-Path", request.path),
            Header("X-Name", (try? request.header("X-Name")) ?? "none"),
            Header("X-Type", (try? request.header("Content-Type")) ?? "none"),
            Header("X-Expect", (try? request.header("Expect")) ?? "none"),
        ],
        body: request.body)
    guard request.path == "/slow" else { return .now(response) }
    return .later {
        usleep(200_000)
        return response
    }
}
