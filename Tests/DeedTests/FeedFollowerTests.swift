import Foundation
import Glibc
import Histories
import JSON
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Followers of the feed", .serialized, .timeLimit(.minutes(20)))
    struct FeedFollowers {
        private static let rounds = 10

        @Test(
            "Each event is once in a follower's file, however often everything is killed"
        )
        func killed() throws {
            let installation = try Installation()
            var random = seededGenerator("kills of followers")
            var services = [try installation.serve()]
            let second = try Installation(url: installation.databaseURL)
            services.append(try second.serve())
            let (admin, reader) = (try installation.makeKey(), try installation.makeKey("reader"))
            let followers = try FeedFollower.Program.allCases.map {
                try FeedFollower($0, key: reader)
            }
            for (follower, service) in zip(followers, services) {
                try follower.start(at: service.url)
            }
            let writers = try services.enumerated().map {
                try GrantWriters($1.url, key: admin, clients: 16, name: "\($0)-")
            }
            let installations = [installation, second]
            for round in 0..<FeedFollowers.rounds {
                for index in services.indices {
                    pause(milliseconds: Int64.random(in: 100...700, using: &random))
                    services[index].process.signal(SIGKILL)
                    #expect(services[index].process.wait(milliseconds: 5000) == 128 + SIGKILL)
                    services[index] = try installations[index].serve(port: services[index].port)
                    for follower in followers {
                        // Kills the follower while it writes, not while it waits to try again.
                        #expect(eventually(within: 30_000) { follower.hasGrown })
                        pause(milliseconds: Int64.random(in: 0...150, using: &random))
                        follower.kill()
                        // The followers take turns with the services.
                        try follower.start(at: services[(index + round) % 2].url)
                    }
                }
                let before = writers.map(\.count)
                for process in installation.postgresProcesses { kill(process, SIGKILL) }
                #expect(
                    eventually(within: 30_000) {
                        zip(writers, before).allSatisfy { $0.count > $1 + 16 }
                    })
            }
            let answered = writers.flatMap { $0.stop() }
            #expect(writers.flatMap(\.unexpected) == [])
            #expect(answered.count > 32 * FeedFollowers.rounds)
            for follower in followers {
                follower.kill()
                let before = try follower.events().count
                #expect(before > answered.count / 4, "it followed \(before) while all were killed")
                let ended = try follower.run(
                    "--url", services[0].url, "--out", follower.out, "--once")
                #expect(ended.code == 0, "\(ended.errors)")
                try verify(follower, answered, installation, at: services[0], key: reader)
            }
            try installation.expectWholeLog()
            print("\(answered.count) grants were answered")
        }

        /// Expects the follower's file to contain each event of the log once, in each customer's order.
        private func verify(
            _ follower: FeedFollower, _ answered: [AnsweredGrant], _ installation: Installation,
            at service: RunningService, key: String
        ) throws {
            let told = try follower.events()
            let ids = told.compactMap { $0["id"]?.string }
            #expect(Set(ids).count == told.count, "an event occurs twice")
            var client = try APIClient(key: key)
            var customers: [String: [JSON]] = [:]
            for event in told {
                customers[try #require(event["customer"]?.string), default: []].append(event)
            }
            #expect(Set(customers.keys) == Set(answered.map(\.customer)))
            for (customer, told) in customers {
                let logged = try client.events(of: customer, at: service.url)
                #expect(told.map(\.withoutFeed) == logged, "\(customer)")
                let path = "\(service.url)/v1/customers/\(customer)/entitlements"
                let answer = try client.read(path)["entitlements"]?["pro"]
                #expect(answer != nil && told.compactMap(\.answer).last == answer, "\(customer)")
            }
            #expect(told.count == answered.count)
            let names = ids.map { "'\($0)'" }.joined(separator: ",")
            let known = """
                select count(*) from deed.events where \
                shard || '-' || seq || '-' || left(encode(chain, 'hex'), 8) in (\(names))
                """
            let count = try queriedNumber(known, at: installation.databaseURL)
            #expect(count == Int64(told.count), "ids are not those of the log")
        }

        private func give(
            _ entitlement: String, to customer: String, at service: RunningService, _ key: String,
            environment: String = "production"
        ) throws {
            var client = try APIClient(key: key)
            let body: JSON = [
                "entitlement": .string(entitlement), "reason": "r", "allow_unknown": true,
                "environment": .string(environment),
            ]
            let answer = try client.send(
                "POST", "\(service.url)/v1/customers/\(customer)/grants", body: body.text)
            #expect(answer.status == 201, "\(answer.text)")
        }

        @Test(
            "Once, by type or in the sandbox, it continues where it ended",
            arguments: FeedFollower.Program.allCases)
        func once(_ program: FeedFollower.Program) throws {
            let installation = try Installation(ScratchDatabase())
            let (service, key) = try installation.begin()
            let reader = try installation.makeKey("reader")
            func types(_ follower: FeedFollower, _ options: String...) throws -> [String] {
                let ended = try follower.run("--url", service.url, "--once", more: options)
                #expect(ended.code == 0 && ended.errors == "", "\(ended.errors)")
                return try ended.output.events.compactMap { $0["type"]?.string }
            }
            let all = try FeedFollower(program, key: reader)
            #expect(try types(all) == [])
            for customer in 1...5 { try give("pro", to: "u\(customer)", at: service, key) }
            try give("pro", to: "u1", at: service, key, environment: "sandbox")
            #expect(try types(all) == Array(repeating: "grant.given", count: 5))
            #expect(try types(all) == [])
            try give("vip", to: "u1", at: service, key)
            #expect(try types(all) == ["grant.given"])

            let changes = try FeedFollower(program, key: reader)
            #expect(try types(changes, "--types", "entitlement.started").count == 6)
            #expect(try types(changes, "--types", "purchase.*,entitlement.ended") == [])
            let sandbox = try FeedFollower(program, key: reader)
            #expect(try types(sandbox, "--environment", "sandbox") == ["grant.given"])

            // A waiting follower gets the event immediately, before its wait ends.
            let waiting = try FeedFollower(program, key: reader)
            try waiting.start(at: service.url)
            #expect(try eventually(within: 10_000) { try waiting.events().count == 6 })
            try give("late", to: "u9", at: service, key)
            #expect(try eventually(within: 10_000) { try waiting.events().count == 7 })
        }

        @Test("After an accepted loss it continues with the replacement of what was lost")
        func lost() throws {
            let pair = try PostgresPair()
            let installation = try Installation(url: pair.url)
            let (service, key) = try installation.begin()
            let reader = try installation.makeKey("reader")
            let followers = try FeedFollower.Program.allCases.map {
                try FeedFollower($0, key: reader)
            }
            func follow(_ follower: FeedFollower) throws -> Finished {
                let ended = try follower.run(
                    "--url", service.url, "--once", "--out", follower.out)
                #expect(ended.code == 0, "\(ended.errors)")
                return ended
            }
            func told(_ follower: FeedFollower) throws -> [String] {
                try follower.events().compactMap { $0["data"]?["entitlement"]?.string }
            }
            try give("kept", to: "u1", at: service, key)
            let count = "select count(*) from deed.events"
            let written = try queriedNumber(count, at: pair.url(of: .primary))
            #expect(
                try eventually(within: 20_000) {
                    try queriedNumber(count, at: pair.url(of: .standby)) >= written
                })
            try pair.stop(.standby)
            try give("lost", to: "u1", at: service, key)
            for follower in followers {
                _ = try follow(follower)
                #expect(try told(follower) == ["kept", "lost"])
            }
            try pair.stop(.primary)
            try pair.start(.standby)
            try pair.promote()
            var client = try APIClient(key: key)
            func readiness() throws -> (status: Int, text: String) {
                try client.send("GET", "\(service.url)/readyz")
            }
            #expect(
                try eventually(within: 20_000) { try readiness().text.contains("has seen") })
            let (accepting, _, _) = try installation.start(["accept-log", "--reason", "r"])
            #expect(try eventually(within: 20_000) { try readiness().status == 200 })
            #expect(accepting.wait(milliseconds: 60_000) == 0)
            try give("after", to: "u1", at: service, key)
            for follower in followers {
                #expect(try follow(follower).errors.contains("Deed's log lost events"))
                #expect(try told(follower) == ["kept", "lost", "after"])
                #expect(try follow(follower).errors == "")
            }
        }

        @Test(
            "It stops with one sentence if no repetition helps",
            arguments: FeedFollower.Program.allCases)
        func stops(_ program: FeedFollower.Program) throws {
            let installation = try Installation(ScratchDatabase())
            let (service, _) = try installation.begin()
            let follower = try FeedFollower(program, key: try installation.makeKey("reader"))
            func complaint(key: String? = nil, _ options: String...) throws -> String {
                let ended = try follower.run(
                    "--url", service.url, "--once", more: options, key: key)
                #expect(ended.code == 1 && ended.output == "", "\(options): \(ended.output)")
                #expect(ended.errors.split(separator: "\n").count == 1, "\(ended.errors)")
                return ended.errors
            }
            #expect(try complaint(key: "").contains("DEED_KEY is missing"))
            #expect(try complaint(key: "secret").contains("begins with deed_"))
            #expect(try complaint(key: "deed_reader_x").contains("401 key_unknown"))
            let misspelt = try complaint("--types", "purchase.mad")
            #expect(misspelt.contains("400") && misspelt.contains("purchase.made"))
            try "else".write(toFile: follower.out, atomically: true, encoding: .utf8)
            #expect(try complaint("--out", follower.out).contains("does not know of"))
            try #"{"cursor":null,"ids":[],"length":5}"#
                .write(toFile: follower.cursor, atomically: true, encoding: .utf8)
            #expect(try complaint("--out", follower.out).contains("it was cut"))
            #expect(try complaint().contains("name that file with --out"))
            try #"{"cursor":"x","ids":[],"length":null}"#
                .write(toFile: follower.cursor, atomically: true, encoding: .utf8)
            #expect(try complaint().contains("\"after\""))
            try "{".write(toFile: follower.cursor, atomically: true, encoding: .utf8)
            #expect(try complaint().contains("no file of this program"))
            let nowhere = try follower.run("--url", "127.0.0.1:8080")
            #expect(nowhere.code == 1 && nowhere.errors.contains("--url must be"))
        }
    }
}

extension JSON {
    /// The answer as changed by the event.
    fileprivate var answer: JSON? {
        self["access"]?.array?.last { $0["entitlement"] == "pro" }?["after"]
    }

    /// The part of an event that the calls about one customer also return.
    fileprivate var withoutFeed: JSON {
        var event = JSONObject()
        let ofFeed: Set = ["id", "customer", "environment", "access"]
        for member in object?.members ?? [] where !ofFeed.contains(member.name) {
            event.append(member.name, member.value)
        }
        return .object(event)
    }
}
