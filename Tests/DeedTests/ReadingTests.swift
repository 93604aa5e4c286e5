import Core
import Histories
import JSON
import Outbound
import Synchronization
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("Reads from two services", .timeLimit(.minutes(20)))
    struct Reads {
        private static let path = "/v1/customers/u1/entitlements"
        private let database: ScratchDatabase
        private let installation: Installation
        private let services: [RunningService]
        private let key: String

        init() throws {
            database = try ScratchDatabase()
            installation = try Installation(database)
            key = try installation.makeKey()
            services = [try installation.serve(), try installation.serve()]
        }

        @Test("While both write, no answer is older than its position or the requested one")
        func neverOld() throws {
            var seeds = seededGenerator("reads from two services")
            let course = GrantCourse(services.map(\.url), key: key)
            let seed = seeds.next()
            inParallel(6) { lane in
                var random = SeededGenerator(seed: seed &+ UInt64(lane))
                if lane < 2 {
                    course.write(on: lane, count: 300, &random)
                } else {
                    course.read(on: lane % 2, &random)
                }
            }
            #expect(course.faults == [])
            #expect(course.readings.count > 500)
            var client = try APIClient(key: key)
            var logs: [String: [JSON]] = [:]
            var random = SeededGenerator(seed: seed)
            for reading in course.readings.shuffled(using: &random).prefix(3000) {
                if logs[reading.customer] == nil {
                    logs[reading.customer] = try client.events(
                        of: reading.customer, at: services[0].url)
                }
                if let wrong = reading.complaint(logs[reading.customer] ?? []) {
                    Issue.record("seed \(seed): \(wrong)")
                    return
                }
            }
            let metrics = try client.send("GET", "\(services[0].url)/metrics").text
            #expect(!metrics.contains("\ndeed_answer_hits_total 0\n"))
        }

        @Test(
            "An answer changes at its next change, to the millisecond, under constant reads")
        func flip() throws {
            var client = try APIClient(key: key)
            let given = try client.send(
                "POST", "\(services[0].url)/v1/customers/u1/grants",
                body: #"{"entitlement":"pro","for":"PT2S","reason":"r"}"#)
            let text = try JSON.read(given.text)["grant"]?["end"]?.string
            let end = try #require(text.flatMap { Instant(text: $0) })
            var (before, after) = (0, 0)
            while after < 100 {
                let json = try client.read(services[0].url + Reads.path)
                let at = try #require(json["at"]?.string.flatMap { Instant(text: $0) })
                let isActive = json["entitlements"]?["pro"]?["active"]?.bool
                #expect(isActive == (at < end), "at \(at.text), which ends at \(end.text)")
                if at < end { before += 1 } else { after += 1 }
            }
            #expect(before > 100)
        }

        @Test("A key revoked elsewhere stops within a second, even from memory")
        func revokedKey() throws {
            let made = try installation.run("key", "create", "--role", "reader", "--json").json
            let revoked = try #require(made["key"]?.string)
            var client = try APIClient(key: revoked)
            for service in services {
                #expect(try client.send("GET", service.url + Reads.path).status == 200)
                #expect(try client.send("GET", service.url + Reads.path).status == 200)
            }
            let id = try #require(made["id"]?.string)
            #expect(try installation.run("key", "revoke", id).code == 0)
            let deadline = monotonicMilliseconds() + 1500
            for service in services {
                #expect(
                    try eventually(within: max(1, deadline - monotonicMilliseconds())) {
                        try client.send("GET", service.url + Reads.path).status == 401
                    })
            }
        }

        @Test(
            "A client that sends a thousand requests unread delays no one, and gets all answers")
        func pipelining() throws {
            let request =
                "GET \(Reads.path) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(key)\r\n\r\n"
            // Does not compare these answers with the document. Comparing a thousand of them takes
            // longer than the server waits for a client that does not read.
            let silent = try RawClient(
                undocumented: services[0].port, milliseconds: 20_000)
            #expect(silent.send(String(repeating: request, count: 1000)))
            var client = try APIClient(key: key)
            var slowest: Int64 = 0
            for _ in 0..<300 {
                let start = monotonicMilliseconds()
                let answer = try client.send("GET", services[0].url + Reads.path)
                #expect(answer.status == 200)
                slowest = max(slowest, monotonicMilliseconds() - start)
            }
            #expect(slowest < 2000)
            for number in 0..<1000 {
                let reply = silent.reply()
                try #require(reply?.status == 200, "answer \(number)")
            }
        }

        @Test("Clients that request large answers and do not read them delay no one")
        func slowReaders() throws {
            // There are more clients than workers.
            let count = 80
            let names = (0..<1000).map { "\"c\($0)\"" }.joined(separator: ",")
            let body = "{\"customers\":[\(names)]}"
            let request =
                "POST /v1/entitlements/query HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(key)"
                + "\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            var client = try APIClient(key: key)
            // With the answers in memory, the server makes all of them long before it cuts off the first client.
            let query = "\(services[1].url)/v1/entitlements/query"
            #expect(try client.send("POST", query, body: body).status == 200)
            let silent = try (0..<count).map { _ in
                try RawClient(
                    port: services[1].port, milliseconds: 20_000, isNarrow: true)
            }
            for client in silent { #expect(client.send(request)) }
            // Every answer is complete, and waits in its connection to be read.
            #expect(
                try eventually(within: 25_000) {
                    let metrics = try client.metrics(of: services[1])
                    return metrics["deed_http_requests_in_flight"] ?? 0 >= Int64(count)
                        && metrics["deed_http_workers_busy"] == 0
                        && metrics["deed_http_worker_queue"] == 0
                })
            for _ in 0..<100 {
                let start = monotonicMilliseconds()
                #expect(try client.send("GET", services[1].url + Reads.path).status == 200)
                // A client that had to wait for the slow ones would wait until they are cut off.
                #expect(monotonicMilliseconds() - start < 5000)
            }
            #expect(
                try client.metrics(of: services[1])["deed_http_requests_in_flight"] ?? 0
                    >= Int64(count)
            )
            #expect(silent[0].reply()?.status == 200)
        }
    }
}

/// Clients that make, revoke and read grants on two services.
private final class GrantCourse: Sendable {
    struct Reading: Sendable {
        let customer: String
        let text: String
        /// The lowest sequence that the answer may reflect.
        let least: Int64

        /// Returns what is wrong with the answer according to the customer's events, or `nil` if nothing is.
        func complaint(_ events: [JSON]) -> String? {
            guard let json = try? JSON.read(text), let position = sequence(of: json),
                let entitlements = json["entitlements"]?.object
            else { return "unreadable: \(text)" }
            if position < least { return "\(text) is older than \(least)" }
            let told = Set(
                entitlements.members.filter { $0.value["active"] == true }.map(\.name))
            var live: [String: String] = [:]
            var isReached = position == 0 || events.first.flatMap(sequence) ?? .max > position
            if isReached, told.isEmpty { return nil }
            for (index, event) in events.enumerated() {
                let grant = event["data"]?["grant"]?.string ?? ""
                live[grant] =
                    event["type"] == "grant.given" ? event["data"]?["entitlement"]?.string : nil
                let next = index + 1 < events.count ? sequence(of: events[index + 1]) : nil
                isReached = isReached || next ?? .max > position
                if isReached, Set(live.values) == told { return nil }
            }
            return "no state from \(position) on gives: \(text)"
        }

        private func sequence(of json: JSON) -> Int64? {
            json["position"]?.string.flatMap(Position.init)?.sequence
        }
    }
    private struct State {
        var writing = 2
        var written: [[String: Int64]] = [[:], [:]]
        var readings: [Reading] = []
        var faults: [String] = []
    }
    private static let customers = 8
    private let state = Mutex(State())
    private let services: [String]
    private let key: String

    init(_ services: [String], key: String) {
        self.services = services
        self.key = key
    }

    var readings: [Reading] { state.withLock(\.readings) }
    var faults: [String] { state.withLock(\.faults) }

    func write(on service: Int, count: Int, _ random: inout SeededGenerator) {
        do {
            var client = try APIClient(key: key)
            var grants: [(customer: String, grant: String)] = []
            for number in 0..<count {
                let path: String
                let answer: (status: Int, text: String)
                if let (customer, grant) = grants.last, random.chance(30) {
                    grants.removeLast()
                    path = customer
                    answer = try client.send(
                        "DELETE",
                        "\(services[service])/v1/customers/\(customer)/grants/\(grant)?reason=r")
                } else {
                    path = "c\(random.number(0...Int64(GrantCourse.customers - 1)))"
                    answer = try client.send(
                        "POST", "\(services[service])/v1/customers/\(path)/grants",
                        body: #"{"entitlement":"e\#(service)-\#(number)","reason":"r"}"#)
                }
                let json = try JSON.read(answer.text)
                guard (200...201).contains(answer.status), let grant = json["grant"]?["id"]?.string,
                    let position = json["position"]?.string.flatMap(Position.init)
                else { throw Installation.Failed(description: answer.text) }
                if answer.status == 201 { grants.append((path, grant)) }
                state.withLock { $0.written[service][path] = position.sequence }
            }
        } catch {
            state.withLock { $0.faults.append("\(error)") }
        }
        state.withLock { $0.writing -= 1 }
    }

    func read(on service: Int, _ random: inout SeededGenerator) {
        do {
            var client = try APIClient(key: key)
            while state.withLock({ $0.writing > 0 }) {
                let customer = "c\(random.number(0...Int64(GrantCourse.customers - 1)))"
                let asks = random.chance(30)
                let (own, any) = state.withLock { state in
                    (state.written[service][customer], state.written.compactMap { $0[customer] })
                }
                let after = asks ? any.max() : nil
                let stream = try Core.Stream.test(customer)
                let response = try client.get(
                    "\(services[service])/v1/customers/\(customer)/entitlements",
                    headers: after.map { [("Deed-After", "\(stream.shard.number):\($0)")] } ?? [])
                let text = String(decoding: response.body, as: UTF8.self)
                let least = [own, after].compactMap(\.self).max() ?? 0
                state.withLock { state in
                    if response.status == 200 {
                        state.readings.append(
                            Reading(customer: customer, text: text, least: least))
                    } else {
                        state.faults.append(text)
                    }
                }
            }
        } catch {
            state.withLock { $0.faults.append("\(error)") }
        }
    }
}
