import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Webhooks beside a test clock", .serialized, .timeLimit(.minutes(20)))
    struct WebhookClocks {
        @Test("Pauses that began while a clock was weeks ahead are over once the clock is right")
        func ahead() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let key = try installation.makeKey()
            let options = ["--webhook-allow", "127.0.0.1", "--webhook-retries", "3600,3600"]
            let service = try installation.serve(options)
            let receivers = try WebhookReceivers([("sick", "always")])
            let ground = WebhookGround(installation, service, key)
            let id = try ground.make(receivers, "sick")
            try ground.give(["u1"])
            #expect(
                eventually(within: 60_000) { ground.shown(id)["waiting"]?.integer == 1 })
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 60_000) == 0)
            try database.run(
                """
                update deed.webhook_waiting set due_at = due_at + 40 * 86400000::bigint;
                update deed.webhook_places
                set rests_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + 40 * 86400000::bigint
                """)
            try receivers.heal()
            let right = WebhookGround(installation, try installation.serve(options), key)
            right.expect(1, at: "sick", receivers)
            #expect(eventually(within: 60_000) { right.shown(id)["waiting"]?.integer == 0 })
        }

        @Test("A dead receiver does not hold caught_up back, and attempts are the machine's")
        func dead() throws {
            let installation = try Installation()
            let key = try installation.makeKey()
            let service = try installation.serve([
                "--test-clock", "--webhook-allow", "127.0.0.1", "--webhook-retries", "1,1,3600",
            ])
            let receivers = try WebhookReceivers([("dead", "always"), ("well", "none")])
            var made: [String: String] = [:]
            for name in ["dead", "well"] {
                let webhook = try installation.makeWebhook(receivers, name, "--test-clock")
                made[name] = try #require(webhook["id"]?.string)
            }
            var client = try APIClient(key: key)
            let clock = "\(service.url)/v1/test/clock"
            _ = try client.send("PUT", clock, body: #"{"now":"2040-01-01T00:00:00Z"}"#)
            let body = #"{"entitlement":"pro","reason":"r","allow_unknown":true,"for":"P1D"}"#
            let given = try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants", body: body)
            #expect(given.status == 201, "\(given.text)")
            let path = "\(service.url)/v1/webhooks/\(made["dead"] ?? "")"
            #expect(
                eventually(within: 60_000) { (try? client.read(path))?["waiting"]?.integer == 1 })
            _ = try client.send("PUT", clock, body: #"{"advance":"P2D"}"#)
            #expect(
                eventually(within: 60_000) { (try? client.read(clock))?["caught_up"]?.bool == true }
            )
            // The grant's end was published by the clock, and the working receiver gets it.
            #expect(eventually(within: 60_000) { (try? receivers.calls("well").count) == 2 })
            let types = try receivers.calls("well").compactMap { $0["type"]?.string }
            #expect(types == ["entitlement.started", "entitlement.ended"])
            #expect(try client.read(path)["waiting"]?.integer == 1)
            let attempts = try #require(try client.read("\(path)/deliveries")["deliveries"]?.array)
            #expect(!attempts.isEmpty)
            for attempt in attempts {
                #expect(attempt["at"]?.string?.hasPrefix("20") == true)
                #expect((attempt["at"]?.string ?? "") < "2040")
            }
            // Waiting messages arrive once the receiver works again, although Deed's clock is far ahead.
            try receivers.heal()
            let id = made["dead"] ?? ""
            #expect(try installation.run("webhook", "resume", id, "--test-clock").code == 0)
            #expect(eventually(within: 60_000) { (try? receivers.calls("dead").count) == 2 })
            #expect(
                eventually(within: 60_000) { (try? client.read(path))?["waiting"]?.integer == 0 })
        }
    }
}
