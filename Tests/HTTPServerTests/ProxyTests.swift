import Foundation
import Glibc
import HTTPServer
import TestSupport
import Testing
import Threading

@Suite("The recommended proxies", .timeLimit(.minutes(20)))
struct ProxyTests {
    /// How many connections each client may have, according to the proxies' files and the documentation.
    private static let share = 256

    private func serve(
        _ handler: @escaping @Sendable (borrowing Request) -> Answer
    ) throws -> Server {
        let proxies = try #require(TrustedProxies("127.0.0.1"))
        return try makeServer({ $0.trustedProxies = proxies }, handler: handler)
    }

    private func ask(
        at port: UInt16, from host: UInt8, _ fields: String = ""
    ) throws -> RawClient {
        let client = try RawClient(undocumented: port, milliseconds: 10_000, from: host)
        client.send("GET /v1/a HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
        return client
    }

    @Test(
        "Whatever a client writes about its address, Deed gets the real one",
        arguments: Proxy.Kind.allCases)
    func addresses(_ kind: Proxy.Kind) throws {
        let server = try serve { .now(text("\($0.client.map { "\($0)" } ?? "-")")) }
        let proxy = try Proxy(kind, before: server.port)
        let names = TrustedProxies.headers
        let lines = [
            "", "\(names.forwardedFor): 198.51.100.7\r\n",
            "\(names.forwarded): for=198.51.100.7\r\n",
            "\(names.forwarded): for=198.51.100.7\r\n\(names.forwardedFor): 198.51.100.7\r\n",
            "FORWARDED: for=127.0.0.1\r\nforwarded: for=198.51.100.7\r\n",
            "x-forwarded-for: 198.51.100.7\r\nX-FORWARDED-FOR: 127.0.0.1\r\n",
            "X_Forwarded_For: 198.51.100.7\r\n", "Connection: X-Forwarded-For\r\n",
            "Connection: Forwarded\r\n\(names.forwarded): for=198.51.100.7\r\n",
        ]
        for fields in lines {
            let reply = try ask(at: proxy.port, from: 77, fields).reply()
            #expect(reply?.body == "127.0.0.77", "\(fields)")
        }
    }

    // Caddy itself has no such limit. The test uses a separate network, so that the rule affects nothing else.
    @Test(
        "The rule with Caddy's file gives each client its share of connections",
        .enabled(if: getuid() == 0, "only root may set rules"))
    func rule() throws {
        let advised = try Proxy.advised("Caddyfile").split(separator: "\n")
        let rule = advised.filter { $0.hasPrefix("#   ") }.map { $0.dropFirst(4) }
        let folder = try ScratchFolder()
        let file = try folder.write(rule.joined(separator: "\n") + "\n", to: "rule")
        let clients = """
            import socket
            server = socket.socket()
            server.bind(("127.0.0.1", 443))
            server.listen(1000)
            held = []
            def connected(address, count):
                answered = 0
                for _ in range(count):
                    client = socket.socket()
                    client.bind((address, 0))
                    held.append(client)
                    answered += client.connect_ex(("127.0.0.1", 443)) == 0
                return answered
            print(connected("127.0.0.5", 300), connected("127.0.0.6", 10))
            """
        let script = try folder.write(clients, to: "clients.py")
        let output = folder.file("output")
        let process = try ChildProcess(
            "/usr/bin/unshare",
            ["-n", "sh", "-c", "ip link set lo up && nft -f \(file) && python3 \(script)"],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], output: output,
            errors: folder.file("errors"))
        #expect(process.wait(milliseconds: 30_000) == 0)
        #expect(try String(contentsOfFile: output, encoding: .utf8) == "\(Self.share) 10\n")
    }

    @Test(
        "One client has its share of connections, and another has its own",
        arguments: [Proxy.Kind.nginx, .haproxy])
    func connections(_ kind: Proxy.Kind) throws {
        let gate = Gate()
        let server = try serve { _ in
            .later {
                gate.pass()
                return text("answered")
            }
        }
        let proxy = try Proxy(kind, before: server.port)
        let held = try (0..<(Self.share + 44)).map { _ in try ask(at: proxy.port, from: 77) }
        let other = try ask(at: proxy.port, from: 78)
        // The proxy must get all requests before the first one is answered.
        pause(milliseconds: patient(1000))
        gate.open()
        #expect(other.reply()?.body == "answered")
        let statuses = held.map { $0.reply()?.status ?? 0 }
        #expect(statuses.count { $0 == 200 } == Self.share, "\(Set(statuses))")
    }

    @Test("A version other than HTTP/1 gets one answer", arguments: Proxy.Kind.allCases)
    func versions(_ kind: Proxy.Kind) throws {
        let server = try serve { _ in .now(text("answered")) }
        let proxy = try Proxy(kind, before: server.port)
        for version in ["HTTP/2.0", "HTTP/2.1", "HTTP/3.0", "HTTP/3.1", "HTTP/9.9"] {
            let client = try RawClient(undocumented: proxy.port, milliseconds: 5000)
            client.send("GET /v1/a \(version)\r\nHost: h\r\n\r\n")
            let reply = client.reply()
            #expect([400, 505].contains(reply?.status), "\(version)")
            #expect(client.reply() == nil, "\(version)")
        }
    }
}
