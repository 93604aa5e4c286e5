import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Webhooks of erased customers", .serialized, .timeLimit(.minutes(20)))
    struct WebhookErasures {
        @Test(
            "What waited in memory for the end of a pause says nothing of a customer erased meanwhile"
        )
        func paused() throws {
            let ground = try WebhookGround()
            let receivers = try WebhookReceivers([("busy", "once 503 86400")])
            let id = try ground.make(receivers, "busy", #","concurrency":1"#)
            try ground.give(["u1"])
            #expect(
                eventually(within: 60_000) {
                    (try? receivers.calls("busy", all: true).count) == 1
                })
            // These are read into memory while the receiver rests.
            try ground.give(["u2", "u2", "u3"])
            pause(milliseconds: 2000)
            for customer in ["u1", "u2"] { try erase(customer, at: ground) }
            pause(milliseconds: 2000)
            #expect(try receivers.calls("busy", all: true).count == 1)
            #expect(try ground.call("POST", "/\(id)/resume").status == 200)
            ground.expect(4, at: "busy", receivers)
            for call in try receivers.calls("busy") {
                let isErased = call["customer"]?.string != "u3"
                #expect((call["erased"] == true) == isErased, "\(call.text)")
                #expect((call["has_data"] == true) != isErased, "\(call.text)")
            }
        }

        @Test("A slow webhook's messages in memory say nothing of a customer erased meanwhile")
        func slow() throws {
            let ground = try WebhookGround()
            let receivers = try WebhookReceivers([("slow", "none")])
            _ = try ground.make(receivers, "slow", #","rate":1,"concurrency":1"#)
            try ground.give(["u1", "u2", "u3", "u4", "u4", "u4"])
            pause(milliseconds: 1000)
            try erase("u4", at: ground)
            // A message may be on its way when its customer is erased.
            pause(milliseconds: 1000)
            let before = try receivers.calls("slow").filter { $0["customer"]?.string == "u4" }.count
            #expect(before < 3)
            ground.expect(6, at: "slow", receivers)
            let own = try receivers.calls("slow").filter { $0["customer"]?.string == "u4" }
            for call in own.dropFirst(before) {
                #expect(call["erased"] == true && call["has_data"] == false, "\(call.text)")
            }
        }

        @Test("An attempt that ends after its customer was erased leaves no row")
        func underWay() throws {
            let ground = try WebhookGround()
            let receivers = try WebhookReceivers([("slow", "slow")])
            let id = try ground.make(receivers, "slow", #","concurrency":1"#)
            for number in 1...5 {
                let customer = "u\(number)"
                try ground.give([customer])
                // The receiver takes 0.4 s for each call.
                pause(milliseconds: 100)
                try erase(customer, at: ground)
                ground.expect(number, at: "slow", receivers)
            }
            pause(milliseconds: 2000)
            // A message that was sent only after the erasure has no data, and its attempt stays.
            let full = try receivers.calls("slow").filter { $0["has_data"] == true }
            let ids = Set(full.compactMap { $0["id"]?.string })
            let left = try ground.deliveries(id).filter {
                ids.contains($0["message"]?.string ?? "")
            }
            #expect(left.isEmpty, "\(JSON.array(left).text)")
            try ground.give(["last"])
            let isStored = eventually(within: 30_000) {
                (try? ground.deliveries(id))?.contains { $0["customer"]?.string == "last" } == true
            }
            #expect(isStored)
        }

        private func erase(_ customer: String, at ground: WebhookGround) throws {
            var client = try APIClient(key: ground.key)
            let path = "\(ground.service.url)/v1/customers/\(customer)/erase"
            let wish = #""reason":"r","purchases":"forget""#
            let look = try client.send("POST", path, body: "{\(wish)}")
            let intent = try #require(try JSON.read(look.text)["intent"]?.string)
            let done = try client.send("POST", path, body: #"{\#(wish),"intent":"\#(intent)"}"#)
            #expect(done.status == 200, "\(done.text)")
            #expect(try JSON.read(done.text)["emptied"] == true, "\(done.text)")
        }
    }
}
