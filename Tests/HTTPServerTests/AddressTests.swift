import HTTPServer
import TestSupport
import Testing

@Suite("Where clients are", .timeLimit(.minutes(5)))
struct AddressTests {
    private func serve(_ change: (inout ServerSettings) -> Void) throws -> Server {
        try makeServer(change) { request in .now(text("\(request.client.map { "\($0)" } ?? "-")")) }
    }

    private func client(_ fields: String, at server: Server) throws -> String? {
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
        return client.reply()?.body
    }

    @Test("Whoever is no trusted proxy speaks for himself alone")
    func untrusted() throws {
        let server = try serve { $0.trustedProxies = TrustedProxies("10.0.0.0/8")! }
        #expect(try client("", at: server) == "127.0.0.1")
        #expect(try client("X-Forwarded-For: 192.0.2.1\r\n", at: server) == "127.0.0.1")
        #expect(try client("Forwarded: for=192.0.2.1\r\n", at: server) == "127.0.0.1")
    }

    @Test(
        "A trusted proxy names the client last, and what a client wrote before that counts nothing",
        arguments: [
            ("", "127.0.0.1"),
            ("X-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"),
            ("X-Forwarded-For: 198.51.100.7, 192.0.2.1\r\n", "192.0.2.1"),
            ("X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"),
            ("X-Forwarded-For: 192.0.2.1, 10.1.2.3\r\n", "192.0.2.1"),
            ("X-Forwarded-For: 198.51.100.7, nonsense\r\n", "127.0.0.1"),
            ("X-Forwarded-For: [2001:db8:1:2:3::4]:443\r\n", "2001:db8:1:2::/64"),
            ("Forwarded: for=192.0.2.1;proto=https\r\n", "192.0.2.1"),
            ("Forwarded: for=198.51.100.7, proto=https; For=\"192.0.2.1:80\"\r\n", "192.0.2.1"),
            ("Forwarded: for=198.51.100.7\r\nX-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"),
        ])
    func trusted(_ fields: String, _ expected: String) throws {
        let server = try serve { $0.trustedProxies = TrustedProxies("127.0.0.1, 10.0.0.0/8")! }
        #expect(try client(fields, at: server) == expected)
    }

    @Test(
        "What is no list of addresses and networks is refused",
        arguments: ["", "x", "10.0.0.0/33", "10.0.0.0/", "10.0.0.1,", "::1/129", "10.0.0.0/-1"])
    func malformed(_ list: String) {
        #expect(TrustedProxies(list) == nil)
    }

    @Test("An address that has its share of connections is told so, and then only closed")
    func share() throws {
        let server = try serve { $0.connectionsPerAddress = 3 }
        var held = try (0..<3).map { _ in try RawClient(port: server.port) }
        for client in held {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.reply()?.status == 200)
        }
        let told = try RawClient(port: server.port)
        told.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(told.reply()?.status == 503)
        #expect(told.isClosed())
        let many = try (0..<40).map { _ in try RawClient(port: server.port) }
        #expect(many.count { $0.isClosed() } >= 20)
        held.removeLast()
        #expect(
            eventually {
                guard let client = try? RawClient(port: server.port) else { return false }
                client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                return client.reply()?.status == 200
            })
    }

    @Test("A trusted proxy may have all connections")
    func proxyShare() throws {
        let server = try serve {
            $0.connectionsPerAddress = 3
            $0.trustedProxies = TrustedProxies("127.0.0.0/8")!
        }
        let held = try (0..<20).map { _ in try RawClient(port: server.port) }
        for client in held {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.reply()?.status == 200)
        }
    }
}
