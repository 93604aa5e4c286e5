import Answers
import Core
import JSON
import Postgres
import Service
import TestSupport
import Testing
import Threading

@Suite("Answers from memory", .timeLimit(.minutes(20)))
struct AnswerCacheTests {
    private let service: TestService
    private let admin: NewKey
    private let path = "/v1/customers/u1/entitlements"

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
    }

    @Test("The second read is answered from memory, with the same answer and a new instant")
    func second() throws {
        _ = try give("pro")
        let first = get(path)
        service.clock.advance(byMilliseconds: 1500)
        let second = try atOnce(path)
        #expect(!first.isImmediate)
        #expect(second.header("Deed-Position") == first.header("Deed-Position"))
        #expect(
            second.text
                == first.text.replacing(
                    "2026-11-20T19:21:00.000Z\",\"position",
                    with: "2026-11-20T19:21:01.500Z\",\"position"))
        #expect(try get(path + "?consistency=strong").text == atOnce(path).text)
    }

    @Test("A single entitlement comes from the same memory, held or not, however it is spelt")
    func one() throws {
        for name in ["pro", "pro ", "p\\\"ro", "ü/x"] { _ = try give(name) }
        _ = get(path)
        for (name, isHeld) in [
            ("pro", true), ("pro%20", true), ("p%5C%22ro", true), ("%C3%BC%2Fx", true),
            ("pr", false),
            ("p", false), ("active", false),
        ] {
            let remembered = try atOnce("\(path)/\(name)")
            #expect(remembered.text == get("\(path)/\(name)?consistency=strong").text)
            #expect(try remembered.json["active"]?.bool == isHeld, "\(name)")
        }
    }

    @Test(
        "An instance's own write replaces the answer before the sender's reply, without a read")
    func ownWrite() throws {
        service.outage.stopClock()
        // Every answer is right. In some rounds, the log's reader looks between a commit and its
        // news, and then the answer is read again.
        let isKept = try (1...20).contains { round in
            let (pro, vip) = ("pro-\(round)", "vip-\(round)")
            let grant = try give(pro)
            _ = get(path)
            _ = try give(vip)
            let granted = get(path)
            #expect(try granted.json["entitlements"]?[pro]?["active"]?.bool == true)
            #expect(try granted.json["entitlements"]?[vip]?["active"]?.bool == true)
            let revoked = service.send(
                "DELETE", "/v1/customers/u1/grants/\(grant)?reason=r", key: admin)
            let last = get(path)
            #expect(try last.json["entitlements"]?[pro]?["active"]?.bool == false)
            #expect(last.header("Deed-Position") == revoked.header("Deed-Position"))
            #expect(get(path + "?consistency=strong").text == last.text)
            return granted.isImmediate && last.isImmediate
        }
        #expect(isKept, "each write had the answer read again")
    }

    @Test("An answer changes exactly at its next change, without any action")
    func flip() throws {
        _ = try give("pro", #","for":"PT10S""#)
        #expect(try get(path).json["next_change"]?.string == "2026-11-20T19:21:10.000Z")
        service.clock.advance(byMilliseconds: 9999)
        #expect(try atOnce(path).json["entitlements"]?["pro"]?["active"]?.bool == true)
        service.clock.advance(byMilliseconds: 1)
        let over = get(path)
        #expect(try over.json["entitlements"]?["pro"]?["active"]?.bool == false)
        #expect(try over.json["next_change"]?.isNull == true)
        #expect(try atOnce(path).text == over.text)
        // If the clock is set back, the answer is that of the earlier time.
        service.clock.advance(byMilliseconds: -1)
        #expect(try get(path).json["entitlements"]?["pro"]?["active"]?.bool == true)
    }

    private static let shop =
        #"{"products":[{"id":"pro.month","kind":"auto_renewable","group":"pro","level":1,"#
        + #""entitlements":["pro"]}],"entitlements":{"pro":{}}}"#

    @Test("A changed catalog changes every answer of its project, and no other")
    func catalog() throws {
        try service.createProject("other")
        let others = try service.key(.admin, project: "other")
        for key in [admin, others] {
            _ = service.send("PUT", "/v1/catalog", key: key, body: Self.shop)
        }
        for project in ["default", "other"] {
            _ = try service.ledger.append(
                .record(
                    [.bought("pro", .autoRenewable, transaction: "1", at: service.clock.now)],
                    for: .test("u1", project: project), key: "k"))
        }
        let before = get(path)
        let other = service.send("GET", path, key: others)
        _ = service.send(
            "PUT", "/v1/catalog", key: admin,
            body: #"{"products":[{"id":"pro","kind":"auto_renewable","entitlements":["new"]}]}"#)
        let after = get(path)
        #expect(!after.isImmediate)
        #expect(try before.json["entitlements"]?["new"] == nil)
        #expect(try after.json["entitlements"]?["new"] != nil)
        let otherAgain = service.send("GET", path, key: others)
        #expect(otherAgain.isImmediate)
        #expect(otherAgain.text == other.text)
    }

    @Test("Making and revoking keys changes no answer")
    func keysChangeNothing() throws {
        _ = get(path)
        _ = try service.key(.reader)
        _ = try atOnce(path)
    }

    @Test("Unused answers make room for used ones, within the available memory")
    func room() throws {
        let small = try TestService(beside: service, answerBytes: 64 * 8000)
        for round in 0..<20 {
            for number in 0..<200 {
                _ = small.send(
                    "GET", "/v1/customers/c\(round)-\(number)/entitlements", key: admin)
            }
            for number in 0..<20 {
                let used = small.send("GET", "/v1/customers/used\(number)/entitlements", key: admin)
                #expect(used.isImmediate || round < 3, "\(number) in round \(round)")
            }
        }
        let tally = small.reads.cache.tally
        #expect(tally.bytes <= 64 * 8000)
        #expect(tally.entries > 200)
        #expect(tally.entries + tally.evictions == 20 * 200 + 20)
    }

    // MARK: Positions

    @Test("A read after a position includes it, on whichever instance it was written")
    func readYourWrites() throws {
        let other = try TestService(beside: service)
        for number in 0..<30 {
            let (writer, reader) = number % 2 == 0 ? (service, other) : (other, service)
            _ = reader.send("GET", path, key: admin)
            let given = writer.send(
                "POST", "/v1/customers/u1/grants", key: admin,
                body: #"{"entitlement":"e\#(number)","reason":"r"}"#)
            let position = try #require(given.header("Deed-Position"))
            let read = reader.send(
                "GET", path, key: admin, headers: [("Deed-After", position)])
            #expect(try read.json["entitlements"]?["e\(number)"] != nil)
            let reached = try #require(read.header("Deed-Position").flatMap(Position.init))
            #expect(reached.sequence >= (Position(position)?.sequence ?? .max))
        }
    }

    @Test("Another instance's write is visible within a moment, even without a position")
    func tail() throws {
        let other = try TestService(beside: service)
        _ = other.send("GET", path, key: admin)
        _ = try give("pro")
        #expect(
            eventually(within: 2000) {
                let reply = other.send("GET", path, key: admin)
                return (try? reply.json["entitlements"]?["pro"]) != nil
            })
    }

    @Test("A position in another customer's shard is waited for, and an invented one refused")
    func foreignPositions() throws {
        _ = get(path)
        var foreign: String?
        for number in 0..<10 where foreign == nil {
            let given = service.send(
                "POST", "/v1/customers/other\(number)/grants", key: admin,
                body: #"{"entitlement":"pro","reason":"r"}"#)
            let text = try #require(given.header("Deed-Position"))
            if Position(text)?.shard != (try Stream.test("u1").shard) { foreign = text }
        }
        let after = [("Deed-After", try #require(foreign))]
        #expect(service.send("GET", path, key: admin, headers: after).status == 200)
        for shard in [try Stream.test("u1").shard, try #require(Position(after[0].1)).shard] {
            let never = [("Deed-After", "\(shard.number):1000000")]
            let refused = service.send("GET", path, key: admin, headers: never)
            #expect(refused.status == 503)
            #expect(try refused.json["code"]?.string == "position_not_reached")
        }
        for malformed in ["17", "64:1", "1:-1", "x:1", ""] {
            let refused = service.send(
                "GET", path, key: admin, headers: [("Deed-After", malformed)])
            #expect(refused.status == 400)
            #expect(try refused.json["member"]?.string == "Deed-After")
        }
    }

    // MARK: Tags

    @Test("A client with the current answer is told that it is current")
    func tags() throws {
        _ = try give("pro", #","for":"PT10S""#)
        let tag = try #require(get(path).header("ETag"))
        func status(_ known: String) -> Int {
            service.send("GET", path, key: admin, headers: [("If-None-Match", known)]).status
        }
        service.clock.advance(byMilliseconds: 5000)
        let strong = String(tag.dropFirst(2))
        for known in [tag, "*", strong, "\"x\", \(tag)", "\(tag) , \"x\""] {
            #expect(status(known) == 304, "\(known)")
        }
        for known in ["\"x\"", "", "W/\"x\",\"y\""] { #expect(status(known) == 200, "\(known)") }
        let unchanged = service.send(
            "GET", path, key: admin, headers: [("If-None-Match", tag)])
        #expect(unchanged.text.isEmpty)
        #expect(unchanged.header("ETag") == tag)
        #expect(unchanged.header("Cache-Control") == "private, no-cache")
        #expect(unchanged.header("Deed-Position") == get(path).header("Deed-Position"))
        service.clock.advance(byMilliseconds: 5000)
        #expect(status(tag) == 200)
        let over = try #require(get(path).header("ETag"))
        _ = try give("vip")
        #expect(status(over) == 200)
    }

    // MARK: Outages

    @Test("Without a database, answers are marked as stale, and end when they are too old")
    func outage() throws {
        _ = try give("pro", #","for":"PT100S""#)
        let fresh = get(path)
        _ = service.send("GET", "/v1/customers/u2/entitlements", key: admin)
        try service.database.drop()
        #expect(try atOnce(path).header("Deed-Stale") == nil)
        service.outage.advance(byMilliseconds: 2000)
        let stale = get(path)
        #expect(stale.status == 200)
        #expect(stale.text == fresh.text)
        let age = try #require(stale.header("Deed-Stale").flatMap { Int($0) })
        #expect((2000...10_000).contains(age))
        #expect(try atOnce(path).header("Deed-Stale") != nil)
        for headers in [[("Deed-After", "\(try Stream.test("u1").shard.number):99")]] {
            #expect(service.send("GET", path, key: admin, headers: headers).status == 503)
        }
        #expect(get(path + "?consistency=strong").status == 503)
        #expect(get("/v1/customers/u3/entitlements").status == 503)
        // Access still ends by the clock.
        service.clock.advance(byMilliseconds: 100_000)
        #expect(get(path).status == 503)
        #expect(get("/v1/customers/u2/entitlements").status == 200)
        service.outage.advance(byMilliseconds: 58_000)
        let gone = get("/v1/customers/u2/entitlements")
        #expect(gone.status == 503)
        #expect(try gone.json["code"]?.string == "database_unavailable")
        #expect(gone.header("Retry-After") == "1")
    }

    @Test("A hanging database counts as gone, and answers are fresh again when it recovers")
    func hanging() throws {
        try service.look()
        _ = try give("pro")
        let fresh = get(path)
        var holder = try Connection.open(
            ConnectionSettings(url: service.database.url, role: nil))
        let lock = """
            set idle_in_transaction_session_timeout = 0;
            begin; lock deed.events in access exclusive mode; select 1
            """
        try holder.run(Script(embedded: Array(lock.utf8)))
        pause(milliseconds: 1100)
        let stale = get(path)
        #expect(stale.status == 200)
        #expect(stale.text == fresh.text)
        #expect(stale.header("Deed-Stale") != nil)
        // One read per second still queries the database.
        #expect(
            eventually(within: 10_000) {
                let read = get(path)
                return read.isImmediate && read.header("Deed-Stale") != nil
            })
        let strong = get(path + "?consistency=strong")
        #expect(try strong.json["code"]?.string == "busy", "\(strong.text)")
        try holder.run(Script(embedded: Array("rollback".utf8)))
        #expect(
            eventually(within: 10_000) {
                let read = get(path)
                return read.status == 200 && read.header("Deed-Stale") == nil
            })
    }

    @Test("A log that was restored is noticed, and read again once that is accepted")
    func restored() throws {
        let kept = try give("kept")
        _ = try give("lost")
        #expect(try get(path).json["entitlements"]?["lost"] != nil)
        let shard = try Stream.test("u1").shard.number
        let head = "select head from deed.shards where shard = \(shard)"
        let last = try service.database.number(head)
        try service.database.run(
            """
            alter table deed.events disable trigger user;
            alter table deed.shards disable trigger user;
            delete from deed.events where shard = \(shard) and seq = \(last);
            update deed.shards set head = \(last) - 1, chain = coalesce((select chain
                from deed.events where shard = \(shard) and seq = \(last) - 1), chain)
            where shard = \(shard);
            """)
        #expect(
            eventually(within: 5000) {
                let strong = get(path + "?consistency=strong")
                return (try? strong.json["code"]?.string) == "database_behind"
            })
        let other = try TestService(beside: service)
        _ = try other.useCases.acceptance.accept(
            AdminReason(reason: try Reason("restored"), ticket: nil),
            by: Sender(actor: try Actor("test"), idempotencyKey: nil))
        #expect(
            eventually(within: 10_000) {
                guard let json = try? get(path).json["entitlements"] else { return false }
                return json["lost"] == nil && json["kept"]?["grant"]?.string == kept
            })
    }

    // MARK: Parts

    private func give(_ entitlement: String, _ more: String = "") throws -> String {
        let name = JSON.string(entitlement).text
        let reply = service.send(
            "POST", "/v1/customers/u1/grants", key: admin,
            body: "{\"entitlement\":\(name),\"reason\":\"r\"\(more)}")
        return try #require(try reply.json["grant"]?["id"]?.string, "\(reply.text)")
    }

    private func get(_ target: String) -> Reply {
        service.send("GET", target, key: admin)
    }

    /// Returns the answer from memory.
    private func atOnce(_ target: String) throws -> Reply {
        let reply = get(target)
        try #require(reply.isImmediate, "\(target) asked the database")
        return reply
    }
}
