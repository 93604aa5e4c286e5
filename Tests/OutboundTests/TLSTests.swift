import Foundation
import Glibc
import Outbound
import TestSupport
import Testing
import Threading

@Suite("Servers with TLS", .timeLimit(.minutes(20)))
struct TLSTests {
    private func words(_ response: OutboundResponse) -> [String] {
        String(decoding: response.body, as: UTF8.self).split(separator: " ").map(String.init)
    }

    @Test("HTTP/2 is spoken, with TLS 1.2 or newer, over one connection that is kept")
    func modern() throws {
        let server = try SecureServer()
        let courier = try Courier(caFile: server.authority)
        defer { courier.close() }
        var client = try HTTPClient(caFile: server.authority)
        var connections: Set<String> = []
        for _ in 0..<5 {
            let told = words(try courier.send(OutboundRequest("GET", server.url)))
            #expect(told.count == 3 && told[0] == "HTTP/2.0" && told[1] == "TLSv1.3", "\(told)")
            connections.insert(told[2])
        }
        #expect(connections.count == 1)
        #expect(words(try client.send(OutboundRequest("GET", server.url)))[0] == "HTTP/2.0")
    }

    @Test(
        "A server that cannot prove its identity gets no request",
        arguments: SecureServer.Fault.allCases)
    func unproven(_ fault: SecureServer.Fault) throws {
        let server = try SecureServer(fault)
        let courier = try Courier(caFile: server.authority)
        defer { courier.close() }
        var client = try HTTPClient(caFile: server.authority)
        let request = OutboundRequest("GET", server.url)
        for attempt in 0..<2 {
            do throws(OutboundError) {
                _ = try attempt == 0 ? courier.send(request) : client.send(request)
                Issue.record("\(fault) was believed")
            } catch {
                guard case .untrusted = error else { throw error }
            }
        }
    }

    @Test("A broken handshake says nothing about trust, whether cut or of an old version")
    func handshake() throws {
        let (listener, port) = try listenOnFreePort()
        defer { close(listener) }
        startThread("hang up") {
            for _ in 0..<2 { close(accept(listener, nil, nil)) }
        }
        let old = try SecureServer(isOld: true)
        let courier = try Courier(caFile: old.authority)
        defer { courier.close() }
        for url in ["https://localhost:\(port)", old.url] {
            do throws(OutboundError) {
                _ = try courier.send(OutboundRequest("GET", url))
                Issue.record("\(url) answered")
            } catch {
                guard case .brokenOff = error else { throw error }
            }
        }
    }

    @Test("An unknown authority vouches for nothing by itself")
    func system() throws {
        let server = try SecureServer()
        let courier = try Courier()
        defer { courier.close() }
        do throws(OutboundError) {
            _ = try courier.send(OutboundRequest("GET", server.url))
            Issue.record("it was believed")
        } catch {
            guard case .untrusted = error else { throw error }
        }
    }

    @Test("A redirect is not followed, and no variable names a proxy")
    func straight() throws {
        for name in ["https_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
            setenv(name, "http://127.0.0.1:1/", 1)
        }
        defer { for name in ["https_proxy", "HTTPS_PROXY", "ALL_PROXY"] { unsetenv(name) } }
        let server = try SecureServer()
        let courier = try Courier(caFile: server.authority)
        defer { courier.close() }
        let response = try courier.send(OutboundRequest("GET", "\(server.url)/elsewhere"))
        #expect(response.status == 302)
        #expect(response.header("location") == "\(server.url)/")
    }

    @Test("A lost connection gets no request after the one that noticed the loss")
    func lost() throws {
        let server = try SecureServer()
        let relay = try Relay(to: server.port)
        let courier = try Courier(caFile: server.authority)
        defer { courier.close() }
        let request = OutboundRequest("GET", "https://localhost:\(relay.port)")
        let first = words(try courier.send(request))
        relay.loseConnections()
        var hasty = request
        hasty.firstByteMilliseconds = 2000
        // Two requests share the connection. The second still uses it when the first is abandoned.
        let given = Monitor<[Courier.Answer]>([])
        for _ in 0..<2 {
            courier.send(hasty) { answer in given.change { $0.append(answer) } }
            pause(milliseconds: 700)
        }
        _ = given.wait(milliseconds: 20_000) { $0.isEmpty ? nil : () }
        let third = words(try courier.send(request))
        #expect(third.count == 3 && third != first)
        let told = given.wait(milliseconds: 20_000) { $0.count == 2 ? $0 : nil } ?? []
        for answer in told {
            #expect(throws: OutboundError.timedOut(milliseconds: 2000)) { try answer.get() }
        }
        // A new connection is also kept.
        #expect(words(try courier.send(request)) == third)
        #expect(told.count == 2 && relay.count == 2)
    }
}
