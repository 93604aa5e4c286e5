import Glibc
import HTTPServer
import TestSupport
import Testing
import Threading

@Suite("Client addresses", .timeLimit(.minutes(20)))
struct AddressTests {
    private func serve(_ change: (inout ServerSettings) -> Void) throws -> Server {
        try makeServer(change) { request in .now(text("\(request.client.map { "\($0)" } ?? "-")")) }
    }

    private func client(_ fields: String, at server: Server) throws -> String? {
        let client = try RawClient(undocumented: server.port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
        return client.reply()?.body
    }

    @Test("A request came through a proxy only if the proxy is trusted and names its client")
    func way() throws {
        func way(_ fields: String, trusting proxies: String) throws -> String? {
            let server = try makeServer({ $0.trustedProxies = TrustedProxies(proxies)! }) {
                request in .now(text("\(request.way.map { "\($0)" } ?? "-")"))
            }
            return try client(fields, at: server)
        }
        for line in ["X-Forwarded-For: 192.0.2.1\r\n", "Forwarded: for=192.0.2.1\r\n"] {
            #expect(try way(line, trusting: "127.0.0.1") == "proxy")
            #expect(try way(line, trusting: "10.0.0.1") == "thisMachine")
        }
        #expect(try way("", trusting: "127.0.0.1") == "thisMachine")
    }

    @Test("A client that is no trusted proxy speaks only for itself")
    func untrusted() throws {
        let server = try serve { $0.trustedProxies = TrustedProxies("10.0.0.0/8")! }
        #expect(try client("", at: server) == "127.0.0.1")
        #expect(try client("X-Forwarded-For: 192.0.2.1\r\n", at: server) == "127.0.0.1")
        #expect(try client("Forwarded: for=192.0.2.1\r\n", at: server) == "127.0.0.1")
    }

    @Test(
        "A trusted proxy names the client last, and earlier entries from a client do not count",
        arguments: [
            ("", "127.0.0.1"),
            ("X-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"),
            ("X-Forwarded-For: 198.51.100.7, 192.0.2.1\r\n", "192.0.2.1"),
            ("X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"),
            ("X-Forwarded-For: 192.0.2.1, 10.1.2.3\r\n", "192.0.2.1"),
            ("X-Forwarded-For: 198.51.100.7, nonsense\r\n", "127.0.0.1"),
            ("X-Forwarded-For: [2001:db8:1:2:3::4]:443\r\n", "2001:db8:1::/56"),
            ("Forwarded: for=192.0.2.1;proto=https\r\n", "192.0.2.1"),
            ("Forwarded: for=198.51.100.7, proto=https; For=\"192.0.2.1:80\"\r\n", "192.0.2.1"),
            ("X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 10.1.2.3\r\n", "192.0.2.1"),
            ("Forwarded: for=192.0.2.1\r\nForwarded: for=10.1.2.3\r\n", "192.0.2.1"),
            ("Forwarded: for=198.51.100.7, proto=https\r\n", "127.0.0.1"),
            ("X-Forwarded-For:\r\n", "127.0.0.1"),
        ])
    func trusted(_ fields: String, _ expected: String) throws {
        let server = try serve { $0.trustedProxies = TrustedProxies("127.0.0.1, 10.0.0.0/8")! }
        #expect(try client(fields, at: server) == expected)
    }

    @Test(
        "If two headers name different clients, neither counts",
        arguments: [
            ("Forwarded: for=198.51.100.7\r\nX-Forwarded-For: 192.0.2.1\r\n", "127.0.0.1"),
            ("Forwarded: for=192.0.2.1\r\nX-Forwarded-For: nonsense\r\n", "127.0.0.1"),
            ("Forwarded: for=192.0.2.1\r\nX-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"),
            ("Forwarded: for=192.0.2.1\r\nX-Forwarded-For:\r\n", "192.0.2.1"),
        ])
    func twoHeaders(_ fields: String, _ expected: String) throws {
        let server = try serve { $0.trustedProxies = TrustedProxies("127.0.0.1, 10.0.0.0/8")! }
        #expect(try client(fields, at: server) == expected)
    }

    @Test(
        "A network contains only addresses of its own family",
        arguments: [
            ("10.0.0.5", "::1", false), ("0.0.0.0/0", "::1", false), ("::/0", "10.0.0.5", false),
            ("10.0.0.5", "10.0.0.5", true), ("0.0.0.0/0", "192.0.2.1", true),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("::1", "::1", true),
            ("2001:db8::/32", "2001:db8:1::1", true), ("2001:db8::/32", "2001:db9::1", false),
        ])
    func families(_ list: String, _ address: String, _ isTrusted: Bool) throws {
        let address = try #require(ClientAddress(address))
        #expect(TrustedProxies(list)?.contains(address) == isTrusted)
    }

    @Test(
        "A bad list of addresses and networks is refused",
        arguments: ["", "x", "10.0.0.0/33", "10.0.0.0/", "10.0.0.1,", "::1/129", "10.0.0.0/-1"])
    func malformed(_ list: String) {
        #expect(TrustedProxies(list) == nil)
    }

    @Test("An address above its share of connections gets an error, and then only a close")
    func share() throws {
        let server = try serve { $0.connectionsPerAddress = 3 }
        var held = try (0..<3).map { _ in try RawClient(undocumented: server.port) }
        for client in held {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.reply()?.status == 200)
        }
        let told = try RawClient(undocumented: server.port)
        told.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(told.reply()?.status == 503)
        #expect(told.isClosed())
        let many = try (0..<40).map { _ in try RawClient(undocumented: server.port) }
        #expect(many.count { $0.isClosed() } >= 20)
        held.removeLast()
        #expect(
            eventually {
                guard let client = try? RawClient(undocumented: server.port) else { return false }
                client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                return client.reply()?.status == 200
            })
    }

    @Test(
        "If a few addresses hold all connections, their longest idle one gives way"
    )
    func crowd() throws {
        let server = try serve {
            $0.connections = 40
            $0.connectionsPerAddress = 10
        }
        func ask(_ client: RawClient) -> Int? {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            return client.reply()?.status
        }
        let held = try (0..<40).map {
            try RawClient(undocumented: server.port, from: UInt8(2 + $0 % 4))
        }
        for client in held { #expect(ask(client) == 200) }
        let newcomers = try (6..<12).map { try RawClient(undocumented: server.port, from: $0) }
        for client in newcomers { #expect(ask(client) == 200) }
        let left = held.map { ask($0) == 200 }
        #expect(left.count { $0 } == 34, "\(left)")
    }

    /// Connections can hold a place by sending nothing, part of a head, or part of a body.
    @Test(
        "Many addresses with few connections keep no newcomer out, and end no known client",
        arguments: [
            "", "GET / HTTP/1.1\r\nX: y",
            "POST /large HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nx",
        ])
    func spreadCrowd(_ beginning: String) throws {
        let server = try makeServer({ $0.connections = 200 }) { request in
            if (try? request.header("Authorization")) == "known" { request.memo?.content = Token() }
            return .now(text("heard"))
        }
        func ask(_ client: RawClient, _ fields: String = "") -> Int? {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
            return client.reply()?.status
        }
        let known = try (0..<50).map { _ in try RawClient(undocumented: server.port, from: 2) }
        for client in known { #expect(ask(client, "Authorization: known\r\n") == 200) }
        // Twenty addresses hold all other places, including the places of connections that get an error.
        let crowd = try (0..<300).map {
            try RawClient(undocumented: server.port, from: UInt8(10 + $0 % 20))
        }
        for client in crowd { client.send(beginning) }
        usleep(200_000)
        let newcomers = try (40..<45).map { try RawClient(undocumented: server.port, from: $0) }
        for client in newcomers { #expect(ask(client) == 200) }
        for client in known { #expect(ask(client) == 200) }
    }

    @Test("One address may have an eighth of the strangers' queue")
    func queueShare() throws {
        let gate = Monitor(false)
        let server = try makeServer({
            $0.trustedProxies = TrustedProxies("127.0.0.1")!
            $0.strangersQueue = 16
            $0.strangersWorkers = 1
        }) { _ in
            .later(in: .strangers) {
                gate.wait { $0 ? () : nil }
                return text("looked at")
            }
        }
        func ask(_ address: String) throws -> RawClient {
            let client = try RawClient(undocumented: server.port, milliseconds: 10_000)
            client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: \(address)\r\n\r\n")
            return client
        }
        let first = try ask("192.0.2.1")
        usleep(100_000)
        // The server handles one request, and two are waiting.
        let many = try (0..<10).map { _ in try ask("192.0.2.1") }
        usleep(100_000)
        let other = try ask("192.0.2.2")
        usleep(100_000)
        gate.change { $0 = true }
        #expect(first.reply()?.status == 200)
        #expect(many.count { $0.reply()?.status == 200 } == 2)
        #expect(other.reply()?.status == 200)
    }

    @Test("The system buffers little for a client that does not read")
    func untaken() throws {
        let server = try serve { _ in }
        let client = try RawClient(undocumented: server.port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.reply()?.status == 200)
        let socket = try #require(client.otherEnd())
        var bytes: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, &length)
        // The system doubles the requested size.
        #expect(bytes == 128 << 10)
    }

    @Test("A trusted proxy may have all connections")
    func proxyShare() throws {
        let server = try serve {
            $0.connectionsPerAddress = 3
            $0.trustedProxies = TrustedProxies("127.0.0.0/8")!
        }
        let held = try (0..<20).map { _ in try RawClient(undocumented: server.port) }
        for client in held {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.reply()?.status == 200)
        }
    }
}

/// An object that stands for a known key.
private final class Token {}
