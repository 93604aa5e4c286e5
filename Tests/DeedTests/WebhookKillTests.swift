import Foundation
import Glibc
import Histories
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Webhooks while everything is killed", .serialized, .timeLimit(.minutes(120)))
    struct WebhookKills {
        private static let kills = 20
        private static let customers = 500
        /// The receivers, each with its fault.
        private static let receivers = [
            ("one", "none"), ("two", "none"), ("mortal", "dies"), ("sleeper", "sleeps"),
            ("sick", "turns"),
        ]
        /// The number of events. `DEED_WEBHOOK_EVENTS=100000 scripts/test --filter WebhookKills` sets it to 100,000.
        private static let events = givenCount("DEED_WEBHOOK_EVENTS", or: 5000)

        private let options = [
            "--webhook-allow", "127.0.0.1", "--webhook-retries",
            "1,1,1,2,2,2,3,3,3,4,4,4,5,5,5,5,5,5,5,5",
        ]

        @Test("Each message arrives everywhere, in each customer's order, and none is missing")
        func killed() throws {
            let installation = try Installation()
            var random = seededGenerator("kills of webhooks")
            let key = try installation.makeKey()
            let receivers = try WebhookReceivers(WebhookKills.receivers.map { ($0.0, $0.1) })
            let names = WebhookKills.receivers.map { $0.0 }
            for name in names {
                _ = try installation.makeWebhook(
                    receivers, name, "--types", "grant.given,entitlement.*", "--concurrency", "16")
            }
            var service = try installation.serve(options)
            let writers = try Writers(16, at: service.url, key: key) {
                writers, client, index, number -> String? in
                let customer = "c\((index * 7919 + number * 31) % WebhookKills.customers)"
                let body = #"{"entitlement":"e\#(number % 7)","reason":"r","allow_unknown":true}"#
                let answer = writers.send(
                    &client, "/v1/customers/\(customer)/grants", body, "w-\(index)-\(number)",
                    expecting: 201)
                return answer == nil ? nil : customer
            }
            for number in 0..<WebhookKills.kills {
                pause(milliseconds: Int64.random(in: 200...1200, using: &random))
                if number % 2 == 0 {
                    service.process.signal(SIGKILL)
                    #expect(service.process.wait(milliseconds: 5000) == 128 + SIGKILL)
                    service = try installation.serve(options, port: service.port)
                } else {
                    for process in installation.postgresProcesses { kill(process, SIGKILL) }
                }
                let before = writers.count
                #expect(eventually(within: 60_000) { writers.count > before + 16 })
            }
            let patience = max(1_800_000, Int64(WebhookKills.events) * 36)
            #expect(eventually(within: patience) { writers.count >= WebhookKills.events })
            try expectTroubles(installation)
            let answered = writers.stop()
            #expect(writers.unexpected == [])
            try receivers.heal()
            let expected = try messages(of: Set(answered), at: service, key)
            // Deed sends the messages again that it abandoned while the receiver failed.
            let list =
                try installation.run("webhook", "list", "--json").json["webhooks"]?.array ?? []
            #expect(list.count == names.count)
            for webhook in list {
                let id = webhook["id"]?.string ?? ""
                #expect(try installation.run("webhook", "resume", id).code == 0)
            }
            for name in names {
                #expect(
                    eventually(within: max(240_000, Int64(WebhookKills.events) * 12)) {
                        // Reading all calls takes long and slows down the deliveries.
                        pause(milliseconds: Int64(expected.count / 20))
                        return Set(
                            (try? receivers.calls(name))?.compactMap { $0["id"]?.string } ?? []
                        ).isSuperset(of: expected.keys)
                    }, "something is missing at \(name)")
                try verify(name, receivers, expected)
            }
            let sick = try receivers.calls("sick", all: true)
            #expect(sick.contains { $0["end"]?.string == "lost" })
            try installation.expectWholeLog()
            print(
                "\(answered.count) grants, \(expected.count) messages, \(sick.count) calls of the sick one"
            )
        }

        /// Expects some attempts that did not reach the receiver, and some that were not answered in time.
        private func expectTroubles(_ installation: Installation) throws {
            for trouble in [
                "the server cannot be reached", "no complete answer came within 15000 ms",
            ] {
                let rows = "from deed.webhook_attempts where error like '\(trouble)%'"
                // While the service is killed every few seconds, no request lasts long enough for that.
                let isThere = eventually(within: 120_000) {
                    pause(milliseconds: 500)
                    let count = try? queriedNumber(
                        "select count(*) \(rows)", at: installation.databaseURL)
                    return count ?? 0 > 0
                }
                #expect(isThere, "no attempt ended with: \(trouble)")
            }
        }

        /// Returns the ids of all messages, each with its index among the customer's messages.
        private func messages(
            of customers: Set<String>, at service: RunningService, _ key: String
        ) throws -> [String: Int] {
            var client = try APIClient(key: key)
            var found: [String: Int] = [:]
            var places: [String: Int] = [:]
            var after = ""
            while true {
                let page = try client.read("\(service.url)/v1/events?limit=1000\(after)")
                for event in page["events"]?.array ?? [] {
                    let (id, customer) = (
                        try #require(event["id"]?.string), try #require(event["customer"]?.string)
                    )
                    let changes = event["access"]?.array?.count ?? 0
                    let own = event["type"]?.string == "grant.given" ? [id] : []
                    for message in own + (0..<changes).map({ "\(id)-\($0 + 1)" }) {
                        places[customer, default: 0] += 1
                        found[message] = places[customer]
                    }
                }
                guard page["more"]?.bool == true, let next = page["next"]?.string else { break }
                after = "&after=\(next)"
            }
            #expect(Set(places.keys).isSuperset(of: customers))
            return found
        }

        /// Expects all received messages to be known, and the first copies to arrive in each customer's order.
        private func verify(
            _ name: String, _ receivers: WebhookReceivers, _ expected: [String: Int]
        ) throws {
            var seen: Set<String> = []
            var last: [String: Int] = [:]
            for call in try receivers.calls(name) {
                let id = try #require(call["id"]?.string)
                guard seen.insert(id).inserted else { continue }
                let customer = try #require(call["customer"]?.string)
                let place = try #require(expected[id], "\(name) got \(id), which is no message")
                #expect(place == last[customer, default: 0] + 1, "\(name): \(id) is out of order")
                last[customer] = place
            }
        }
    }
}
