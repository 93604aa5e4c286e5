import Glibc
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Webhooks of two instances", .serialized, .timeLimit(.minutes(20)))
    struct WebhookLeases {
        private let options = ["--webhook-allow", "127.0.0.1", "--webhook-retries", "1,1,1,1,1,1"]

        @Test("A frozen instance is replaced, and changes nothing once it thaws")
        func frozen() throws {
            let installation = try Installation(ScratchDatabase())
            let key = try installation.makeKey()
            let services = try (0..<2).map { _ in try installation.serve(options) }
            let grounds = services.map { WebhookGround(installation, $0, key) }
            let receivers = try WebhookReceivers([("slow", "slow")])
            let id = try grounds[0].make(receivers, "slow")
            try grounds[0].give(["u0"])
            grounds[0].expect(1, at: "slow", receivers)
            let holder = try #require(grounds.firstIndex { sends($0) })
            #expect(!sends(grounds[1 - holder]), "both send")
            let other = grounds[1 - holder]
            let customers = (1...12).map { "u\($0)" }
            let many = (0..<8).flatMap { _ in customers }
            try other.give(many)
            grounds[holder].service.process.signal(SIGSTOP)
            let before = try receivers.calls("slow").count
            #expect(before < many.count + 1, "it was frozen too late to show anything")
            try other.give(customers)
            let expected = many.count + customers.count + 1
            let isTaken = eventually(within: 120_000) {
                pause(milliseconds: 50)
                return (try? ids(receivers).count) == expected
            }
            let count = try ids(receivers).count
            #expect(isTaken, "\(count) of \(expected)")
            #expect(sends(other))
            pause(milliseconds: 2000)
            let place = try row(installation)
            grounds[holder].service.process.signal(SIGCONT)
            pause(milliseconds: 5000)
            #expect(try row(installation) == place, "a late write was taken")
            #expect(try ids(receivers).count == expected)
            try other.give(customers)
            let isWhole = eventually(within: 60_000) {
                pause(milliseconds: 50)
                return (try? ids(receivers).count) == expected + customers.count
            }
            #expect(isWhole)
            // A message that was on its way may arrive twice, but not after a later one.
            for customer in customers {
                let versions = try receivers.calls("slow")
                    .filter { $0["customer"]?.string == customer }
                    .compactMap { $0["version"]?.integer }
                #expect(versions == versions.sorted(), "\(customer): \(versions)")
            }
            let shown = other.shown(id)
            #expect(shown["state"]?.string == "active" && shown["waiting"]?.integer == 0)
        }

        private func ids(_ receivers: WebhookReceivers) throws -> Set<String> {
            Set(try receivers.calls("slow").compactMap { $0["id"]?.string })
        }

        private func row(_ installation: Installation) throws -> String {
            let place = "select p::text || ' ' || (select count(*) from deed.webhook_attempts)"
            return try queriedText(
                "\(place) from deed.webhook_places as p", at: installation.databaseURL)
        }

        /// Returns whether the service has sent anything.
        private func sends(_ ground: WebhookGround) -> Bool {
            guard let text = try? metrics(of: ground) else { return false }
            let line = text.split(separator: "\n").first {
                $0.hasPrefix(#"deed_webhook_attempts_total{outcome="delivered"}"#)
            }
            return line.map { !$0.hasSuffix(" 0") } ?? false
        }

        private func metrics(of ground: WebhookGround) throws -> String {
            var client = try APIClient(key: ground.key)
            return try client.send("GET", "\(ground.service.url)/metrics").text
        }
    }
}
