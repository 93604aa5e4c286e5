import Glibc
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    /// Tests two instances on two machines. A failover loses an event that only one of them has seen.
    @Suite("A loss that one instance knows", .serialized, .timeLimit(.minutes(20)))
    struct SharedLoss {
        private let pair: PostgresPair
        private let seer: Installation
        private let other: Installation
        private let seeing: RunningService
        private let going: RunningService
        private let key: String

        init() throws {
            pair = try PostgresPair()
            seer = try Installation(url: pair.url)
            other = try Installation(url: pair.url)
            (seeing, key) = try seer.begin()
            going = try other.serve()
        }

        @Test(
            "All refuse the server that lost it, until another machine accepts the loss"
        )
        func failover() throws {
            #expect(try give("kept", at: seeing) == 201)
            let count = "select count(*) from deed.events"
            let written = try queriedNumber(count, at: pair.url(of: .primary))
            #expect(
                try eventually(within: 20_000) {
                    try queriedNumber(count, at: pair.url(of: .standby)) >= written
                })
            #expect(try eventually(within: 5000) { try readiness(of: going).status == 200 })
            try pair.stop(.standby)
            going.process.signal(SIGSTOP)
            #expect(try give("lost", at: seeing) == 201)
            seeing.process.signal(SIGSTOP)
            try pair.stop(.primary)
            try pair.start(.standby)
            try pair.promote()

            // The instance that has not seen the event continues, because it cannot know about the loss.
            going.process.signal(SIGCONT)
            #expect(try eventually(within: 20_000) { try give("more", at: going) == 201 })
            seeing.process.signal(SIGCONT)
            #expect(
                try eventually(within: 20_000) {
                    try readiness(of: seeing).text.contains("that this instance has seen")
                })
            let lost = "lacks at least 1 event that another instance has seen"
            #expect(
                try eventually(within: 5000) { try readiness(of: going).text.contains(lost) })
            #expect(try eventually(within: 5000) { try give("never", at: going) == 503 })
            #expect(try read(at: going, consistency: "strong").status == 503)

            // Deed keeps refusing after the knowing instance is gone, on a new machine, and for commands there.
            seeing.process.signal(SIGKILL)
            #expect(seeing.process.wait(milliseconds: 5000) != nil)
            let third = try Installation(url: pair.url)
            let late = try third.serve()
            #expect(try readiness(of: late).text.contains(lost))
            let status = try third.run("status", "--json")
            #expect(status.code == 1 && status.errors.contains(lost), "\(status.errors)")
            let rehearsal = try third.run("accept-log", "--dry-run", "--json", "--reason", "r")
            #expect(try rehearsal.json["lacking"]?.string?.contains(lost) == true)
            #expect(try rehearsal.json["remembered"] == false)

            let (accepting, _, _) = try third.start(
                ["accept-log", "--reason", "the primary is lost"])
            for service in [going, late] {
                #expect(
                    try eventually(within: 20_000) { try readiness(of: service).status == 200 })
                // An instance that reports ready accepts writes immediately.
                #expect(try give("ready-\(service.port)", at: service) == 201)
            }
            #expect(accepting.wait(milliseconds: 60_000) == 0)
            let again = try seer.serve()
            for service in [going, late, again] {
                #expect(
                    try eventually(within: 20_000) { try readiness(of: service).status == 200 })
                let answer = try read(at: service, consistency: "strong").text
                #expect(answer.contains(#""more":{"active":true"#))
                #expect(!answer.contains(#""lost""#))
            }
            #expect(try give("after", at: again) == 201)
            let notes = "select count(*) from deed.lost_ends"
            #expect(try queriedNumber(notes, at: pair.url(of: .standby)) == 0)
            #expect(try other.run("audit").code == 0)
        }

        private func give(_ entitlement: String, at service: RunningService) throws -> Int {
            var client = try APIClient(key: key)
            return try client.send(
                "POST", "\(service.url)/v1/customers/u1/grants",
                body: #"{"entitlement":"\#(entitlement)","reason":"r","allow_unknown":true}"#,
                idempotencyKey: entitlement
            ).status
        }

        private func readiness(of service: RunningService) throws -> (status: Int, text: String) {
            var client = try APIClient(key: key)
            return try client.send("GET", "\(service.url)/readyz")
        }

        private func read(
            at service: RunningService, consistency: String
        ) throws -> (status: Int, text: String) {
            var client = try APIClient(key: key)
            return try client.send(
                "GET", "\(service.url)/v1/customers/u1/entitlements?consistency=\(consistency)")
        }
    }
}
