import HTTPServer
import Telemetry
import TestSupport
import Testing
import Threading

@Suite(.timeLimit(.minutes(20)))
struct AnswerTests {
    @Test func `One connection serves one request after the other`() throws {
        let server = try makeServer(handler: echo)
        let client = try RawClient(undocumented: server.port)
        for number in 1...3 {
            client.send("GET /\(number)?a=b HTTP/1.1\r\nHost: x\r\n\r\n")
            let reply = try #require(client.reply())
            #expect(reply.status == 200)
            #expect(reply.body == "GET /\(number) a=b 0")
        }
    }

    @Test func `Requests sent at once are answered in their order`() throws {
        let server = try makeServer { request in
            let path = request.path
            return path == "/2" ? .later { text(path) } : .now(text(path))
        }
        let client = try RawClient(undocumented: server.port)
        client.send((1...3).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
        for number in 1...3 {
            #expect(client.reply()?.body == "/\(number)")
        }
    }

    @Test(arguments: [
        ("/v1/a%2Fb/%41", "-"), ("/a%zz%", "-"), ("/a+b", "c+d=%20"), ("//a/../b", ""),
        ("/" + String(repeating: "x", count: 900), "-"),
    ])
    func `Path and query come as they were sent`(path: String, query: String) throws {
        let server = try makeServer(handler: echo)
        let client = try RawClient(undocumented: server.port)
        client.send("GET \(path)\(query == "-" ? "" : "?" + query) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.reply()?.body == "GET \(path) \(query) 0")
    }

    @Test(arguments: [
        ("/a", [0xFF]), ("/a?b=", [0xC3, 0x28]), ("/", [0xFE]), ("/?", [0xED, 0xA0]),
    ])
    func `A path or query of bytes that are no UTF-8 is refused`(
        target: String, bytes: [UInt8]
    ) throws {
        let server = try makeServer(handler: echo)
        let client = try RawClient(undocumented: server.port)
        client.send(
            Array("GET \(target)".utf8) + bytes + Array(" HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        #expect(client.reply()?.body == "malformedTarget")
        client.send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.reply()?.body == "GET /next - 0")
    }

    @Test(arguments: [
        ("X-Name: a\r\nx-name: a\r\n", [], "repeated"), ("X-Name: ", [0xFF], "notUTF8"),
        ("X-Name: ", [0xC3, 0x28], "notUTF8"), ("X-Name: ", Array("ü".utf8), "ü"),
        ("X-Other: ", [0xFF], "none"),
    ])
    func `A header is no text when it comes twice or holds other bytes than UTF-8`(
        header: String, bytes: [UInt8], expected: String
    ) throws {
        let server = try makeServer { .now(text(value(of: "x-name", in: $0))) }
        let client = try RawClient(undocumented: server.port)
        client.send(Array("GET / HTTP/1.1\r\nHost: x\r\n\(header)".utf8) + bytes)
        client.send(bytes.isEmpty ? "\r\n" : "\r\n\r\n")
        #expect(client.reply()?.body == expected)
    }

    @Test func `Headers are found in any case, missing ones are nil`() throws {
        let server = try makeServer { request in
            let held = value(of: "AUTHORIZATION", in: request)
            let missing = value(of: "x-none", in: request)
            return .now(text("\(held) \(missing)"))
        }
        let client = try RawClient(undocumented: server.port)
        client.send("GET / HTTP/1.1\r\nHost: x\r\nauthorization: Bearer k\r\n\r\n")
        #expect(client.reply()?.body == "Bearer k none")
    }

    @Test func `HEAD is answered like GET, without the body`() throws {
        let server = try makeServer(handler: echo)
        let client = try RawClient(undocumented: server.port)
        client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n")
        let head = try #require(client.reply(withBody: false))
        #expect(head.status == 200)
        #expect(head.head.contains("Content-Length: \("GET /a - 0".utf8.count)\r\n"))
        #expect(client.reply()?.body == "GET /b - 0")
    }

    @Test func `A header that would break the answer is left out`() throws {
        let server = try makeServer { _ in
            .now(
                Response(
                    status: 200,
                    headers: [Header("X-A", "1\r\nX-B: 2"), Header("X-C", "3")]))
        }
        let client = try RawClient(undocumented: server.port)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        let head = try #require(client.reply()).head
        #expect(!head.contains("X-B"))
        #expect(head.contains("X-C: 3\r\n"))
    }

    @Test func `A head of eight kilobytes is served, and a longer one is served or refused`() throws
    {
        let server = try makeServer { request in .now(text(request.path)) }
        for length in stride(from: 500, through: 16_000, by: 250) {
            let client = try RawClient(undocumented: server.port)
            client.send(
                "GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "y", count: length))\r\n\r\n")
            let status = client.reply()?.status
            if length <= 8000 {
                #expect(status == 200, "a head of \(length)")
            } else {
                #expect(status.map { [200, 413, 414, 431].contains($0) } ?? false, "\(length)")
            }
        }
    }

    @Test(arguments: [
        "GET /\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "y", count: 70_000))\r\n\r\n",
    ])
    func `What is no request never gets to the handler`(request: String) throws {
        let handled = Counter()
        let server = try makeServer { request in
            handled.add()
            return echo(request)
        }
        let client = try RawClient(undocumented: server.port, milliseconds: 100)
        client.send(request)
        if let reply = client.reply() { #expect((400..<600).contains(reply.status)) }
        #expect(handled.value == 0)
        let other = try RawClient(undocumented: server.port)
        other.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(other.reply()?.status == 200)
    }

    @Test func `Answers that take time are made side by side`() throws {
        let gate = Gate()
        let server = try makeServer { _ in
            .later {
                gate.pass()
                return text("done")
            }
        }
        let replies = Monitor<[String]>([])
        for number in 1...4 {
            startThread("client-\(number)") {
                guard let client = try? RawClient(undocumented: server.port) else { return }
                client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                let body = client.reply()?.body ?? "none"
                replies.change { $0.append(body) }
            }
        }
        #expect(gate.hasGathered(4))
        gate.open()
        let all = replies.wait(milliseconds: 2000) { $0.count == 4 ? $0 : nil }
        #expect(all == Array(repeating: "done", count: 4))
    }

    @Test func `When workers and queue are full the answer is 503 at once`() throws {
        let gate = Gate()
        let metrics = Metrics()
        let server = try makeServer(metrics: metrics) {
            $0.workers = 1
            $0.queue = 1
        } handler: { _ in
            .later {
                gate.pass()
                return text("done")
            }
        }
        let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        let first = try RawClient(undocumented: server.port)
        first.send(request)
        #expect(gate.hasGathered(1))
        let second = try RawClient(undocumented: server.port)
        second.send(request)
        #expect(eventually { metrics.text().contains("deed_http_worker_queue 1\n") })
        #expect(metrics.text().contains("deed_http_workers_busy 1\n"))

        let third = try RawClient(undocumented: server.port)
        third.send(request)
        let refused = try #require(third.reply())
        #expect(refused.status == 503)
        #expect(refused.body == "busy")
        #expect(refused.head.contains("Retry-After: 1\r\n"))
        #expect(metrics.text().contains("deed_http_refused_total{reason=\"busy\"} 1\n"))

        gate.open()
        #expect(first.reply()?.body == "done")
        #expect(second.reply()?.body == "done")
        third.send(request)
        #expect(third.reply()?.body == "done")
    }

    @Test func `A client that leaves while its answer is made harms no one`() throws {
        let gate = Gate()
        let metrics = Metrics()
        let server = try makeServer(metrics: metrics) { _ in
            .later {
                gate.pass()
                return text(String(repeating: "x", count: 100_000))
            }
        }
        for number in 1...4 {
            let client = try RawClient(undocumented: server.port)
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(gate.hasGathered(number))
        }
        gate.open()
        #expect(eventually { metrics.text().contains("deed_http_connections 0\n") })
        #expect(metrics.text().contains("deed_http_requests_in_flight 0\n"))
        let client = try RawClient(undocumented: server.port)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(client.reply()?.body.count == 100_000)
    }

    @Test func `A thousand requests from 32 threads each get their own answer`() throws {
        let server = try makeServer { request in
            let answer = text(request.path)
            return request.path.hasSuffix("0") ? .later { answer } : .now(answer)
        }
        let results = Monitor<[Bool]>([])
        for thread in 0..<32 {
            startThread("client-\(thread)") {
                var isRight = true
                if let client = try? RawClient(undocumented: server.port) {
                    for number in 0..<32 {
                        client.send("GET /\(thread)/\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
                        isRight = client.reply()?.body == "/\(thread)/\(number)" && isRight
                    }
                } else {
                    isRight = false
                }
                results.change { $0.append(isRight) }
            }
        }
        let all = results.wait(milliseconds: 10_000) { $0.count == 32 ? $0 : nil }
        #expect(all == Array(repeating: true, count: 32))
    }
}

/// Returns the header's value, or the reason why there is none.
private func value(of name: StaticString, in request: borrowing Request) -> String {
    do throws(HeaderError) {
        return try request.header(name) ?? "none"
    } catch {
        return "\(error)"
    }
}
