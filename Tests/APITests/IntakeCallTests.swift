import API
import Core
import HTTPServer
import JSON
import Service
import TestSupport
import Testing

@Suite("Queued evidence over the API")
struct IntakeCallTests {
    private let service: TestService
    private let admin: NewKey
    private let backend: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
        backend = try service.key(.backend)
    }

    private func queue(_ number: Int) throws -> IntakeItem {
        let item = try IntakeItem.test(number, at: service.clock.now)
        return try #require(try service.intake.queue.addIntake(item, [1]))
    }

    private func act(_ verb: String, _ item: IntakeItem, _ body: String) -> TestSupport.Reply {
        service.send("POST", "/v1/intake/\(item.id)/\(verb)", key: admin, body: body)
    }

    private let reason = #"{"reason":"the store is back","ticket":"T-1"}"#

    @Test("An item is answered with its state, its attempts and the reason for waiting")
    func item() throws {
        let item = try queue(1)
        let path = "/v1/intake/i_1"
        #expect(
            service.send("GET", path, key: backend).text
                == #"{"intake":"i_1","state":"waiting","purpose":"submit","customer":"u1","#
                + #""environment":"sandbox","app":"com.example.app","kind":"app_receipt","#
                + #""order":null,"tries":0,"next_try_at":"2026-11-20T19:21:00.000Z","code":null,"#
                + #""detail":null,"items":null,"acted_by":null,"acted_by_name":null,"reason":null,"ticket":null,"#
                + #""added_at":"2026-11-20T19:21:00.000Z","changed_at":"2026-11-20T19:21:00.000Z"}"#
        )
        let judged = item.judged(.tryAgain(.scripted), now: service.clock.now, jitter: 0)
        #expect(try service.intake.queue.changeIntake(judged))
        let waiting = try service.send("GET", path, key: backend).json
        #expect(
            waiting["code"] == "store_not_configured" && waiting["detail"] == "The script says so.")
        #expect(waiting["next_try_at"] == "2026-11-20T19:21:04.500Z")
    }

    @Test("A believed item shows the result for each purchase")
    func believed() throws {
        let refusal = Refusal.move(.heldByAnother)
        let results = [
            IntakeResult(purchase: "apple:1", transaction: "2", outcome: "recorded"),
            IntakeResult(
                purchase: "apple:3", transaction: nil, outcome: "held_by_another",
                reason: IntakeReason(code: refusal.code, sentence: refusal.sentence)),
        ]
        let item = try queue(1).judged(.believed(results), now: service.clock.now, jitter: 0)
        #expect(try service.intake.queue.changeIntake(item))
        let reply = try service.send("GET", "/v1/intake/i_1", key: backend).json
        #expect(reply["state"] == "believed" && reply["next_try_at"]?.isNull == true)
        #expect(
            reply["items"]?.text
                == #"[{"purchase":"apple:1","transaction":"2","outcome":"recorded","#
                + #""code":null,"detail":null},"#
                + #"{"purchase":"apple:3","transaction":null,"outcome":"held_by_another","#
                + #""code":"held_by_another","#
                + #""detail":"\#(refusal.sentence)"}]"#)
    }

    @Test("Settling, dropping and retrying record who did it and why, and may be repeated")
    func acts() throws {
        let item = try queue(1)
        let settled = act("settle", item, reason)
        let json = try settled.json
        #expect(settled.status == 200 && json["state"] == "settled")
        #expect(json["acted_by"]?.string == "key:\(admin.key)")
        #expect(json["reason"] == "the store is back" && json["ticket"] == "T-1")
        #expect(act("settle", item, #"{"reason":"again"}"#).text == settled.text)
        let refused = act("drop", item, reason)
        #expect(try refused.status == 409 && refused.json["code"] == "intake_ended")
        service.clock.advance(byMilliseconds: 1000)
        let retried = try act("retry", item, reason).json
        #expect(retried["state"] == "waiting" && retried["tries"] == 0)
        #expect(retried["next_try_at"] == "2026-11-20T19:21:01.000Z")
        #expect(try act("drop", item, reason).json["state"] == "dropped")
    }

    @Test("An item cannot be retried if its evidence is queued again")
    func queuedAgain() throws {
        let item = try queue(1)
        #expect(act("drop", item, reason).status == 200)
        let again = IntakeItem(try IntakeID("i_2"), item.wish, now: service.clock.now)
        #expect(try service.intake.queue.addIntake(again, [1])?.id == again.id)
        let reply = act("retry", item, reason)
        #expect(try reply.status == 409 && reply.json["code"] == "intake_queued_again")
    }

    @Test("Another project's items are unknown")
    func projects() throws {
        try service.createProject("other")
        _ = try queue(1)
        let key = try service.key(.admin, project: "other")
        for (method, path) in [("GET", ""), ("POST", "/drop"), ("POST", "/retry")] {
            let reply = service.send(
                method, "/v1/intake/i_1\(path)", key: key, body: method == "GET" ? "" : reason)
            #expect(try reply.status == 404 && reply.json["code"] == "intake_unknown")
        }
    }

    @Test("A full queue answers 429 and when to try again")
    func full() {
        let problem = Problem(Refusal.intake(.full)).document
        #expect(problem.status == 429)
        #expect(problem.headers.contains(Header("Retry-After", "60")))
    }
}

extension BadInputTests {
    static let intake: [BadCall] = [
        BadCall(
            label: "an item for a reader", method: "GET", target: "/v1/intake/i_1",
            access: .role(.reader), body: "", status: 403, code: "role_insufficient"),
        BadCall(
            label: "an act for a back end", target: "/v1/intake/i_1/drop",
            access: .role(.backend), body: #"{"reason":"r"}"#, status: 403,
            code: "role_insufficient"),
        BadCall(
            label: "an item that is not there", method: "GET", target: "/v1/intake/i_1",
            access: .role(.backend), body: "", status: 404, code: "intake_unknown"),
        BadCall(
            label: "an item whose id cannot be one", method: "GET", target: "/v1/intake/%01",
            access: .role(.backend), body: "", status: 400, code: "invalid_member", member: "id"),
        BadCall(
            label: "an act without a reason", target: "/v1/intake/i_1/settle", body: "{}",
            status: 400, code: "missing_member", member: "reason"),
        BadCall(
            label: "an act with a number for a ticket", target: "/v1/intake/i_1/retry",
            body: #"{"reason":"r","ticket":7}"#, status: 400, code: "invalid_member",
            member: "ticket"),
        BadCall(
            label: "an act that is none", target: "/v1/intake/i_1/forget", status: 404,
            code: "route_unknown"),
        BadCall(
            label: "a list of the queue", method: "GET", target: "/v1/intake", body: "",
            status: 404, code: "route_unknown"),
    ]
}
