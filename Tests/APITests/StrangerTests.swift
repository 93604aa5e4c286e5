import Core
import Evidence
import HTTPServer
import JSON
import Minting
import Service
import Synchronization
import Telemetry
import TestSupport
import Testing
import Threading

@testable import API

@Suite("Strangers do no harm", .timeLimit(.minutes(20)))
struct StrangerTests {
    private let front: Storefront
    private static let notifications = "/v1/stores/apple/notifications"

    init() throws {
        front = try Storefront()
    }

    private func serve(_ change: (inout ServerSettings) -> Void = { _ in }) throws -> Server {
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        // Each request names its client, so that one test can act as many clients.
        settings.trustedProxies = TrustedProxies("127.0.0.1") ?? .none
        change(&settings)
        return try Server(settings, metrics: front.service.metrics, front.service.router)
    }

    private func head(
        _ path: String, _ length: Int, from address: String = "192.0.2.1", key: String? = nil
    ) -> String {
        "POST \(path) HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: \(address)\r\n"
            + (key.map { "Authorization: Bearer \($0)\r\n" } ?? "")
            + "Content-Length: \(length)\r\n\r\n"
    }

    private func post(
        _ path: String, _ body: String, from address: String = "192.0.2.1", key: String? = nil,
        to server: Server
    ) throws -> RawClient.Reply? {
        let client = try RawClient(port: server.port, milliseconds: 20_000)
        client.send(head(path, body.utf8.count, from: address, key: key) + body)
        return client.reply()
    }

    private func genuine(_ number: Int) -> String {
        let sale = Sale(
            "\(number)", "pro.month", .autoRenewable, at: front.daysAgo(1),
            until: front.daysAgo(-29))
        return front.store.notification(
            "SUBSCRIBED", id: "n\(number)", at: front.daysAgo(0),
            transaction: front.store.transaction(sale))
    }

    /// Returns evidence under an unknown root, with a new leaf each time.
    private func forged(for app: String = Payload.bundleID) -> String {
        let payload = Payload.notification(bundleID: app)
        return #"{"signedPayload":"\#(payload.signed(by: MintedChain(.transactions)))"}"#
    }

    @Test("No stranger learns from forged notifications which apps are here")
    func hostedApps() throws {
        let server = try serve()
        var elsewhere = front.store
        elsewhere.bundleID = "com.example.elsewhere"
        let stores = [front.store, elsewhere]
        // Some bodies contain a genuine notification's certificates, which anyone can copy. Others
        // contain a stranger's.
        let copied = stores.map { store in
            String(store.notification("TEST", id: "1", at: front.daysAgo(0)).dropLast(12))
                + #"AAAAAAAAAA"}"#
        }
        let own = stores.map { store in (0..<12).map { _ in forged(for: store.bundleID) } }
        #expect(try post(Self.notifications, genuine(1), to: server)?.status == 200)
        var told: [[String?]] = []
        for number in stores.indices {
            let bodies = Array(repeating: copied[number], count: 20) + own[number]
            told.append(
                try bodies.map { body in
                    let address = "192.0.2.\(50 + number)"
                    let reply = try post(Self.notifications, body, from: address, to: server)
                    return reply.map { "\($0.status) \($0.body)" }
                })
        }
        #expect(told[0] == told[1])
        #expect(told[1].count { $0?.hasPrefix("401") == true } == 30, "\(told[1])")
        #expect(told[1].count { $0?.hasPrefix("429") == true } == 2)
    }

    @Test("Genuine notifications are accepted while forged ones come from everywhere")
    func forgedChains() throws {
        let server = try serve()
        #expect(try post(Self.notifications, genuine(1), to: server)?.status == 200)
        let statuses = Mutex<[Int]>([])
        let bodies = (0..<120).map { _ in forged() }
        inParallel(8) { lane in
            for number in 0..<15 {
                let reply = try? self.post(
                    Self.notifications, bodies[lane * 15 + number], from: "198.51.100.\(number)",
                    to: server)
                statuses.withLock { $0.append(reply?.status ?? 0) }
            }
        }
        let found = Set(statuses.withLock { $0 })
        // The clock stands still, so Deed checks only as many bodies as it allows at once.
        #expect(found == [401, 429], "\(found)")
        // Sixty are allowed, and the genuine notification used one, because its signer was unknown.
        #expect(statuses.withLock { $0 }.count { $0 == 401 } == 59)
        for number in 2..<12 {
            #expect(try post(Self.notifications, genuine(number), to: server)?.status == 200)
        }
    }

    @Test("Each address has its own share, and a refused chain costs nothing more")
    func shares() throws {
        let server = try serve()
        let replies = try (0..<12).map { _ in try post(Self.notifications, forged(), to: server) }
        #expect(replies.map { $0?.status } == Array(repeating: 401, count: 10) + [429, 429])
        #expect(replies.last??.head.contains("Retry-After: 60\r\n") == true)
        let other = forged()
        for _ in 0..<20 {
            let reply = try post(Self.notifications, other, from: "192.0.2.2", to: server)
            #expect(reply?.status == 401)
        }
        let metrics = front.service.metrics.text()
        #expect(metrics.contains(#"deed_notifications_total{outcome="throttled"} 2"#))
    }

    @Test("Wrong signatures are refused, and a genuine one from the same address is accepted")
    func badSignatures() throws {
        let server = try serve()
        let sent = genuine(1)
        #expect(try post(Self.notifications, sent, to: server)?.status == 200)
        let changed = String(sent.dropLast(12)) + #"AAAAAAAAAA"}"#
        let statuses = try (0..<60).map { _ in
            try post(Self.notifications, changed, from: "192.0.2.7", to: server)?.status
        }
        #expect(statuses == Array(repeating: 401, count: 60))
        // A genuine notification from that address is still accepted.
        #expect(
            try post(Self.notifications, genuine(2), from: "192.0.2.7", to: server)?.status == 200)
    }

    @Test(
        "Addresses with genuine notifications go before strangers, until too many were forged")
    func trustedAddresses() {
        let submissions = Submissions(front.service.intake, apps: front.service.apps)
        let gate = NotificationGate(submissions, of: .notification)
        func isTrusted(_ address: String) -> Bool { gate.enter(from: address).isTrusted }
        #expect(!isTrusted("192.0.2.7"))
        gate.noteGenuine(gate.enter(from: "192.0.2.7"))
        gate.noteGenuine(gate.enter(from: "192.0.2.8"))
        // Sends as many genuine notifications as Deed allows.
        for _ in 0..<1000 {
            let entry = gate.enter(from: "192.0.2.7")
            #expect(entry.isTrusted)
            gate.noteGenuine(entry)
        }
        // It does not matter how a call ends: with a bad signature, an unknown app, or no JSON.
        #expect((0..<201).map { _ in isTrusted("192.0.2.7") }.count { $0 } == 200)
        #expect(!isTrusted("192.0.2.7") && isTrusted("192.0.2.8"))
        front.service.clock.advance(byMilliseconds: 1000)
        #expect(isTrusted("192.0.2.7"))
    }

    @Test("A body without a key for the call takes no memory")
    func keylessBodies() throws {
        let server = try serve()
        let reader = try front.service.key(.reader).text
        let path = "/v1/customers/u1/receipts"
        let keys: [(String?, Int, String)] = [
            (nil, 401, "key_missing"), ("deed_backend_unknown", 401, "key_unknown"),
            (reader, 403, "role_insufficient"),
        ]
        let part = String(repeating: "x", count: 1 << 20)
        for (key, status, code) in keys {
            let uploads = try (0..<5).map { _ in
                let client = try RawClient(port: server.port, milliseconds: 20_000)
                client.send(head(path, 4 << 20, key: key) + part)
                return client
            }
            #expect(front.service.metrics.text().contains("deed_http_body_bytes 0\n"))
            for upload in uploads {
                for _ in 0..<3 { upload.send(part) }
                let reply = try #require(upload.reply())
                #expect(reply.status == status, "\(reply.head)")
                #expect(try JSON.read(reply.body)["code"]?.string == code)
                // The connection is still usable.
                upload.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(upload.reply()?.status == 200)
            }
        }
    }

    @Test("A key may send a body as soon as it exists, in one piece or in chunks")
    func newKey() throws {
        let server = try serve()
        let sale = Sale("1", "level2", .nonConsumable, at: front.daysAgo(0))
        let body = front.signed([sale]).text
        let key = try front.service.key(.backend).text
        #expect(try post("/v1/customers/u1/receipts", body, key: key, to: server)?.status == 200)
        let other = try front.service.key(.backend).text
        let client = try RawClient(port: server.port, milliseconds: 20_000)
        client.send(
            "POST /v1/customers/u2/receipts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(other)\r\n"
                + "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")
        #expect(client.reply()?.status == 100)
        client.send("\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n")
        #expect(client.reply()?.status == 200)
    }

    @Test("One stranger's bodies leave room for others'")
    func slowBodies() throws {
        let server = try serve { $0.strangersMemory = 1 << 20 }
        #expect(try post(Self.notifications, genuine(1), to: server)?.status == 200)
        let part = String(repeating: "x", count: 60_000)
        let slow = try (0..<10).map { _ in
            let client = try RawClient(port: server.port, milliseconds: 20_000)
            client.send(head(Self.notifications, 100_000, from: "192.0.2.7") + part)
            return client
        }
        #expect(try post(Self.notifications, genuine(2), to: server)?.status == 200)
        var statuses: [Int] = []
        for client in slow {
            client.send(String(repeating: "x", count: 40_000))
            statuses.append(client.reply()?.status ?? 0)
        }
        #expect(statuses.contains(429))
    }

    @Test("Unknown keys are counted, logged once a minute, and finally refused unread")
    func failedKeys() throws {
        let lines = Mutex<[String]>([])
        let service = front.service
        let operations = Operations(
            obstacles: { [] }, metrics: service.metrics,
            log: Log { line in lines.withLock { $0.append(line) } })
        let router = Router(
            service.useCases, service.reads, Submissions(service.intake, apps: service.apps),
            feed: service.feed, keys: service.keys, operations: operations)
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        let server = try Server(settings, metrics: Metrics(), router)
        let client = try RawClient(port: server.port, milliseconds: 20_000)
        func ask(_ key: String) -> Int? {
            client.send(
                "GET /v1/customers/u1/entitlements HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key)\r\n\r\n"
            )
            return client.reply()?.status
        }
        let statuses = (0..<60).map { _ in ask("deed_reader_secret") }
        #expect(statuses == Array(repeating: 401, count: 50) + Array(repeating: 429, count: 10))
        #expect(ask(front.backend.text) == 200)
        let found = lines.withLock { $0 }
        #expect(found.count == 1)
        #expect(found.first?.contains(#""event":"key_refused","address":"127.0.0.1""#) == true)
        #expect(!found.joined().contains("secret"))
        service.clock.advance(byMilliseconds: 60_000)
        #expect(ask("deed_reader_secret") == 401)
        #expect(lines.withLock { $0.last }?.contains(#""count":50"#) == true)
        #expect(service.metrics.text().contains("deed_keys_refused_total 51"))
    }

    @Test(
        "Whatever the number of addresses with failed keys, the log gets sixty lines a minute")
    func failedKeysFromEverywhere() throws {
        let lines = Mutex<[String]>([])
        let service = front.service
        let failed = FailedKeys(
            Metrics(), Log { line in lines.withLock { $0.append(line) } },
            now: service.ports.machineClock)
        let addresses = (0..<2000).compactMap { ClientAddress("198.51.\($0 / 250).\($0 % 250)") }
        for _ in 0..<3 {
            for address in addresses { failed.note(from: address) }
        }
        #expect(lines.withLock { $0 }.count == 60)
        service.clock.advance(byMilliseconds: 60_000)
        failed.note(from: ClientAddress("192.0.2.1"))
        let found = lines.withLock { Array($0.dropFirst(60)) }
        #expect(found.count == 2)
        #expect(found.first?.contains(#""address":"192.0.2.1","count":1"#) == true)
        // All but the sixty logged calls count: three from each other address, and two from each of the sixty.
        let sum = 1940 * 3 + 60 * 2
        #expect(found.last?.contains(#""addresses":2000,"count":\#(sum)"#) == true)
    }

    @Test("Addresses beyond the remembered ones share a single allowance")
    func manyAddresses() {
        var throttle = Throttle(each: .init(2, perSecond: 1))
        let now = front.service.clock.now
        func take(_ who: Range<Int>, at now: Instant) -> [Bool] {
            who.map { throttle.take("\($0)", at: now) }
        }
        #expect(!take(0..<10_000, at: now).contains(false))
        #expect(
            take(10_000..<10_010, at: now) == [true, true] + Array(repeating: false, count: 8))
        let isAllowed = throttle.allows("another", at: now)
        #expect(!isAllowed)
        // Remembered callers have a separate allowance.
        #expect(take(7..<8, at: now) + take(7..<8, at: now) == [true, false])
        let later = now.advanced(byMilliseconds: 2000)
        #expect(take(20_000..<20_001, at: later) + take(7..<8, at: later) == [true, true])
    }
}
