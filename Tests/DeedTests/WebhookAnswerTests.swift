import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("What the answer of a webhook's receiver does", .serialized, .timeLimit(.minutes(20)))
    struct WebhookAnswers {
        @Test(
            "410 ends a webhook until it is resumed, however long the answer is",
            arguments: ["answers 410", "answers 410 long"])
        func gone(_ faults: String) throws {
            let ground = try WebhookGround("--webhook-retries", "1,1,1,1")
            let receivers = try WebhookReceivers([("gone", faults)])
            let id = try ground.make(receivers, "gone")
            try ground.give(["u1"])
            #expect(
                eventually(within: 60_000) { ground.shown(id)["state"]?.string == "gone" })
            #expect(ground.service.log.contains("webhook_gone"))
            try ground.give(["u2", "u1"])
            pause(milliseconds: 3000)
            #expect(try receivers.calls("gone", all: true).count == 1)
            let shown = ground.shown(id)
            #expect(shown["state"]?.string == "gone" && shown["waiting"]?.integer == 1)
            #expect(shown["oldest_at"]?.string != nil)
            try receivers.heal()
            #expect(try ground.call("POST", "/\(id)/resume").status == 200)
            ground.expect(3, at: "gone", receivers)
            #expect(
                eventually(within: 60_000) {
                    let shown = ground.shown(id)
                    return shown["state"]?.string == "active" && shown["waiting"]?.integer == 0
                        && shown["lag"]?.integer == 0
                })
        }

        @Test(
            "A receiver that asks for a pause gets one, by seconds and by a date",
            arguments: ["once 429 4", "once 503 +5", "once 503 4"])
        func rest(_ faults: String) throws {
            let ground = try WebhookGround("--webhook-retries", "1,1,1,1")
            let receivers = try WebhookReceivers([("busy", faults)])
            _ = try ground.make(receivers, "busy", #","concurrency":1"#)
            try ground.give(["u1", "u2"])
            ground.expect(2, at: "busy", receivers)
            let times = try receivers.calls("busy", all: true).compactMap { $0["at"]?.integer }
            #expect(times.count == 3)
            // `Retry-After` can be a date, which has whole seconds.
            #expect(times[1] - times[0] >= 3900, "\(times)")
        }

        @Test("A redirect is a failure, and the place that it names is not asked")
        func moved() throws {
            let ground = try WebhookGround("--webhook-retries", "1,1")
            let receivers = try WebhookReceivers([("other", "none"), ("old", "moved other")])
            let id = try ground.make(receivers, "old")
            try ground.give(["u1"])
            #expect(eventually(within: 60_000) { (try? ground.deliveries(id).isEmpty) == false })
            let first = try #require(try ground.deliveries(id).last)
            #expect(first["status"]?.integer == 307 && first["delivered"]?.bool == false)
            #expect(first["error"]?.string?.contains("never follows") == true)
            let tested = try ground.call("POST", "/\(id)/test")
            #expect(tested.json["status"]?.integer == 307)
            #expect(try receivers.calls("other", all: true).isEmpty)
        }

        @Test("2xx with a long answer has arrived")
        func long() throws {
            let ground = try WebhookGround("--webhook-retries", "1,1")
            let receivers = try WebhookReceivers([("talker", "answers 200 long")])
            let id = try ground.make(receivers, "talker")
            try ground.give(["u1", "u1"])
            ground.expect(2, at: "talker", receivers)
            #expect(eventually(within: 30_000) { (try? ground.deliveries(id).count) == 2 })
            for attempt in try ground.deliveries(id) {
                #expect(attempt["delivered"]?.bool == true && attempt["attempt"]?.integer == 1)
                #expect(attempt["answer"]?.string?.utf8.count == 4096)
            }
            #expect(ground.shown(id)["waiting"]?.integer == 0)
        }

        @Test("One customer is parked while others go on, and comes back in order")
        func oneCustomer() throws {
            let ground = try WebhookGround("--webhook-retries", "1,1")
            let receivers = try WebhookReceivers([("picky", "customer u1")])
            let id = try ground.make(receivers, "picky")
            try ground.give(["u1", "u2", "u1"])
            var others = 1
            let isParked = eventually(within: 60_000) {
                pause(milliseconds: 200)
                others += 1
                try? ground.give(["v\(others)"])
                return ground.shown(id)["parked"]?.integer == 1
            }
            #expect(isParked)
            let shown = ground.shown(id)
            #expect(shown["state"]?.string == "active" && shown["waiting"]?.integer == 1)
            #expect(shown["oldest_at"]?.string != nil)
            #expect(eventually(within: 10_000) { ground.service.log.contains("webhook_parked") })
            try ground.give(["u9"])
            ground.expect(others + 1, at: "picky", receivers)
            #expect(try !receivers.calls("picky").contains { $0["customer"]?.string == "u1" })
            try receivers.heal()
            #expect(try ground.call("POST", "/\(id)/resume").status == 200)
            ground.expect(others + 3, at: "picky", receivers)
            let own = try receivers.calls("picky").filter { $0["customer"]?.string == "u1" }
            #expect(own.compactMap { $0["version"]?.integer } == [1, 2])
        }

        @Test("With 1,000 customers waiting nothing more is read, and all arrives in the end")
        func standing() throws {
            let ground = try WebhookGround("--webhook-retries", "3600")
            let receivers = try WebhookReceivers([("sick", "always")])
            let id = try ground.make(receivers, "sick", #","concurrency":32"#)
            let writers = try Writers(8, at: ground.service.url, key: ground.key) {
                writers, client, index, number -> String? in
                let body = #"{"entitlement":"pro","reason":"r","allow_unknown":true}"#
                let customer = "c\(index)-\(number)"
                let answer = writers.send(
                    &client, "/v1/customers/\(customer)/grants", body, nil, expecting: 201)
                return answer == nil ? nil : customer
            }
            #expect(eventually(within: 300_000) { writers.count >= 2500 })
            let customers = Set(writers.stop())
            #expect(writers.unexpected == [])
            var last: (waiting: Int64?, lag: Int64?) = (nil, nil)
            let isStanding = eventually(within: 120_000) {
                pause(milliseconds: 2000)
                let shown = ground.shown(id)
                let now = (shown["waiting"]?.integer, shown["lag"]?.integer)
                defer { last = now }
                return (now.0 ?? 0) >= 1000 && now == last
            }
            #expect(isStanding, "\(last)")
            // Messages that were read before the thousandth failure may still fail.
            #expect((1000...1800).contains(last.waiting ?? 0) && (last.lag ?? 0) >= 500, "\(last)")
            try ground.give(["late"])
            pause(milliseconds: 4000)
            let shown = ground.shown(id)
            #expect(shown["waiting"]?.integer == last.waiting)
            #expect(shown["lag"]?.integer == (last.lag ?? 0) + 1)
            try receivers.heal()
            #expect(try ground.call("POST", "/\(id)/resume").status == 200)
            let isWhole = eventually(within: 180_000) {
                pause(milliseconds: 500)
                let come = (try? receivers.calls("sick"))?.compactMap { $0["customer"]?.string }
                return Set(come ?? []) == customers.union(["late"])
            }
            #expect(isWhole)
        }

        @Test("A replay has half of the rate, beside new messages")
        func halfRate() throws {
            let ground = try WebhookGround()
            let receivers = try WebhookReceivers([("one", "none")])
            let id = try ground.make(receivers, "one", #","rate":20,"concurrency":8"#)
            try ground.give((1...40).map { "u\($0)" })
            ground.expect(40, at: "one", receivers)
            let range = #"{"since":"2020-01-01T00:00:00Z","until":"2099-01-01T00:00:00Z"}"#
            #expect(try ground.call("POST", "/\(id)/replay", range).status == 202)
            ground.expect(43, at: "one", receivers)
            try ground.give(["new"])
            ground.expect(81, at: "one", receivers)
            let calls = try receivers.calls("one")
            let times = calls.filter { $0["replay"]?.string != nil }
                .compactMap { $0["at"]?.integer }
            #expect(times.count == 40)
            // There are 39 pauses of 100 ms. The sender may catch up the first 100 ms.
            let span = (times.max() ?? 0) - (times.min() ?? 0)
            #expect(span >= 3500, "\(span) ms")
            let fresh = try #require(calls.last { $0["customer"]?.string == "new" })
            #expect((fresh["at"]?.integer ?? 0) < times.max() ?? 0, "it waited for the replay")
        }

        @Test("CloudEvents have their six headers")
        func cloudEvents() throws {
            let ground = try WebhookGround()
            let receivers = try WebhookReceivers([("cloud", "none")])
            _ = try ground.make(receivers, "cloud", #","format":"cloudevents""#)
            try ground.give(["u%C3%BC%201"])
            ground.expect(1, at: "cloud", receivers)
            let call = try #require(try receivers.calls("cloud").first)
            let event = try #require(call["ce"])
            #expect(event["ce-specversion"]?.string == "1.0")
            #expect(event["ce-type"]?.string == "grant.given")
            #expect(event["ce-source"]?.string == "/default/production")
            #expect(event["ce-subject"]?.string == "u%C3%BC%201")
            #expect(event["ce-id"]?.string != nil && event["ce-id"] == call["id"])
            let time = try #require(event["ce-time"]?.string)
            #expect(time.count == 24 && time.hasPrefix("20") && time.hasSuffix("Z"), "\(time)")
            #expect(event.object?.members.count == 6)
            #expect(call["genuine"]?.bool == true)
        }
    }
}
