import Core
import HTTPServer
import Outbound
import Synchronization
import Telemetry
import TestSupport
import Testing
import Threading

@testable import Delivery

@Suite("What a webhook may reach", .timeLimit(.minutes(5)))
struct GateTests {
    /// A server, a URL that names it, and a gate whose look-ups are given.
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

        final class Seen: Sendable {
            let count = Mutex(0)
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

    @Test("A name that changes between look-up and connection opens no socket")
    func changing() throws {
        let ground = try Ground()
        defer { ground.close() }
        let public4 = try #require(NetworkAddress("93.184.216.34"))
        let gate = ground.gate([public4])
        #expect(gate.obstacle(to: ground.url) == nil)
        let answer = Monitor<SafeGate.Answer?>(nil)
        gate.send(OutboundRequest("POST", "http://localhost:\(ground.server.port)/")) { given in
            answer.change { $0 = given }
        }
        guard case .failure(.forbidden) = answer.wait(for: { $0 }) else {
            Issue.record("the socket was opened")
            return
        }
        #expect(ground.calls.count.withLock { $0 } == 0)
    }
}
