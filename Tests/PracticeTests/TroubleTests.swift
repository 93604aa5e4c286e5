import Core
import JSON
import Outbound
import Practice
import TestSupport
import Testing

@Suite("Answers of a practice store in trouble", .timeLimit(.minutes(20)))
struct TroubleTests {
    private func served(_ trouble: String) throws -> (ServedStore, String) {
        let served = try ServedStore()
        let id = try served.buy("pro.month").transaction ?? ""
        let json = try JSON.read(trouble)
        #expect(try served.ask("PUT", "/practice/trouble", json).status == 200)
        return (served, "/inApps/v1/transactions/\(id)")
    }

    @Test("An internal error and a limit have their codes")
    func codes() throws {
        let (broken, target) = try served(#"{"internal_error":1}"#)
        #expect(try broken.ask("GET", target).json["errorCode"] == 5_000_000)
        let (limited, other) = try served(#"{"limit":1}"#)
        let answer = try limited.send("GET", other)
        #expect(answer.status == 429)
        #expect(Int64(answer.header("Retry-After") ?? "") ?? 0 > machineInstant().milliseconds)
    }

    @Test("A connection is reset before any answer")
    func reset() throws {
        let (served, target) = try served(#"{"reset":1}"#)
        #expect(throws: OutboundError.self) { try served.send("GET", target) }
        let raw = try RawClient(undocumented: served.server.port)
        raw.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(raw.reply() == nil)
    }

    @Test("An answer is cut short")
    func truncated() throws {
        let (served, target) = try served(#"{"truncate":1}"#)
        do {
            _ = try served.send("GET", target)
            Issue.record("half an answer was taken for a whole one")
        } catch let error as OutboundError {
            guard case .brokenOff = error else { throw error }
        }
    }

    @Test("An answer never ends")
    func endless() throws {
        let (served, target) = try served(#"{"endless":1}"#)
        do {
            _ = try served.send("GET", target, timeout: 1000)
            Issue.record("an endless answer was taken for a whole one")
        } catch let error as OutboundError {
            #expect(error == .timedOut(milliseconds: 1000))
        }
    }

    @Test("The control API stays reachable, and ends the trouble")
    func control() throws {
        let (served, target) = try served(
            #"{"reset":1,"internal_error":1,"limit":1,"truncate":1,"endless":1}"#)
        #expect(try served.ask("GET", "/practice/state").status == 200)
        #expect(try served.ask("PUT", "/practice/trouble", [:]).status == 200)
        #expect(try served.ask("GET", target).status == 200)
    }

    @Test("A late answer comes late")
    func slow() throws {
        let (served, target) = try served(#"{"slow":1,"slow_ms":700}"#)
        #expect(throws: OutboundError.timedOut(milliseconds: 300)) {
            try served.send("GET", target, timeout: 300)
        }
        #expect(try served.ask("GET", target).status == 200)
    }

    @Test("Late answers do not delay the control API, however many there are")
    func slowAndControl() throws {
        let (served, target) = try served(#"{"slow":1,"slow_ms":8000}"#)
        let raws = try (0..<12).map { _ in try RawClient(port: served.server.port) }
        for raw in raws { raw.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") }
        #expect(try served.send("PUT", "/practice/trouble", [:], timeout: 4000).status == 200)
    }

    @Test("An invalid rate, and an unknown word, are refused by name")
    func mistakes() throws {
        let served = try ServedStore()
        let much = try served.ask("PUT", "/practice/trouble", ["drop": 2])
        #expect(much.status == 400)
        let unknown = try served.ask("PUT", "/practice/trouble", ["dorp": 1])
        #expect(unknown.status == 400)
        #expect(unknown.json["detail"]?.string?.contains("dorp") == true)
    }
}
