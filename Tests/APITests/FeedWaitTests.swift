import API
import Core
import Feed
import HTTPServer
import JSON
import Service
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Calls that wait for events", .timeLimit(.minutes(20)))
struct FeedWaitTests {
    private let service: TestService
    private let other: TestService
    private let key: NewKey
    private let project: ProjectID

    init() throws {
        service = try TestService()
        other = try TestService(beside: service)
        key = try service.key(.admin)
        project = try ProjectID("default")
    }

    private func give(_ customer: String, through service: TestService? = nil) {
        let reply = (service ?? self.service).send(
            "POST", "/v1/customers/\(customer)/grants", key: key,
            body: #"{"entitlement":"pro","reason":"r","allow_unknown":true}"#)
        #expect(reply.status == 201, "\(reply.text)")
    }

    private func serve() throws -> Server {
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        return try Server(settings, metrics: service.metrics, service.router)
    }

    private func ask(_ server: Server, _ query: String) throws -> RawClient {
        let client = try RawClient(port: server.port, milliseconds: 60_000)
        client.send(
            "GET /v1/events?\(query) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key.text)\r\n\r\n"
        )
        return client
    }

    private func customers(_ client: RawClient) throws -> [String] {
        let reply = try #require(client.reply())
        let page = try JSON.read(reply.body)
        return try #require(page["events"]?.array, "\(reply)").map(\.customer)
    }

    @Test("A waiting call gets a write from any instance, and other calls keep waiting")
    func woken() throws {
        let server = try serve()
        let place = try service.feed("after=end", key: key).next
        for (number, writer) in [service, other].enumerated() {
            let client = try ask(server, "after=end&wait=30&types=grant.*")
            let one = try ask(server, "after=\(place)&wait=30&customer=u\(number)")
            let never = try ask(server, "after=end&wait=3&types=purchase.made")
            let changed = try ask(server, "after=end&wait=30&types=entitlement.started")
            #expect(eventually(within: 20_000) { service.feed.waiting == 4 })
            give("v\(number)", through: writer)
            let told = [try customers(client), try customers(changed)]
            #expect(told == [["v\(number)"], ["v\(number)"]])
            give("u\(number)", through: writer)
            #expect(try customers(one) == ["u\(number)"])
            #expect(try customers(never) == [])
        }
        #expect(service.feed.waiting == 0)
        #expect(service.feed.waiting == 0 && server.drain(milliseconds: 10_000))
    }

    @Test("A call whose key is revoked while it waits gets no event")
    func revoked() throws {
        let server = try serve()
        let reader = try service.key(.reader)
        let client = try RawClient(port: server.port, milliseconds: 60_000)
        client.send(
            "GET /v1/events?after=end&wait=30 HTTP/1.1\r\nHost: x\r\n"
                + "Authorization: Bearer \(reader.text)\r\n\r\n")
        #expect(eventually(within: 20_000) { service.feed.waiting == 1 })
        try service.revoke(reader)
        give("u1")
        let reply = try #require(client.reply())
        #expect(reply.status == 401 && reply.body.contains("key_unknown"), "\(reply.body)")
    }

    @Test("Existing events are answered at once")
    func atOnce() throws {
        give("u1")
        let reply = service.send("GET", "/v1/events?wait=30", key: key)
        #expect(try FeedReply(reply).events.count == 1)
        #expect(service.feed.waiting == 0)
    }

    @Test("1,024 calls wait without threads, another is answered at once, and one write ends all")
    func many() throws {
        let given = Mutex<[[String]]>([])
        var question = FeedQuestion(project, .production)
        question.start = .end
        for number in 0..<Feed.waitLimit {
            // The callers before and after this event wait at different positions.
            if number == 500 { give("early") }
            guard
                case .waiting(let ticket, let page) = try service.feed.ask(
                    question, waiting: 30_000)
            else { throw Unexpected() }
            service.feed.hold(ticket, page) { result in
                let customers = (try? result.get())?.items.map(\.stream.customer.text)
                given.withLock { $0.append(customers ?? ["?"]) }
            }
        }
        #expect(eventually(within: 20_000) { given.withLock(\.count) == 500 })
        for _ in 0..<500 {
            guard
                case .waiting(let ticket, let page) = try service.feed.ask(
                    question, waiting: 30_000)
            else { throw Unexpected() }
            service.feed.hold(ticket, page) { result in
                given.withLock { $0.append((try? result.get())?.items.map(\.id) ?? []) }
            }
        }
        #expect(service.feed.waiting == Feed.waitLimit)
        guard case .page(let page) = try service.feed.ask(question, waiting: 30_000) else {
            throw Unexpected()
        }
        #expect(page.items.isEmpty && !page.isMore)
        give("late", through: other)
        #expect(eventually(within: 20_000) { given.withLock(\.count) == Feed.waitLimit + 500 })
        #expect(given.withLock { $0.allSatisfy { $0.count == 1 } })
        #expect(service.feed.waiting == 0)
    }

    private struct Unexpected: Error {}

    @Test("A stop answers all waiting calls, and later ones as well")
    func stop() throws {
        let server = try serve()
        let clients = try (0..<20).map { _ in try ask(server, "after=end&wait=30") }
        #expect(eventually(within: 20_000) { service.feed.waiting == 20 })
        service.feed.stop()
        for client in clients { #expect(try customers(client) == []) }
        let reply = service.send("GET", "/v1/events?after=end&wait=30", key: key)
        #expect(try FeedReply(reply).events.isEmpty)
        #expect(server.drain(milliseconds: 10_000))
    }

    @Test("Waiting readers get everything that two instances write, once each")
    func nothingMissed() throws {
        let (services, count) = ([service, other], 200)
        let places = try services.map { try $0.feed("after=end", key: key).next }
        let told = Mutex<[[String]]>([[], []])
        inParallel(4) { index in
            if index < 2 {
                for number in 0..<count {
                    give("u\(number % 30)-\(index)", through: services[index])
                }
                return
            }
            var next = places[index - 2]
            while told.withLock({ $0[index - 2].count < 2 * count }) {
                let query = "access=0&limit=7&wait=5&after=\(next)"
                guard let page = try? services[index - 2].feed(query, key: key) else { return }
                next = page.next
                told.withLock { $0[index - 2] += page.events.map(\.id) }
            }
        }
        for ids in told.withLock({ $0 }) {
            #expect(ids.count == 2 * count && Set(ids).count == ids.count)
        }
    }
}
