import API
import HTTPServer
import Telemetry
import TestSupport
import Testing

@Suite("Announced commands")
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

    @Test("A command is announced only while it is judged")
    func judged() throws {
        guard case .eventually(_, let judge) = receive() else {
            Issue.record("nothing is left to judge")
            return
        }
        #expect(isAnnounced(1))
        judge(LateReply { _ in })
        #expect(isAnnounced(0))
    }

    @Test("A request that the server drops unread leaves no announcement behind")
    func dropped() {
        for _ in 0..<100 { _ = receive() }
        #expect(isAnnounced(0))
    }
}
