import API
import HTTPServer
import Telemetry
import TestSupport
import Testing

@Suite("Commands that are on their way")
struct AnnouncementTests {
    private let service: TestService

    init() throws {
        service = try TestService()
    }

    private func isAnnounced(_ count: Int) -> Bool {
        service.metrics.text().contains("deed_commands_announced \(count)\n")
    }

    private func receive() -> Answer {
        service.router.answer(
            Request(method: "POST", path: "/v1/stores/apple/notifications", body: [0]))
    }

    @Test("A command is announced while it is judged, and no longer")
    func judged() throws {
        guard case .eventually(_, let judge) = receive() else {
            Issue.record("nothing is left to judge")
            return
        }
        #expect(isAnnounced(1))
        judge(LateReply { _ in })
        #expect(isAnnounced(0))
    }

    @Test("A request that the server drops before anybody looks at it announces nothing for ever")
    func dropped() {
        for _ in 0..<100 { _ = receive() }
        #expect(isAnnounced(0))
    }
}
