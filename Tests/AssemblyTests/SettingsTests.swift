import Core
import HTTPServer
import JSON
import Synchronization
import Telemetry
import Testing

@testable import Assembly

@Suite("The size of a service")
struct SettingsTests {
    @Test("A time of day is accepted, and nothing else", arguments: ["03:00", "3 am"])
    func reconcileAt(_ text: String) {
        var settings = ServiceSettings()
        #expect(settings.reconcile(at: text) == (text == "03:00"))
        #expect((settings.reconcileAt != nil) == (text == "03:00"))
    }

    @Test(
        "An age is accepted from 200 days on, and off",
        arguments: [
            ("P400D", true), ("P200D", true), ("P199D", false), ("P1Y", true), ("P9999999Y", true),
            ("off", true), ("OFF", false), ("", false), ("200", false),
        ])
    func forgetAfter(_ text: String, isProper: Bool) {
        var settings = ServiceSettings()
        #expect(settings.forgetAfter?.text == "P400D")
        #expect(settings.forget(after: text) == isProper)
        #expect(settings.forgetAfter?.text == (!isProper ? "P400D" : text == "off" ? nil : text))
    }

    @Test("A service with enough descriptors keeps its connections, and logs nothing")
    func enough() {
        let written = Mutex<[String]>([])
        var settings = ServiceSettings()
        settings.server.connections = 10
        settings.fitDescriptors(log: Log { line in written.withLock { $0.append(line) } })
        #expect(settings.server.connections == 10)
        #expect(written.withLock { $0 } == [])
    }

    @Test("A service without enough descriptors serves fewer, and says what to raise")
    func few() throws {
        let written = Mutex<[String]>([])
        var settings = ServiceSettings()
        settings.server.connections = 1 << 40
        settings.fitDescriptors(log: Log { line in written.withLock { $0.append(line) } })
        #expect((1..<(1 << 40)).contains(settings.server.connections))
        let line = try #require(written.withLock { $0.first })
        let json = try JSON.read(line)
        #expect(json["event"]?.string == "few_descriptors")
        #expect(json["connections"]?.integer == Int64(settings.server.connections))
        #expect(json["remedy"]?.string?.contains("LimitNOFILE") == true)
    }
}
