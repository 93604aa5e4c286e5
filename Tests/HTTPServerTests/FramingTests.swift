import Foundation
import Glibc
import HTTPServer
import Histories
import Synchronization
import Telemetry
import TestSupport
import Testing
import Threading

@Suite("Requests are framed strictly", .timeLimit(.minutes(20)))
struct FramingTests {
    /// A server that records the targets of the requests that its handler gets.
    private final class Witness: Sendable {
        private let targets = Mutex<[String]>([])
        private let unmarked = Mutex<[String]>([])

        private let kept = Mutex<[String]>([])

        var seen: [String] { targets.withLock { $0 } }
        /// The bodies that are not empty.
        var bodies: [String] { kept.withLock { $0 } }
        /// The targets of requests without the mark that a proxy adds to each request.
        var seenUnmarked: [String] { unmarked.withLock { $0 } }

        func serve(_ change: (inout ServerSettings) -> Void = { _ in }) throws -> Server {
            try Server(
                with(ServerSettings()) {
                    $0.listen = "127.0.0.1:0"
                    $0.threads = 2
                    change(&$0)
                },
                metrics: Metrics(), bodyLimit: { _, _ in 1 << 20 },
                refusal: { refusal, _ in
                    guard case .unframed(let fault) = refusal else { return Response(status: 503) }
                    return Response(status: fault.status, body: Array("\(fault)".utf8))
                },
                handler: { [self] request in
                    let path = request.path
                    targets.withLock { $0.append(path) }
                    let body = String(decoding: request.body, as: UTF8.self)
                    if !body.isEmpty { kept.withLock { $0.append(body) } }
                    let mark = try? request.header("X-Forwarded-For")
                    if mark != "127.0.0.1" { unmarked.withLock { $0.append(path) } }
                    return .later { text(path) }
                })
        }
    }

    /// Sends the request in pieces. Returns the statuses, and whether the connection ends.
    private func result(
        of request: RawRequest, in pieces: [ArraySlice<UInt8>], at port: UInt16
    ) throws -> (statuses: [Int], isClosed: Bool) {
        let client = try RawClient(undocumented: port, milliseconds: request.isFine ? 100 : 2000)
        for piece in pieces {
            if !client.send(Array(piece)) { break }
            if pieces.count > 1 { usleep(200) }
        }
        var statuses: [Int] = []
        let patient = request.statuses.count
        while statuses.count < patient + 1, let reply = client.reply() {
            statuses.append(reply.status)
            if !request.isFine, statuses.count == patient { break }
        }
        return (statuses, client.isClosed())
    }

    private func expect(
        _ request: RawRequest, in pieces: [ArraySlice<UInt8>], _ note: String
    ) throws {
        let witness = Witness()
        let server = try witness.serve()
        let (statuses, isClosed) = try result(of: request, in: pieces, at: server.port)
        #expect(statuses == request.statuses, "\(note)")
        #expect(
            witness.seen.allSatisfy { $0 == "/a" } && witness.seen.count == request.seen.count,
            "\(note)")
        #expect(witness.bodies == request.bodies, "\(note)")
        #expect(isClosed == !request.isFine || request.name == "HTTP/1.0 without Host", "\(note)")
        #expect(server.drain(milliseconds: 2000))
    }

    @Test("Bytes that are no request get one answer and the end", arguments: RawRequest.all)
    func directly(_ request: RawRequest) throws {
        try expect(request, in: [request.bytes[...]], "in one piece")
    }

    @Test("The same in whatever pieces they come", arguments: RawRequest.all)
    func inPieces(_ request: RawRequest) throws {
        let seed = printedSeed(of: "pieces of \(request.name)")
        var random = SeededGenerator(seed: seed)
        var pieces: [ArraySlice<UInt8>] = []
        var rest = request.bytes[...]
        let most = request.bytes.count > 2000 ? 2000 : 12
        while !rest.isEmpty {
            let count = min(rest.count, Int.random(in: 1...most, using: &random))
            pieces.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        try expect(request, in: pieces, "seed \(seed)")
    }

    @Test("The table has more than sixty requests, each under its own name")
    func table() {
        #expect(RawRequest.all.count > 60)
        #expect(Set(RawRequest.all.map(\.name)).count == RawRequest.all.count)
    }

    @Test("Behind a proxy no request hides in another", arguments: Proxy.Kind.allCases)
    func behindProxy(_ kind: Proxy.Kind) throws {
        let witness = Witness()
        // Caddy may stop in the middle of a request, so the server must not wait long for a body.
        let server = try witness.serve { $0.timeouts.body = 1000 }
        let proxy = try Proxy(kind, before: server.port)
        for request in RawRequest.all {
            let raw = try RawClient(undocumented: proxy.port, milliseconds: 300)
            raw.send(Proxy.moved(request.bytes))
            while let reply = raw.reply() {
                let isFine = reply.status < 500 || [501, 505].contains(reply.status)
                #expect(isFine || kind == .caddy, "\(request.name): \(reply.status)")
            }
            // The connection between the proxy and the server still works.
            let honest = try RawClient(undocumented: proxy.port)
            honest.send(
                Proxy.moved(Array(RawRequest.get("Connection: close\r\n", target: "/b").utf8)))
            let reply = honest.reply()
            #expect(
                reply?.body.hasSuffix("/b") == true, "\(request.name): \(reply?.head ?? "none")")
        }
        // A request hidden in another one would lack the proxy's mark.
        #expect(witness.seenUnmarked == [])
        #expect(witness.seen.count > RawRequest.all.count)
        #expect(server.drain(milliseconds: 2000))
    }

    @Test(
        "The same over TLS",
        arguments: [
            ("GET /a HTTP/1.1\\r\\nHost: h\\r\\nConnection: close\\r\\n\\r\\n", [200]),
            (
                "GET /a HTTP/1.1\\r\\nHost: h\\r\\n\\r\\nGET /a HTTP/1.1\\r\\nHost : h\\r\\n\\r\\n",
                [200, 400]
            ),
        ])
    func encrypted(_ request: String, _ statuses: [Int]) throws {
        let witness = Witness()
        let folder = try ScratchFolder()
        let files = try folder.makeCertificate("server")
        let server = try witness.serve {
            $0.tls = TLSFiles(certificate: files.certificate, key: files.key)
        }
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/bin/sh")
        client.arguments = [
            "-c",
            "printf '\(request)' | timeout 10 openssl s_client -quiet -connect 127.0.0.1:\(server.port)",
        ]
        let output = Pipe()
        client.standardOutput = output
        client.standardError = FileHandle.nullDevice
        try client.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        client.waitUntilExit()
        let found = text.matches(of: /HTTP\/1\.1 (\d+)/).compactMap { Int($0.1) }
        #expect(found == statuses, "\(text)")
        #expect(witness.seen.count == 1)
    }

    @Test("A partial head has a head's time, however long the connection has been idle")
    func partOfHead() throws {
        let witness = Witness()
        let server = try witness.serve {
            $0.timeouts.head = 200
            $0.timeouts.idle = 60_000
        }
        let client = try RawClient(undocumented: server.port)
        client.send(RawRequest.get("") + "GET /a")
        #expect(client.reply()?.status == 200)
        let start = monotonicMilliseconds()
        #expect(client.isClosed())
        #expect(monotonicMilliseconds() - start < 2000)
        #expect(witness.seen == ["/a"])
    }
}

private func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var value = value
    change(&value)
    return value
}
