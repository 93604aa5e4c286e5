import HTTPServer
import Outbound
import Telemetry
import TestSupport
import Testing

@Suite("Addresses that requests of webhooks may reach")
struct AddressTests {
    @Test(
        "What is no server on the internet is refused, in every form",
        arguments: [
            "127.0.0.1", "127.255.0.9", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "239.255.255.255",
            "255.255.255.255",
            "192.0.0.1", "198.18.0.1", "::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd12::1",
            "ff02::1",
            "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1", "2002:7f00:1::1", "2002:a00:1::", "2001:db8::1", "2001::1",
        ])
    func closed(_ text: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(!AddressRules().allow(address))
        #expect(try #require(AddressRules("0.0.0.0/0,::/0")).allow(address))
    }

    @Test(
        "A server on the internet is reached",
        arguments: [
            "93.184.216.34", "8.8.8.8", "172.32.0.1", "11.0.0.1", "2606:2800:220:1::1",
            "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2002:808:808::1",
        ])
    func open(_ text: String) throws {
        #expect(AddressRules().allow(try #require(NetworkAddress(text))))
    }

    @Test("What the operator names is opened, and nothing beside it")
    func opened() throws {
        let rules = try #require(AddressRules("10.0.0.0/9, 127.0.0.1,fd00::/8"))
        for text in ["10.127.0.1", "127.0.0.1", "::ffff:127.0.0.1", "fd01::1"] {
            #expect(rules.allow(try #require(NetworkAddress(text))), "\(text)")
        }
        for text in ["10.128.0.1", "127.0.0.2", "fc01::1", "::1"] {
            #expect(!rules.allow(try #require(NetworkAddress(text))), "\(text)")
        }
        for text in [
            "", "localhost", "10.0.0.0/33", "10.0.0.0/", "::1/129", "10.0.0.0/8;", "1.2.3",
        ] {
            #expect(AddressRules(text) == nil, "\(text)")
        }
    }

    @Test(
        "The socket's own address counts: none is opened where the name has changed since the look-up"
    )
    func socket() throws {
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        let server = try Server(
            settings, metrics: Metrics(), bodyLimit: { _, _ in 1 << 20 },
            refusal: { _, _ in Response(status: 503) },
            handler: { _ in .now(Response(status: 204)) })
        defer { server.drain(milliseconds: 1000) }
        for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433"] {
            let url = "http://\(host):\(server.port)/"
            let shut = try Courier(rules: AddressRules())
            defer { shut.close() }
            do throws(OutboundError) {
                _ = try shut.send(OutboundRequest("POST", url))
                Issue.record("\(host) was reached")
            } catch {
                guard case .forbidden = error else {
                    Issue.record("\(host): \(error)")
                    continue
                }
            }
        }
        // The client also refuses https, before it opens a socket: the listener gets no connection.
        let listener = try SilentListener()
        for host in [
            "[::1]", "127.0.0.1", "169.254.169.254", "[::ffff:10.0.0.1]", "[::ffff:127.0.0.1]",
            "localhost", "0x7f.1",
        ] {
            let shut = try Courier(rules: AddressRules())
            defer { shut.close() }
            var request = OutboundRequest("POST", "https://\(host):\(listener.port)/")
            request.timeoutMilliseconds = 2000
            do throws(OutboundError) {
                _ = try shut.send(request)
                Issue.record("\(host) was reached by https")
            } catch {
                if case .forbidden = error { continue }
                Issue.record("\(host) by https: \(error)")
            }
        }
        #expect(listener.connections == 0)
        let rules = AddressRules("127.0.0.1")
        let open = try Courier(rules: rules)
        defer { open.close() }
        #expect(
            try open.send(OutboundRequest("POST", "http://localhost:\(server.port)/")).status == 204
        )
    }
}
