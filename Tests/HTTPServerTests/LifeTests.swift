import Glibc
import HTTPServer
import Outbound
import Telemetry
import TestSupport
import Testing
import Threading

@Suite(.timeLimit(.minutes(20)))
struct LifeTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    /// Returns a server that answers when the gate opens.
    private func gatedServer() throws -> (Server, Gate) {
        let gate = Gate()
        let server = try makeServer { _ in
            .later {
                gate.pass()
                return text("done")
            }
        }
        return (server, gate)
    }

    private func client(heldBy gate: Gate, at server: Server) throws -> RawClient {
        let client = try RawClient(undocumented: server.port)
        client.send(Self.request)
        #expect(gate.hasGathered(1))
        return client
    }

    @Test func `A drain finishes what was taken and takes nothing new`() throws {
        let (server, gate) = try gatedServer()
        let client = try client(heldBy: gate, at: server)
        let idle = try RawClient(undocumented: server.port)

        let drained = Monitor<Bool?>(nil)
        startThread("drain") {
            let isDone = server.drain(milliseconds: 2000)
            drained.change { $0 = isDone }
        }
        #expect(idle.isClosed())
        #expect(throws: RawClient.Refused.self) { _ = try RawClient(undocumented: server.port) }
        #expect(drained.change { $0 } == nil)

        gate.open()
        let reply = try #require(client.reply())
        #expect(reply.body == "done")
        #expect(reply.head.contains("Connection: close\r\n"))
        #expect(client.isClosed())
        #expect(drained.wait(milliseconds: 2000) { $0 } == true)
    }

    @Test func `A request that comes while draining is refused`() throws {
        let (server, gate) = try gatedServer()
        let client = try client(heldBy: gate, at: server)
        let late = try RawClient(undocumented: server.port)
        late.send("GET / HTTP/1.1\r\n")
        usleep(50_000)
        startThread("drain") { server.drain(milliseconds: 2000) }
        #expect(eventually { (try? RawClient(undocumented: server.port)) == nil })
        late.send("Host: x\r\n\r\n")
        let reply = try #require(late.reply())
        #expect(reply.status == 503)
        #expect(reply.body == "draining")
        gate.open()
        #expect(client.reply()?.body == "done")
    }

    @Test func `A drain gives up when its time is over`() throws {
        let (server, gate) = try gatedServer()
        let client = try client(heldBy: gate, at: server)
        let start = monotonicMilliseconds()
        #expect(!server.drain(milliseconds: 100))
        #expect((100..<1000).contains(monotonicMilliseconds() - start))
        gate.open()
        #expect(client.reply()?.body == "done")
    }

    @Test func `An answer may come from any thread while the workers do other things`() throws {
        let replies = Monitor<[LateReply]>([])
        let server = try makeServer { _ in
            .eventually { reply in replies.change { $0.append(reply) } }
        }
        // There are more clients than workers.
        let clients = try (0..<20).map { _ in try RawClient(undocumented: server.port) }
        for client in clients { client.send(Self.request) }
        let all = try #require(
            replies.wait(milliseconds: 2000) { $0.count == 20 ? $0 : nil })
        for reply in all {
            reply(text("once"))
            reply(text("twice"))
        }
        for client in clients { #expect(client.reply()?.body == "once") }
        replies.change { $0 = [] }
        #expect(server.drain(milliseconds: 2000))
    }

    @Test func `An answer that is underway may be there at once, or come from any thread`() throws {
        let replies = Monitor<[LateReply]>([])
        let server = try makeServer { request in
            let path = request.path
            return .underway { reply in
                if path == "/" { return reply(text("at once")) }
                if path == "/lost" { return }
                replies.change { $0.append(reply) }
            }
        }
        let quick = try RawClient(undocumented: server.port)
        for _ in 0..<100 {
            quick.send(Self.request)
            #expect(quick.reply()?.body == "at once")
        }
        let lost = try RawClient(undocumented: server.port)
        lost.send("GET /lost HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(lost.reply() == nil)
        // There are more clients than workers.
        let clients = try (0..<20).map { _ in try RawClient(undocumented: server.port) }
        for client in clients { client.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n") }
        let all = try #require(
            replies.wait(milliseconds: 2000) { $0.count == 20 ? $0 : nil })
        quick.send(Self.request)
        #expect(quick.reply()?.body == "at once")
        for reply in all { reply(text("late")) }
        for client in clients { #expect(client.reply()?.body == "late") }
        replies.change { $0 = [] }
        #expect(server.drain(milliseconds: 2000))
    }

    @Test func `What was begun goes on ahead of what waits, also when the queue is full`() throws {
        let begun = Monitor<LateReply?>(nil)
        let order = Monitor<[String]>([])
        let gate = Gate()
        let metrics = Metrics()
        let server = try makeServer(metrics: metrics) {
            $0.workers = 1
            $0.queue = 1
        } handler: { request in
            let path = request.path
            if path == "/begun" { return .underway { reply in begun.change { $0 = reply } } }
            return .later {
                if path == "/first" { gate.pass() }
                order.change { $0.append(path) }
                return text(path)
            }
        }
        let clients = try ["/begun", "/first", "/waits"].map { path in
            let client = try RawClient(undocumented: server.port)
            client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
            if path == "/first" { #expect(gate.hasGathered(1)) }
            return client
        }
        #expect(eventually { metrics.text().contains("deed_http_worker_queue 1\n") })
        let reply = try #require(begun.wait(milliseconds: 2000) { $0.take() })
        reply.whenPatient {
            order.change { $0.append("/begun") }
            reply(text("/begun"))
        }
        gate.open()
        #expect(clients.map { $0.reply()?.body } == ["/begun", "/first", "/waits"])
        #expect(order.change { $0 } == ["/first", "/begun", "/waits"])
    }

    @Test func `A missing reply closes its connection and no other`() throws {
        let server = try makeServer { request in
            let path = request.path
            return .eventually { reply in if path == "/" { reply(text("given")) } }
        }
        let lost = try RawClient(undocumented: server.port)
        lost.send("GET /lost HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(lost.reply() == nil)
        let client = try RawClient(undocumented: server.port)
        client.send(Self.request)
        #expect(client.reply()?.body == "given")
        #expect(server.drain(milliseconds: 2000))
    }

    @Test func `A server drains under load without losing an answer that it began`() throws {
        let server = try makeServer { request in
            let path = request.path
            return .later { text(path) }
        }
        let ends = Monitor<[Bool]>([])
        for number in 1...8 {
            startThread("client-\(number)") {
                // Whether every answer was right until the server closed the connection between two answers.
                var isRight = true
                if let client = try? RawClient(undocumented: server.port) {
                    while client.send("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n") {
                        guard let reply = client.reply() else { break }
                        isRight =
                            isRight && (reply.body == "/\(number)" || reply.body == "draining")
                    }
                }
                ends.change { $0.append(isRight) }
            }
        }
        usleep(50_000)
        #expect(server.drain(milliseconds: 2000))
        let all = ends.wait(milliseconds: 4000) { $0.count == 8 ? $0 : nil }
        #expect(all == Array(repeating: true, count: 8))
    }

    @Test func `A port in use is named, and free again after a drain`() throws {
        let server = try makeServer(handler: echo)
        let address = "127.0.0.1:\(server.port)"
        #expect(throws: ServerError.addressTaken(address)) {
            _ = try makeServer {
                $0.listen = address
            } handler: {
                echo($0)
            }
        }
        #expect(server.drain(milliseconds: 1000))
        let next = try makeServer {
            $0.listen = address
        } handler: {
            echo($0)
        }
        #expect(next.port == server.port)
    }

    @Test(arguments: [
        "", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:http", "::1:80", "[::1]",
        "nowhere.invalid:80", "1.2.3:x", "127.0.0.1:+80", "127.0.0.1:-0",
    ])
    func `An address that is none is refused`(address: String) {
        #expect(throws: ServerError.addressMalformed(address)) {
            _ = try makeServer {
                $0.listen = address
            } handler: {
                echo($0)
            }
        }
    }

    @Test func `An address of another machine is refused`() {
        #expect(throws: ServerError.addressUnusable("192.0.2.1:0", code: EADDRNOTAVAIL)) {
            _ = try makeServer {
                $0.listen = "192.0.2.1:0"
            } handler: {
                echo($0)
            }
        }
    }

    @Test(arguments: ["127.0.0.1:0", "localhost:0", ":0", "0.0.0.0:0"])
    func `Every way to write an address is served`(address: String) throws {
        let server = try makeServer {
            $0.listen = address
        } handler: {
            echo($0)
        }
        let client = try RawClient(undocumented: server.port)
        client.send(Self.request)
        #expect(client.reply()?.status == 200)
    }

    @Test func `IPv6 is served`() throws {
        let server = try makeServer {
            $0.listen = "[::1]:0"
        } handler: {
            echo($0)
        }
        var client = try HTTPClient()
        let response = try client.send(OutboundRequest("GET", "http://[::1]:\(server.port)/a"))
        #expect(String(decoding: response.body, as: UTF8.self) == "GET /a - 0")
    }

    @Test func `TLS serves both kinds of answer`() throws {
        let folder = try ScratchFolder()
        let files = try folder.makeCertificate("server")
        let server = try makeServer {
            $0.tls = TLSFiles(certificate: files.certificate, key: files.key)
        } handler: { request in
            let answer = text(String(repeating: "x", count: 50_000))
            return request.path == "/later" ? .later { answer } : .now(answer)
        }
        var client = try HTTPClient(caFile: files.certificate)
        for path in ["/now", "/later", "/now"] {
            let url = "https://127.0.0.1:\(server.port)\(path)"
            let response = try client.send(OutboundRequest("GET", url))
            #expect(response.status == 200)
            #expect(response.body.count == 50_000)
        }
        #expect(server.drain(milliseconds: 1000))
    }

    @Test func `A certificate that cannot be used is named`() throws {
        let folder = try ScratchFolder()
        let one = try folder.makeCertificate("one")
        let other = try folder.makeCertificate("other")
        let junk = try folder.write("no certificate", to: "junk.pem")
        let missing = folder.file("missing.pem")
        #expect(throws: ServerError.fileUnreadable(path: missing, code: ENOENT)) {
            _ = try makeServer {
                $0.tls = TLSFiles(certificate: missing, key: one.key)
            } handler: {
                echo($0)
            }
        }
        for (certificate, key) in [(one.certificate, other.key), (junk, one.key)] {
            let expected = ServerError.certificateRejected(certificate: certificate, key: key)
            #expect(throws: expected) {
                _ = try makeServer {
                    $0.tls = TLSFiles(certificate: certificate, key: key)
                } handler: {
                    echo($0)
                }
            }
        }
    }
}
