import AppStore
import Core
import HTTPServer
import JSON
import Practice
import StoreAccess
import TestSupport
import Testing
import Threading

@Suite("A store in trouble", .timeLimit(.minutes(20)))
struct StoreTroubleTests {
    private let id: TransactionID

    init() throws { id = try TransactionID("2000000000000001") }

    private func served(_ trouble: String) throws -> (ServedPractice, Asking, TransactionID) {
        let served = try ServedPractice()
        let id = try TransactionID(try served.buy("pro.month").transaction ?? "")
        try served.suffer(trouble)
        let patience = StorePatience(firstByte: 300, whole: 600)
        return (served, try Asking(served.url, patience: patience), id)
    }

    private func isUnavailable(_ trouble: StoreTrouble?) -> Bool {
        if case .unavailable? = trouble { true } else { false }
    }

    @Test(
        "A store that fails, resets, breaks off, is late or never ends is unavailable",
        arguments: [
            #"{"internal_error":1}"#, #"{"reset":1}"#, #"{"truncate":1}"#,
            #"{"slow":1,"slow_ms":2000}"#, #"{"endless":1}"#,
        ])
    func unavailable(_ trouble: String) throws {
        let (served, asking, id) = try served(trouble)
        #expect(isUnavailable(asking.trouble(.transaction(id))))
        try served.suffer("{}")
        #expect(try asking.ask(.transaction(id)).evidence.count == 1)
    }

    @Test(
        "An error without the API's own code is not the store's refusal",
        arguments: [400, 404, 408, 421, 425, 451])
    func edge(_ status: Int) throws {
        let edge = try CannedStore { _, _ in
            Response(status: status, body: Array("<html>Request blocked</html>".utf8))
        }
        #expect(isUnavailable(try Asking(edge.url).trouble(.transaction(id))))
        let store = try CannedStore { _, _ in
            Response(status: status, body: Array(#"{"errorCode":4000006}"#.utf8))
        }
        let no = StoreTrouble.refused(byAppStore: 4_000_006, "")
        #expect(try Asking(store.url).trouble(.transaction(id)) == no)
    }

    @Test("A notification with more attempts than the store makes is not read")
    func attempts() throws {
        func trouble(_ count: Int) throws -> StoreTrouble? {
            let attempts = Array(repeating: "{}", count: count).joined(separator: ",")
            let entry = #"{"signedPayload":"x","sendAttempts":[\#(attempts)]}"#
            let body = #"{"hasMore":false,"notificationHistory":[\#(entry)]}"#
            let store = try CannedStore { _, _ in Response(status: 200, body: Array(body.utf8)) }
            return try Asking(store.url).trouble(
                .notifications(NotificationFilter(start: opening, end: opening)))
        }
        #expect(try trouble(6) == nil)
        guard case .unreadable? = try trouble(7) else {
            Issue.record("they were read")
            return
        }
    }

    @Test("A temporary fault is retried for calls that may be repeated")
    func passing() throws {
        let store = try CannedStore { count, _ in
            count < 3
                ? Response(status: 500)
                : Response(status: 200, body: Array(#"{"signedTransactionInfo":"a.b.c"}"#.utf8))
        }
        let asking = try Asking(store.url)
        #expect(try asking.ask(.transaction(id)).evidence.count == 1)
        #expect(store.count == 3)
    }

    @Test("A call that must not be made twice is made once")
    func unrepeatable() throws {
        let store = try CannedStore { _, _ in Response(status: 500) }
        let asking = try Asking(store.url)
        let wish = RenewalExtension(days: 1, why: .other, request: "r")
        guard case .unavailable(let detail)? = asking.trouble(.extend(id, wish)) else {
            Issue.record("it was answered")
            return
        }
        #expect(store.count == 1 && detail.contains("may have done it anyway"))
    }

    @Test(
        "An answer in an unknown form is requested again, and then has its own outcome",
        arguments: ["[]", "{}", #"{"signedTransactionInfo":7}"#])
    func unreadable(_ body: String) throws {
        let store = try CannedStore { _, _ in Response(status: 200, body: Array(body.utf8)) }
        let asking = try Asking(store.url)
        guard case .unreadable? = asking.trouble(.transaction(id)) else {
            Issue.record("\(body) was read")
            return
        }
        #expect(store.count == 3)
    }

    @Test(
        "An answer from something other than the store means that the store is unavailable",
        arguments: [
            (200, ""), (200, "not JSON"), (200, "<html>Sign in to continue</html>"),
            (200, "{\"signedTransa"), (204, ""), (206, "{}"), (304, ""),
        ])
    func inItsPlace(_ status: Int, _ body: String) throws {
        let store = try CannedStore { _, _ in Response(status: status, body: Array(body.utf8)) }
        #expect(isUnavailable(try Asking(store.url).trouble(.transaction(id))))
        #expect(store.count == 3)
    }

    @Test("An unreadable page is requested again", arguments: ["", "<html>", "{}", "7"])
    func readAgain(_ body: String) throws {
        let store = try CannedStore { count, _ in
            let answer = count == 1 ? body : #"{"signedTransactionInfo":"a.b.c"}"#
            return Response(status: 200, body: Array(answer.utf8))
        }
        #expect(try Asking(store.url).ask(.transaction(id)).evidence.count == 1)
        #expect(store.count == 2)
    }

    @Test("A call without content in its answer was not done if something else answered")
    func done() throws {
        let report = ConsumptionReport(delivery: .delivered, hasSample: false)
        func trouble(_ body: String) throws -> StoreTrouble? {
            let store = try CannedStore { _, _ in Response(status: 200, body: Array(body.utf8)) }
            return try Asking(store.url).trouble(.consumption(report, of: id))
        }
        #expect(try trouble("") == nil)
        #expect(try trouble("{}") == nil)
        #expect(isUnavailable(try trouble("<html>Sign in to continue</html>")))
    }

    @Test(
        "A 403 with a code refuses the question; one without a code rejects the key",
        arguments: [("", nil), ("<html>", nil), (#"{"errorCode":4030004}"#, 4_030_004)])
    func forbidden(_ body: String, _ code: Int64?) throws {
        let store = try CannedStore { _, _ in Response(status: 403, body: Array(body.utf8)) }
        let trouble = try Asking(store.url).trouble(.standings(of: id))
        switch trouble {
        case .refused(let found, _, _)?: #expect(found == code)
        default: #expect(trouble == .unauthorized && code == nil)
        }
    }

    @Test("An oversized answer is cut off")
    func tooLarge() throws {
        let body = [UInt8](repeating: 0x20, count: 5 << 20)
        let store = try CannedStore { _, _ in Response(status: 200, body: body) }
        guard case .unreadable(let detail)? = try Asking(store.url).trouble(.transaction(id)) else {
            Issue.record("it was read")
            return
        }
        #expect(detail.contains("larger"))
    }

    @Test("No redirect is followed")
    func redirect() throws {
        let other = try CannedStore { _, _ in Response(status: 200) }
        let url = other.url
        let store = try CannedStore { _, _ in
            Response(status: 302, headers: [Header("Location", url)])
        }
        #expect(isUnavailable(try Asking(store.url).trouble(.transaction(id))))
        #expect(other.count == 0)
    }

    @Test(
        "A store that wants a pause is left alone until the instant that it names",
        arguments: [429, 500, 503])
    func limited(_ status: Int) throws {
        let hour = machineInstant().advanced(byMilliseconds: 3_600_000)
        let store = try CannedStore { _, _ in
            Response(
                status: status, headers: [Header("Retry-After", "\(hour.milliseconds)")],
                body: Array(#"{"errorCode":4290000}"#.utf8))
        }
        let asking = try Asking(store.url)
        for _ in 0..<3 { #expect(asking.trouble(.transaction(id)) == .limited(until: hour)) }
        #expect(store.count == 1)
        // A different call has a separate limit.
        #expect(asking.trouble(.standings(of: id)) == .limited(until: hour))
        #expect(store.count == 2)
    }

    @Test(
        "An absurd pause lasts at most a day, and one in seconds is read as seconds",
        arguments: [("99999999999999999", 86_400), ("120", 120), ("x", 60), ("-5", 60)])
    func pauses(_ header: String, _ seconds: Int64) throws {
        let store = try CannedStore { _, _ in
            Response(status: 429, headers: [Header("Retry-After", header)])
        }
        let now = machineInstant()
        guard case .limited(let until)? = try Asking(store.url).trouble(.transaction(id)) else {
            Issue.record("no limit was told")
            return
        }
        #expect(abs(until.milliseconds - now.milliseconds - seconds * 1000) < 5000)
    }

    @Test("An unreachable store is unavailable, and one whose proof fails is untrusted")
    func away() throws {
        let gone = try Asking("http://127.0.0.1:1")
        #expect(isUnavailable(gone.trouble(.transaction(id))))
        let stranger = try SecureServer()
        guard case .untrusted? = try Asking(stranger.url).trouble(.transaction(id)) else {
            Issue.record("it was believed")
            return
        }
    }
}
