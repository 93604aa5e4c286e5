import Glibc
import HTTPServer
import Outbound
import Synchronization
import Telemetry
import TestSupport
import Testing
import Threading

@Suite("The courier", .timeLimit(.minutes(20)))
struct CourierTests {
    private func makeServer(metrics: Metrics = Metrics()) throws -> Server {
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        return try Server(
            settings, metrics: metrics, bodyLimit: { _, _ in 1 << 20 },
            refusal: { _, _ in Response(status: 503) },
            handler: { request in
                .now(Response(status: 200, body: Array(request.path.utf8)))
            })
    }

    private func request(_ port: UInt16, _ path: String = "/", lane: String = "") -> OutboundRequest
    {
        var request = OutboundRequest("GET", "http://127.0.0.1:\(port)\(path)")
        request.lane = lane
        return request
    }

    /// Returns a listener that never answers its connections.
    private func silence() throws -> (listener: Int32, port: UInt16) { try listenOnFreePort() }

    @Test("Many requests share one thread and few connections, and each gets its own answer")
    func many() throws {
        let metrics = Metrics()
        let server = try makeServer(metrics: metrics)
        let courier = try Courier()
        defer { courier.close() }
        let answers = Mutex<[Int: String]>([:])
        let threads = Mutex<Set<pthread_t>>([])
        for number in 0..<200 {
            courier.send(request(server.port, "/\(number)")) { answer in
                let body = (try? answer.get()).map { String(decoding: $0.body, as: UTF8.self) }
                threads.withLock { _ = $0.insert(pthread_self()) }
                answers.withLock { $0[number] = body }
            }
        }
        #expect(eventually(within: 20_000) { answers.withLock { $0.count } == 200 })
        #expect(answers.withLock { $0 }.allSatisfy { $0.value == "/\($0.key)" })
        #expect(threads.withLock { $0.count } == 1)
        let opened = metrics.text().split(separator: "\n")
            .first { $0.hasPrefix("deed_http_connections_total ") }
            .flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
        #expect((1...8).contains(opened ?? 0), "\(opened ?? 0) connections")
    }

    @Test("A lane with a hanging server delays no other lane")
    func lanes() throws {
        let server = try makeServer()
        let (listener, port) = try silence()
        defer { close(listener) }
        let courier = try Courier()
        defer { courier.close() }
        for _ in 0..<50 { courier.send(request(port, lane: "ill")) { _ in } }
        let started = monotonicMilliseconds()
        let answer = try courier.send(request(server.port, lane: "well"))
        #expect(answer.status == 200)
        #expect(monotonicMilliseconds() - started < 2000)
    }

    @Test("A lane has no more requests under way than places")
    func places() throws {
        let open = Mutex(0)
        let most = Mutex(0)
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        let server = try Server(
            settings, metrics: Metrics(), bodyLimit: { _, _ in 1 << 20 },
            refusal: { _, _ in Response(status: 503) },
            handler: { _ in
                .later {
                    let now = open.withLock { open in
                        open += 1
                        return open
                    }
                    most.withLock { $0 = max($0, now) }
                    pause(milliseconds: 20)
                    open.withLock { $0 -= 1 }
                    return Response(status: 200)
                }
            })
        var limits = Courier.Limits()
        limits.perLane = 3
        let courier = try Courier(limits)
        defer { courier.close() }
        let done = Mutex(0)
        for _ in 0..<30 {
            courier.send(request(server.port)) { _ in done.withLock { $0 += 1 } }
        }
        #expect(eventually(within: 20_000) { done.withLock { $0 } == 30 })
        #expect(most.withLock { $0 } == 3)
    }

    @Test("A server that never begins to answer is given up before the whole time")
    func firstByte() throws {
        let (listener, port) = try silence()
        defer { close(listener) }
        let courier = try Courier()
        defer { courier.close() }
        var request = request(port)
        request.firstByteMilliseconds = 200
        let started = monotonicMilliseconds()
        #expect(throws: OutboundError.timedOut(milliseconds: 200)) { try courier.send(request) }
        #expect(monotonicMilliseconds() - started < 3000)
    }

    @Test("A request that waits too long for a place is given up, too")
    func overdue() throws {
        let (listener, port) = try silence()
        defer { close(listener) }
        var limits = Courier.Limits()
        limits.perLane = 1
        let courier = try Courier(limits)
        defer { courier.close() }
        courier.send(request(port)) { _ in }
        var second = request(port)
        second.timeoutMilliseconds = 300
        #expect(throws: OutboundError.timedOut(milliseconds: 300)) { try courier.send(second) }
    }

    @Test("Requests above the waiting limit are refused at once")
    func overload() throws {
        let (listener, port) = try silence()
        defer { close(listener) }
        var limits = Courier.Limits()
        limits.requests = 2
        let courier = try Courier(limits)
        defer { courier.close() }
        for _ in 0..<2 { courier.send(request(port)) { _ in } }
        #expect(throws: OutboundError.overloaded(limit: 2)) { try courier.send(request(port)) }
    }

    @Test("A stop answers every sender at once, and later ones are refused")
    func stop() throws {
        let (listener, port) = try silence()
        defer { close(listener) }
        let courier = try Courier()
        let answers = Mutex<[OutboundError?]>([])
        for _ in 0..<20 {
            courier.send(request(port)) { answer in
                var error: OutboundError?
                if case .failure(let reason) = answer { error = reason }
                answers.withLock { $0.append(error) }
            }
        }
        pause(milliseconds: 50)
        let started = monotonicMilliseconds()
        courier.close()
        #expect(monotonicMilliseconds() - started < 2000)
        #expect(answers.withLock { $0 } == Array(repeating: .cancelled, count: 20))
        #expect(throws: OutboundError.cancelled) { try courier.send(request(port)) }
    }

    @Test("Variables that name proxies are ignored")
    func proxies() throws {
        setenv("http_proxy", "http://127.0.0.1:1/", 1)
        defer { unsetenv("http_proxy") }
        let server = try makeServer()
        let courier = try Courier()
        defer { courier.close() }
        #expect(try courier.send(request(server.port)).status == 200)
        var client = try HTTPClient()
        #expect(try client.send(request(server.port)).status == 200)
    }

    @Test("An endless head is cut off")
    func endlessHead() throws {
        let (listener, port) = try listenOnFreePort()
        startThread("endless head") {
            let peer = accept(listener, nil, nil)
            var text = Array("HTTP/1.1 200 OK\r\n".utf8)
            while send(peer, text, text.count, Int32(MSG_NOSIGNAL)) > 0 {
                text = Array("X-More: \(String(repeating: "a", count: 1000))\r\n".utf8)
            }
            close(peer)
        }
        defer { close(listener) }
        let courier = try Courier()
        defer { courier.close() }
        do {
            _ = try courier.send(request(port))
            Issue.record("it was taken")
        } catch {
            guard case .replyTooLarge = error else { throw error }
        }
    }

    @Test(
        "A reply that may be cut keeps its status, however long it is", arguments: [200, 410, 429])
    func cut(_ status: Int) throws {
        let (listener, port) = try listenOnFreePort()
        startThread("long reply") {
            for _ in 0..<2 {
                let peer = accept(listener, nil, nil)
                var bytes = [UInt8](repeating: 0, count: 4096)
                _ = read(peer, &bytes, bytes.count)
                var text = Array("HTTP/1.1 \(status) OK\r\nRetry-After: 7\r\n\r\n".utf8)
                while send(peer, text, text.count, Int32(MSG_NOSIGNAL)) > 0 {
                    text = Array(repeating: UInt8(ascii: "a"), count: 5000)
                }
                close(peer)
            }
        }
        defer { close(listener) }
        let courier = try Courier()
        defer { courier.close() }
        var asked = request(port)
        asked.replyLimit = 64 << 10
        let strict = asked
        #expect(throws: OutboundError.replyTooLarge(limit: 64 << 10)) { try courier.send(strict) }
        asked.cutsReply = true
        let response = try courier.send(asked)
        #expect(response.status == status && response.header("retry-after") == "7")
        #expect(response.body == Array(repeating: UInt8(ascii: "a"), count: 64 << 10))
    }
}
