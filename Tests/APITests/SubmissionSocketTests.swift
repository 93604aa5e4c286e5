import API
import Core
import HTTPServer
import JSON
import Minting
import Service
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Evidence over real sockets")
struct SubmissionSocketTests {
    private let front: Storefront
    private let genuine: String

    init() throws {
        front = try Storefront()
        let sale = Sale("1", "level2", .nonConsumable, at: front.daysAgo(0))
        genuine = front.store.notification(
            "ONE_TIME_CHARGE", id: "n1", at: front.daysAgo(0),
            transaction: front.store.transaction(sale))
    }

    private func serve(_ change: (inout ServerSettings) -> Void = { _ in }) throws -> Server {
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        change(&settings)
        return try Server(settings, metrics: front.service.metrics, front.service.router)
    }

    private func request(_ path: String, _ body: String) -> String {
        "POST \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(front.backend.text)\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private let receipts = "/v1/customers/u1/receipts"
    private let notifications = "/v1/stores/apple/notifications"

    /// Expects the server to accept the genuine notification over a separate connection.
    private func expectService(_ server: Server) throws {
        let client = try RawClient(port: server.port, milliseconds: 10_000)
        client.send(request(notifications, genuine))
        #expect(client.reply()?.status == 200)
    }

    @Test(
        "Bodies are accepted up to their route's limit, and refused above it with the limit",
        arguments: [("receipts", 4 << 20), ("notifications", 256 << 10)])
    func bodies(_ route: String, _ limit: Int) throws {
        let server = try serve()
        let path = route == "receipts" ? receipts : notifications
        let member = route == "receipts" ? "receipt" : "signedPayload"
        let frame = #"{"\#(member)":""}"#.utf8.count
        for (extra, status) in [(0, route == "receipts" ? 200 : 400), (1, 413), (1 << 20, 413)] {
            let text = String(repeating: "A", count: limit - frame + extra)
            let client = try RawClient(port: server.port, milliseconds: 20_000)
            client.send(request(path, #"{"\#(member)":"\#(text)"}"#))
            let reply = try #require(client.reply())
            #expect(reply.status == status, "\(reply.body.prefix(300))")
            if status == 413 {
                let problem = try JSON.read(reply.body)
                #expect(problem["code"]?.string == "body_too_large")
                #expect(problem["detail"]?.string?.contains("\(limit)") == true)
            }
        }
        try expectService(server)
    }

    @Test("A client that sends a byte now and then is cut off, and delays no one")
    func slow() throws {
        let server = try serve { $0.timeouts.body = 400 }
        let slow = try (0..<50).map { _ in
            let client = try RawClient(port: server.port, milliseconds: 5000)
            client.send(
                "POST \(notifications) HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
            return client
        }
        for _ in 0..<8 {
            try expectService(server)
            for client in slow { client.send(" ") }
            pause(milliseconds: 100)
        }
        #expect(slow.allSatisfy { $0.isClosed() })
    }

    @Test("Nonsense of any kind is answered or cut off, and changes nothing")
    func nonsense() throws {
        let server = try serve()
        let events = try front.service.eventCount()
        inParallel(8) { index in
            for round in 0..<40 {
                guard let client = try? RawClient(port: server.port) else { continue }
                let seed = index * 40 + round
                switch seed % 4 {
                case 0: client.send((0..<300).map { UInt8(truncatingIfNeeded: $0 * (seed + 7)) })
                case 1: client.send(request(notifications, String(repeating: "[", count: 60_000)))
                case 2: client.send(request(notifications, #"{"signedPayload":"a.b.c"}"#))
                default: client.send(request(receipts, #"{"receipt":"\#(seed)"}"#))
                }
                if seed % 3 != 0 { _ = client.reply() }
            }
        }
        #expect(try front.service.eventCount() == events)
        try expectService(server)
    }

    @Test("Excess connections get an error; earlier ones are served")
    func connections() throws {
        let server = try serve { $0.connections = 100 }
        let first = try RawClient(port: server.port, milliseconds: 10_000)
        first.send(request(notifications, genuine))
        #expect(first.reply()?.status == 200)
        let told = Atomic(0)
        let others = try (0..<400).map { _ in
            try RawClient(port: server.port, milliseconds: 2000)
        }
        for client in others[110..<150] {
            client.send(request(notifications, genuine))
            if client.reply()?.status == 503 { told.add(1, ordering: .relaxed) }
        }
        #expect(told.load(ordering: .relaxed) > 0)
        first.send(request(notifications, genuine))
        #expect(first.reply()?.status == 200)
    }

    @Test("Thousands of forged notifications leave room for a genuine one")
    func forged() throws {
        let server = try serve()
        let strangers = MintedChain(.transactions)
        let forged = (0..<8).map { _ in
            #"{"signedPayload":"\#(Payload.notification().signed(by: strangers))"}"#
        }
        let isOver = Atomic(false)
        let refused = Atomic(0)
        startThread("genuine") { [self] in
            for _ in 0..<20 { try? expectService(server) }
            isOver.store(true, ordering: .relaxed)
        }
        inParallel(16) { index in
            guard let client = try? RawClient(port: server.port, milliseconds: 10_000)
            else {
                return
            }
            while !isOver.load(ordering: .relaxed) {
                client.send(request(notifications, forged[index % 8]))
                guard let reply = client.reply() else { return }
                if reply.status == 401 { refused.add(1, ordering: .relaxed) }
            }
        }
        #expect(refused.load(ordering: .relaxed) > 100)
        #expect(
            try front.service.database.number("select count(*) from deed.evidence") == 1)
    }
}
