import Core
import HTTPServer
import Outbound
import Synchronization
import Telemetry
import TestSupport
import Testing
import Threading

@testable import Delivery

@Suite("What a webhook may reach", .timeLimit(.minutes(20)))
struct GateTests {
    /// A server, a URL that names it, and a gate with preset lookups.
    private struct Ground {
        let server: Server
        let calls = Seen()
        let url: WebhookURL
        let courier: Courier

        init() throws {
            var settings = ServerSettings()
            settings.listen = "127.0.0.1:0"
            let calls = self.calls
            server = try Server(
                settings, metrics: Metrics(), bodyLimit: { _, _ in 1 << 20 },
                refusal: { _, _ in Response(status: 503) },
                handler: { _ in
                    calls.count.withLock { $0 += 1 }
                    return .now(Response(status: 204))
                })
            url = WebhookURL(recorded: "https://localhost:\(server.port)/")
            courier = try Courier(rules: AddressRules())
        }

        func gate(_ resolved: [NetworkAddress]) -> SafeGate {
            SafeGate(AddressRules(), resolve: { _ in resolved }) { [courier] in courier }
        }

        func close() {
            courier.close()
            server.drain(milliseconds: 1000)
        }
    }

    @Test(
        "A name of which one address is closed is refused before anything is sent",
        arguments: ["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"])
    func closed(_ text: String) throws {
        let ground = try Ground()
        defer { ground.close() }
        let addresses = try ["93.184.216.34", text].map { try #require(NetworkAddress($0)) }
        guard case .forbidden = ground.gate(addresses).obstacle(to: ground.url) else {
            Issue.record("\(text) is no obstacle")
            return
        }
        #expect(ground.gate([]).obstacle(to: ground.url) != nil)
    }

    @Test("A name that changes between look-up and connection opens no socket, by either scheme")
    func changing() throws {
        let ground = try Ground()
        defer { ground.close() }
        let listener = try SilentListener()
        let public4 = try #require(NetworkAddress("93.184.216.34"))
        let gate = ground.gate([public4])
        for (scheme, port) in [("http", ground.server.port), ("https", listener.port)] {
            let url = "\(scheme)://localhost:\(port)/"
            if scheme == "https" { #expect(gate.obstacle(to: WebhookURL(recorded: url)) == nil) }
            let answer = Monitor<SafeGate.Answer?>(nil)
            gate.send(OutboundRequest("POST", url)) { given in answer.change { $0 = given } }
            guard case .failure(.forbidden) = answer.wait(for: { $0 }) else {
                Issue.record("the socket to \(url) was opened")
                continue
            }
        }
        #expect(ground.calls.count.withLock { $0 } == 0)
        #expect(listener.connections == 0)
    }

    @Test("A silent name server stops no thread; nothing is sent before it has answered")
    func silentServer() throws {
        let public4 = try #require(NetworkAddress("93.184.216.34"))
        let speaks = Monitor(false)
        let asked = Seen()
        let gate = SafeGate(
            AddressRules(),
            resolve: { host in
                asked.count.withLock { $0 += 1 }
                speaks.wait { $0 ? () : nil }
                return host == "gone.example" ? [] : [public4]
            },
            courier: { () throws(OutboundError) -> Courier in throw .cancelled })
        let lookup = Lookup()
        let told = Monitor(0)
        func find(_ host: String) -> Lookup.Found? {
            lookup.find(WebhookURL(recorded: "https://\(host)/"), gate) { told.change { $0 += 1 } }
        }
        let started = monotonicMilliseconds()
        for _ in 0..<10 { #expect(find("a.example")?.until == nil) }
        #expect(monotonicMilliseconds() - started < 5000)
        speaks.change { $0 = true }
        told.wait { $0 == 1 ? () : nil }
        #expect(asked.count.withLock { $0 } == 1)
        let found = try #require(find("a.example"))
        #expect(found.obstacle == nil)
        // A different address needs a new lookup before anything is sent to it.
        #expect(find("gone.example")?.until == nil)
        told.wait { $0 == 2 ? () : nil }
        #expect(try #require(find("gone.example")).obstacle != nil)
    }
}

private final class Seen: Sendable {
    let count = Mutex(0)
}
