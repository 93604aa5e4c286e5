import Glibc
import HTTPServer
import Telemetry
import TestSupport
import Testing
import Threading

@Suite(.timeLimit(.minutes(20)))
struct LimitTests {
    private static func chunked(_ count: Int, of size: Int) -> String {
        let chunk = String(size, radix: 16) + "\r\n" + String(repeating: "x", count: size) + "\r\n"
        return "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            + String(repeating: chunk, count: count) + "0\r\n\r\n"
    }

    private static func declared(_ count: Int, path: String = "/") -> String {
        "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(count)\r\n\r\n"
            + String(repeating: "x", count: count)
    }

    @Test func `Bodies of all connections together take no more memory than they may`() throws {
        let gate = Gate()
        let metrics = Metrics()
        let server = try makeServer(metrics: metrics, { $0.bodyMemory = 1500 }) { _ in
            .later {
                gate.pass()
                return text("taken")
            }
        }
        let request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n"
        let body = String(repeating: "x", count: 900)
        let first = try RawClient(undocumented: server.port)
        first.send(request + body)
        #expect(gate.hasGathered(1))
        let second = try RawClient(undocumented: server.port)
        second.send(request + body)
        #expect(second.reply()?.status == 503)
        gate.open()
        #expect(first.reply()?.body == "taken")
        // The server frees the memory shortly after it has sent the first answer.
        let isTaken = eventually {
            let third = try? RawClient(undocumented: server.port)
            third?.send(request + body)
            return third?.reply()?.body == "taken"
        }
        #expect(isTaken)
        #expect(server.drain(milliseconds: 2000))
        #expect(metrics.text().contains("deed_http_body_bytes 0\n"))
    }

    @Test(arguments: [
        (declared(1000), 200, "POST / - 1000"), (declared(0), 200, "POST / - 0"),
        (declared(1001), 413, "bodyTooLarge(limit: 1000)"),
        (declared(900_000), 413, "bodyTooLarge(limit: 1000)"),
        (declared(1 << 20, path: "/large"), 200, "POST /large - 1048576"),
        (declared(1 << 20, path: "/boundless"), 200, "POST /boundless - 1048576"),
        (chunked(10, of: 100), 200, "POST / - 1000"),
        (chunked(11, of: 100), 413, "bodyTooLarge(limit: 1000)"),
        (chunked(100, of: 10_000), 413, "bodyTooLarge(limit: 1000)"),
    ])
    func `A body may be as large as its limit, and the connection outlives a larger one`(
        request: String, status: Int, body: String
    ) throws {
        let server = try makeServer(handler: echo)
        let client = try RawClient(undocumented: server.port)
        client.send(request)
        let reply = try #require(client.reply())
        #expect(reply.status == status)
        #expect(reply.body == body)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.reply()?.status == 200)
    }

    @Test(arguments: [
        ("Content-Length: 2000\r\nExpect: 100-continue", "bodyTooLarge(limit: 1000)"),
        ("Content-Length: 100000000", "bodyTooLarge(limit: 1000)"),
    ])
    func `What should not be sent at all is refused before it is`(
        headers: String, body: String
    ) throws {
        let server = try makeServer(handler: echo)
        let client = try RawClient(undocumented: server.port)
        client.send("POST / HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n")
        let reply = try #require(client.reply())
        #expect(reply.status == 413)
        #expect(reply.body == body)
        #expect(client.isClosed())
    }

    @Test(arguments: [
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Content-Length: 3\r\nContent-Length: 5",
        "Content-Length: 3\r\ncontent-length: 3",
    ])
    func `A body whose end is in doubt is refused`(headers: String) throws {
        let server = try makeServer(handler: echo)
        let client = try RawClient(undocumented: server.port)
        client.send("POST / HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n")
        let reply = try #require(client.reply())
        #expect(reply.body == "unframed(HTTPServer.FramingFault.ambiguousLength)")
        #expect(reply.head.contains("Connection: close\r\n"))
        #expect(client.isClosed())
    }

    @Test func `A client that asks first is told to go on`() throws {
        let server = try makeServer(handler: echo)
        let client = try RawClient(undocumented: server.port)
        client.send(
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        #expect(client.reply()?.status == 100)
        client.send("abc")
        #expect(client.reply()?.body == "POST / - 3")
    }

    @Test func `A body without end is cut off`() throws {
        let server = try makeServer(handler: echo)
        let client = try RawClient(undocumented: server.port)
        client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n"
        let sent = (0..<1000).prefix { _ in client.send(chunk) }.count
        #expect(sent < 1000)
    }

    /// Each client sends a beginning and then repeats the same bytes, without ever completing a request.
    @Test(arguments: [
        ("", "", "nothing at all"),
        ("GET / HTTP/1.1\r\n", "X-A: b\r\n", "headers that trickle in"),
        ("G", "E", "a first line that trickles in"),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n", "x",
            "a body that trickles in"
        ),
    ])
    func `A client that comes to no end is cut off`(
        first: String, again: String, name: String
    ) throws {
        let server = try makeServer {
            $0.timeouts.head = 150
            $0.timeouts.body = 150
        } handler: {
            echo($0)
        }
        let start = monotonicMilliseconds()
        let client = try RawClient(undocumented: server.port, milliseconds: 20)
        client.send(first)
        var isClosed = false
        while !isClosed, monotonicMilliseconds() - start < 1500 {
            client.send(again)
            isClosed = client.isClosed()
        }
        #expect(isClosed)
        #expect(monotonicMilliseconds() - start >= 150)
    }

    @Test func `An idle connection is closed after its time, a busy one is not`() throws {
        let server = try makeServer {
            $0.timeouts.idle = 100
            $0.timeouts.head = 100
            $0.timeouts.body = 100
        } handler: { _ in
            .later {
                usleep(300_000)
                return text("late")
            }
        }
        let client = try RawClient(undocumented: server.port)
        let start = monotonicMilliseconds()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.reply()?.body == "late")
        #expect(client.isClosed())
        #expect(monotonicMilliseconds() - start >= 400)
    }

    @Test func `A client that does not take its answer is cut off`() throws {
        let metrics = Metrics()
        let server = try makeServer(metrics: metrics) {
            $0.timeouts.body = 150
        } handler: { _ in
            .now(Response(status: 200, body: [UInt8](repeating: 0x78, count: 32 << 20)))
        }
        let client = try RawClient(undocumented: server.port)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(eventually { metrics.text().contains("deed_http_requests_in_flight 1\n") })
        #expect(eventually { metrics.text().contains("deed_http_connections 0\n") })
        client.finishSending()
    }

    @Test func `A client that takes a large answer at a steady rate gets all of it`() throws {
        let size = 64 << 20
        let server = try makeServer {
            $0.timeouts.body = 1500
        } handler: { _ in
            .now(Response(status: 200, body: [UInt8](repeating: 0x78, count: size)))
        }
        let client = try RawClient(undocumented: server.port)
        let start = monotonicMilliseconds()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.reply(withBody: false)?.status == 200)
        var (count, isMore) = (0, true)
        while isMore, count < size {
            let some = client.drop(min(400 << 10, size - count))
            count += some
            isMore = some > 0
            usleep(50_000)
        }
        #expect(count == size)
        #expect(monotonicMilliseconds() - start > 3 * 1500)
    }

    @Test func `A client that takes almost nothing of a large answer is cut off`() throws {
        let metrics = Metrics()
        let server = try makeServer(metrics: metrics) {
            $0.timeouts.body = 500
        } handler: { _ in
            .now(Response(status: 200, body: [UInt8](repeating: 0x78, count: 32 << 20)))
        }
        let client = try RawClient(undocumented: server.port, isNarrow: true)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.reply(withBody: false)?.status == 200)
        let isCutOff = eventually(within: 10_000) {
            // About 10 kB/s.
            _ = client.drop(500)
            usleep(50_000)
            return metrics.text().contains("deed_http_connections 0\n")
        }
        #expect(isCutOff)
    }

    @Test func `One connection too many is told so and closed`() throws {
        let metrics = Metrics()
        let server = try makeServer(metrics: metrics) {
            $0.connections = 2
        } handler: {
            echo($0)
        }
        let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        let first = try RawClient(undocumented: server.port)
        first.send(request)
        #expect(first.reply()?.status == 200)
        do {
            let second = try RawClient(undocumented: server.port)
            second.send(request)
            #expect(second.reply()?.status == 200)
            let third = try RawClient(undocumented: server.port)
            third.send(request)
            let reply = try #require(third.reply())
            #expect(reply.status == 503)
            #expect(reply.body == "tooManyConnections")
            #expect(reply.head.contains("Retry-After: 1\r\n"))
            #expect(reply.head.contains("Connection: close\r\n"))
            #expect(third.isClosed())
        }
        #expect(eventually { metrics.text().contains("deed_http_connections 1\n") })
        let fourth = try RawClient(undocumented: server.port)
        fourth.send(request)
        #expect(fourth.reply()?.status == 200)
    }

    @Test func `Bursts of connections far beyond the limit harm no one once they are over`() throws
    {
        let server = try makeServer {
            $0.connections = 4
            $0.timeouts.head = 300
        } handler: {
            echo($0)
        }
        for _ in 0..<3 {
            inParallel(8) { _ in
                let burst = (0..<60).compactMap { _ in try? RawClient(undocumented: server.port) }
                for client in burst { client.send("G") }
            }
        }
        #expect(
            eventually {
                guard let client = try? RawClient(undocumented: server.port, milliseconds: 300)
                else {
                    return false
                }
                client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                return client.reply()?.status == 200
            })
    }
}
