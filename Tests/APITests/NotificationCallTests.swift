import Core
import Evidence
import JSON
import Minting
import Service
import Telemetry
import TestSupport
import Testing

@Suite("Notifications of the App Store over the API")
struct NotificationCallTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private var month: Sale {
        Sale("1", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
    }

    private func body(
        _ type: String, id: String = "5e1f6a04", from store: MintedStore? = nil, _ sale: Sale?
    ) -> String {
        let store = store ?? front.store
        return store.notification(
            type, id: id, at: front.daysAgo(0), transaction: sale.map(store.transaction))
    }

    private func count(_ table: String, _ condition: String = "true") throws -> Int64 {
        try front.service.database.number(
            "select count(*) from deed.\(table) where \(condition)")
    }

    private func counted(_ outcome: String) -> Bool {
        front.service.metrics.text().contains(
            #"deed_notifications_total{outcome="\#(outcome)"} 1"#)
    }

    @Test("The facts of a notification wait for the customer who proves the purchase")
    func recorded() throws {
        let reply = front.notify(body("SUBSCRIBED", month))
        #expect(
            reply.text
                == #"{"notification":"5e1f6a04","type":"SUBSCRIBED","environment":"production","#
                + #""outcome":"recorded"}"#)
        #expect(reply.status == 200)
        #expect(try count("events", "customer = '$unclaimed/apple:1'") == 1)
        #expect(try count("evidence", "kind = 'notification'") == 1)
        #expect(try front.submit(month).outcomes == ["recorded"])
        #expect(try front.events() == ["purchase.attached"])
        #expect(try front.isActive("pro") == true)
        #expect(counted("recorded"))
    }

    @Test("A repeated notification is answered 200 and changes nothing")
    func again() throws {
        let sent = body("SUBSCRIBED", month)
        #expect(front.notify(sent).status == 200)
        let events = try front.service.eventCount()
        let twice = front.notify(sent)
        #expect(twice.status == 200)
        #expect(try front.service.eventCount() == events)
        #expect(try count("evidence", "kind = 'notification'") == 1)
        // A later attempt with a new signature changes nothing either, even after a customer has
        // claimed the purchase.
        _ = front.notify(body("SUBSCRIBED", month))
        #expect(try front.service.eventCount() == events)
        _ = front.submit(month)
        let held = try front.service.eventCount()
        #expect(try front.notify(sent).json["outcome"]?.string == "already_known")
        #expect(try front.service.eventCount() == held)
    }

    @Test("A part in an unknown form does not prevent the notification from being stored")
    func unknownForm() throws {
        var sale = month
        sale.product = ""
        let before = try front.service.eventCount()
        #expect(front.notify(body("SUBSCRIBED", sale)).status == 200)
        #expect(try front.service.eventCount() == before)
        #expect(try count("evidence", "kind = 'notification'") == 1)
        #expect(front.service.metrics.text().contains("deed_evidence_unread_total 1"))
    }

    @Test(
        "A notification without understood facts is stored and answered 200",
        arguments: [
            "TEST", "SOMETHING_NEW", "CONSUMPTION_REQUEST",
        ])
    func kept(_ type: String) throws {
        let events = try front.service.eventCount()
        let sent = body(type, from: front.sandbox, nil)
        for outcome in ["recorded", "already_known", "already_known"] {
            let reply = front.notify(sent)
            #expect(reply.status == 200)
            #expect(try reply.json["outcome"]?.string == outcome)
        }
        #expect(try count("evidence", "environment = 'sandbox'") == 1)
        #expect(try front.service.eventCount() == events)
        // Deed records the facts in a notification even if its type is unknown.
        #expect(front.notify(body(type, month)).status == 200)
        let isAsked = type == "CONSUMPTION_REQUEST"
        #expect(try front.service.eventCount() == events + (isAsked ? 2 : 1))
    }

    @Test("The customer whose token is in the fact holds the purchase at once")
    func token() throws {
        let opened = front.send("POST", "/v1/customers/u1/orders", "{}")
        let token = try #require(try opened.json["order"]?["token"]?.string)
        _ = front.notify(body("SUBSCRIBED", month.with { $0.token = token }))
        #expect(try front.events() == ["order.opened", "purchase.made", "order.fulfilled"])
        #expect(try front.isActive("pro") == true)
    }

    @Test("A sandbox notification counts in the sandbox")
    func sandbox() throws {
        _ = front.submit(month)
        let refunded = month.with {
            $0.refunded = front.daysAgo(0)
            $0.signedAt = front.daysAgo(0)
        }
        #expect(front.notify(body("REFUND", from: front.sandbox, refunded)).status == 200)
        #expect(try front.isActive("pro") == true)
        #expect(try count("events", "environment = 'sandbox'") == 1)
    }

    @Test("A forged notification is answered 401, counted, and leaves nothing behind")
    func forged() throws {
        let strangers = Payload.notification().signed(by: MintedChain(.transactions))
        let reply = front.notify(#"{"signedPayload":"\#(strangers)"}"#)
        #expect(reply.status == 401)
        #expect(reply.code == "untrusted_root")
        let genuine = body("SUBSCRIBED", month)
        let changed = genuine.dropLast(12) + #"AAAAAAAAAA"}"#
        #expect(front.notify(String(changed)).status == 401)
        #expect(front.service.metrics.text().contains(#"outcome="unproven"} 2"#))
        #expect(try count("evidence") == 0 && count("events", "customer not like '$%'") == 0)
    }

    @Test("An unknown app is answered 404, so that the store tries again")
    func unknownApp() throws {
        var store = front.store
        store.bundleID = "com.example.second"
        let sent = body("SUBSCRIBED", from: store, month)
        let reply = front.notify(sent)
        #expect(reply.status == 404 && reply.code == "app_unknown")
        #expect(try reply.json["retryable"]?.bool == true)
        #expect(counted("unknown_app"))
        _ = front.send("PUT", "/v1/apps/com.example.second", "{}", key: front.admin)
        #expect(front.notify(sent).status == 200)
    }

    @Test("A notification from ahead of our clock is queued, and counts once the clock is there")
    func ahead() throws {
        let later = month.with { $0.signedAt = front.daysAgo(-1) }
        let sent = body("SUBSCRIBED", later)
        let reply = front.notify(sent)
        #expect(reply.status == 200)
        #expect(try reply.json["outcome"]?.string == "queued")
        #expect(counted("queued"))
        let id = try #require(try reply.json["intake"]?.string)
        #expect(try front.notify(sent).json["intake"]?.string == id)
        #expect(try count("events", "customer like '$unclaimed/%'") == 0)
        front.service.clock.advance(byMilliseconds: 86_400_000)
        #expect(try front.work()?.item.id.text == id)
        #expect(try count("events", "customer = '$unclaimed/apple:1'") == 1)
    }

    @Test(
        "An unreadable notification is answered 400 without checking a signature",
        arguments: [
            "", "{", "[]", "{}", #"{"signedPayload":7}"#, #"{"signedPayload":"x"}"#,
            #"{"signedPayload":"a.b.c"}"#, #"{"signedPayload":"e30.e30.e30"}"#,
            #"{"signedPayload":"\#(String(repeating: "A", count: 200_000)).A.A"}"#,
            "\u{0}\u{1}", String(repeating: "[", count: 100_000),
        ])
    func unreadable(_ text: String) throws {
        let reply = front.notify(text)
        #expect(reply.status == 400, "\(reply.text)")
        #expect(counted("unreadable"))
        let verified =
            #"deed_evidence_verifications_total{kind="notification",outcome="refused"} 0"#
        #expect(front.service.metrics.text().contains(verified))
    }

    @Test("Many unknown apps cause only a few database lookups per second")
    func flood() throws {
        let asked = Counter()
        var intake = front.service.intake
        let directory = intake.directory
        intake.directory = TappedDirectory(directory) { () throws(Fault) in
            asked.add()
            return try directory.apps()
        }
        let submissions = Submissions(intake)
        for number in 0..<100 {
            var store = front.store
            store.bundleID = "com.example.\(number)"
            let sent = Array(body("TEST", from: store, nil).utf8)
            let app = try AppID(store.bundleID)
            #expect(throws: NotificationError.unknownApp(app)) {
                try submissions.recordingNotification(RawEvidence(.notification, sent))
            }
        }
        // The clock stands still, so Deed asks only as many questions as it allows at once.
        #expect(asked.value == 20)
    }
}
