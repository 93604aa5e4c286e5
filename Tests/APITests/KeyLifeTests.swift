import API
import Core
import Feed
import HTTPServer
import JSON
import Service
import TestSupport
import Testing

@Suite("Keys that end, are rotated and are used", .timeLimit(.minutes(20)))
struct KeyLifeTests {
    private static let hour: Int64 = 3_600_000
    private let service: TestService
    private let other: TestService
    private let admin: NewKey

    init() throws {
        service = try TestService()
        other = try TestService(beside: service)
        admin = try service.key(.admin, name: "back office")
    }

    private func read(_ key: NewKey, through service: TestService? = nil) -> Reply {
        (service ?? self.service).send("GET", "/v1/customers/u1/entitlements", key: key)
    }

    private func listed(
        _ query: String = "", through service: TestService? = nil
    ) throws -> [JSON] {
        let reply = (service ?? self.service).send("GET", "/v1/keys\(query)", key: admin)
        return try #require(try reply.json["keys"]?.array, "\(reply.text)")
    }

    private func listed(_ key: NewKey, through service: TestService? = nil) throws -> JSON {
        try #require(
            try listed("", through: service).first { $0["id"]?.string == key.key.text })
    }

    @Test("A key opens the project until the millisecond of its end, on every instance")
    func end() throws {
        let end = service.clock.now.advanced(byMilliseconds: Self.hour)
        let key = try service.key(.reader, ending: .at(end))
        for one in [service, other] { #expect(read(key, through: one).status == 200) }
        service.clock.advance(byMilliseconds: Self.hour - 1)
        for one in [service, other] {
            #expect(read(key, through: one).status == 200)
            #expect(read(key, through: one).isImmediate)
        }
        service.clock.advance(byMilliseconds: 1)
        for one in [service, other] {
            let reply = read(key, through: one)
            #expect(reply.status == 401 && reply.code == "key_expired")
            #expect(reply.header("WWW-Authenticate") == "Bearer error=\"invalid_token\"")
        }
        #expect(try listed(key)["state"] == "expired")
        // After that time, Deed no longer knows the key.
        service.clock.advance(byMilliseconds: Key.expiredFor)
        try service.keys.reload()
        #expect(read(key).code == "key_unknown")
    }

    @Test("A connection that has used the key is refused when it ends, too")
    func connection() throws {
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        let server = try Server(settings, metrics: service.metrics, service.router)
        let key = try service.key(
            .reader, ending: .at(service.clock.now.advanced(byMilliseconds: 1000)))
        let client = try RawClient(port: server.port, milliseconds: 60_000)
        let call =
            "GET /v1/customers/u1/entitlements HTTP/1.1\r\nHost: x\r\n"
            + "Authorization: Bearer \(key.text)\r\n\r\n"
        for _ in 0..<2 {
            client.send(call)
            #expect(try #require(client.reply()).status == 200)
        }
        service.clock.advance(byMilliseconds: 1000)
        client.send(call)
        let reply = try #require(client.reply())
        #expect(reply.status == 401 && reply.body.contains("key_expired"), "\(reply.body)")
        _ = server.drain(milliseconds: 10_000)
    }

    @Test("A call whose key ends while it waits gets no event")
    func waiting() throws {
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        let server = try Server(settings, metrics: service.metrics, service.router)
        let key = try service.key(
            .reader, ending: .at(service.clock.now.advanced(byMilliseconds: 1000)))
        let client = try RawClient(port: server.port, milliseconds: 60_000)
        client.send(
            "GET /v1/events?after=end&wait=30 HTTP/1.1\r\nHost: x\r\n"
                + "Authorization: Bearer \(key.text)\r\n\r\n")
        #expect(eventually(within: 60_000) { service.feed.waiting == 1 })
        service.clock.advance(byMilliseconds: 1000)
        give("u1")
        let reply = try #require(client.reply())
        #expect(reply.status == 401 && reply.body.contains("key_expired"), "\(reply.body)")
        _ = server.drain(milliseconds: 10_000)
    }

    @Test("A rotated pair works until the old one's end, and the new one is made like it")
    func rotated() throws {
        let old = try service.key(
            .backend, name: "lobby", ending: .after(.days(30)), only: .sandbox)
        service.clock.advance(byMilliseconds: 24 * Self.hour)
        let new = try service.rotate(old, overlap: .lasting(.days(7)))
        #expect(new.role == .backend && new.name == "lobby")
        #expect(new.limits.environment == .sandbox)
        #expect(new.text.hasPrefix("deed_backend_") && new.text != old.text)
        #expect(
            new.limits.expires == service.clock.now.advanced(byMilliseconds: 30 * 24 * Self.hour))
        func status(_ key: NewKey, _ one: TestService) -> Int {
            one.send("GET", "/v1/customers/u1/entitlements?environment=sandbox", key: key).status
        }
        for one in [service, other] {
            try one.keys.reload()
            #expect(status(old, one) == 200 && status(new, one) == 200)
        }
        let (first, second) = (try listed(old), try listed(new))
        #expect(first["replaced_by"]?.string == new.key.text)
        #expect(second["replaces"]?.string == old.key.text)
        #expect(first["expires_at"]?.string == "2026-11-28T19:21:00.000Z")
        service.clock.advance(byMilliseconds: 7 * 24 * Self.hour)
        for one in [service, other] {
            #expect(status(old, one) == 401 && status(new, one) == 200)
        }
        #expect(try listed(old)["state"] == "expired")
    }

    @Test("Without an overlap the old key ends at once")
    func withoutOverlap() throws {
        let old = try service.key(.reader)
        #expect(read(old).status == 200)
        let new = try service.rotate(old, overlap: KeyOverlap.none)
        #expect(read(old).code == "key_expired")
        #expect(read(new).status == 200)
        #expect(new.limits.expires == nil)
    }

    @Test("The last use is right to the hour across two instances, and written once an hour")
    func lastUse() throws {
        let key = try service.key(.reader, name: "")
        #expect(try listed(key)["last_used_at"]?.isNull == true)
        // Makes a call that reads the database, and records the use of the key.
        func use(_ one: TestService) throws {
            let reply = one.send("GET", "/v1/customers/u1/events", key: key)
            #expect(reply.status == 200)
            try one.keys.uses.write()
        }
        func row() throws -> String {
            try service.database.text(
                "select xmin || ' ' || used_at from deed.key_uses where key_id = '\(key.key)'")
        }
        try use(service)
        let first = try row()
        for one in [service, other] {
            #expect(try listed(key, through: one)["last_used_at"] == "2026-11-20T19:00:00.000Z")
        }
        // 19:59:59.999 belongs to the same hour, in both instances.
        service.clock.advance(byMilliseconds: 39 * 60_000 - 1)
        try use(service)
        try use(other)
        #expect(try row() == first)
        service.clock.advance(byMilliseconds: 1)
        try use(other)
        #expect(try row() != first)
        for one in [service, other] {
            #expect(try listed(key, through: one)["last_used_at"] == "2026-11-20T20:00:00.000Z")
        }
        // A late write of an earlier use does not undo another instance's later use.
        try service.database.run(
            "update deed.key_uses set used_at = used_at + 3600000 where key_id = '\(key.key)'")
        try use(service)
        #expect(try listed(key)["last_used_at"] == "2026-11-20T21:00:00.000Z")
    }

    @Test("A read from memory counts as a use, and a refused key's call does not")
    func usesInMemory() throws {
        let (key, revoked) = (try service.key(.reader), try service.key(.reader))
        #expect(read(key).status == 200)
        try service.revoke(revoked)
        #expect(read(revoked).status == 401)
        service.clock.advance(byMilliseconds: Self.hour)
        let isNoted = eventually(within: 60_000) {
            let reply = read(key)
            try? service.keys.uses.write()
            let use = try? listed(key)["last_used_at"]?.string
            return reply.isImmediate && use == "2026-11-20T20:00:00.000Z"
        }
        #expect(isNoted)
        #expect(try listed(revoked)["last_used_at"]?.isNull == true)
    }

    @Test("Uses that cannot be written now are written later")
    func lateUse() throws {
        let key = try service.key(.reader)
        #expect(read(key).status == 200)
        try service.database.run("alter table deed.key_uses rename to key_uses_away")
        #expect(throws: Fault.self) { try service.keys.uses.write() }
        try service.database.run("alter table deed.key_uses_away rename to key_uses")
        try service.keys.uses.write()
        #expect(try listed(key)["last_used_at"] == "2026-11-20T19:00:00.000Z")
    }

    @Test("Keys are listed by pages, oldest first, without their secrets")
    func pages() throws {
        let keys = try (0..<4).map { try service.key(.reader, name: "n\($0)") }
        try service.revoke(keys[2])
        var names: [String] = []
        var query = "?limit=2"
        for _ in 0..<3 {
            let reply = service.send("GET", "/v1/keys\(query)", key: admin)
            for key in keys { #expect(!reply.text.contains(key.text)) }
            names += try (reply.json["keys"]?.array ?? []).compactMap { $0["name"]?.string }
            guard let next = try reply.json["next"]?.string else { break }
            query = "?limit=2&after=\(next)"
        }
        #expect(names == ["back office", "n0", "n1", "n2", "n3"])
        #expect(try listed(keys[2])["state"] == "revoked")
        for bad in ["?after=k_none", "?limit=0", "?limit=1001", "?environment=sandbox"] {
            #expect(service.send("GET", "/v1/keys\(bad)", key: admin).status == 400, "\(bad)")
        }
    }

    @Test("Each answer that shows an actor shows the name of its key")
    func names() throws {
        let unnamed = try service.key(.admin, name: "")
        give("u1")
        give("u1", by: unnamed)
        func get(_ path: String) throws -> JSON { try service.send("GET", path, key: admin).json }
        let events = try get("/v1/customers/u1/events")["events"]?.array ?? []
        #expect(events.map { $0["actor_name"]?.string } == ["back office", nil])
        #expect(events.map { $0["actor"]?.string } == ["key:\(admin.key)", "key:\(unnamed.key)"])
        let feed = try get("/v1/events")["events"]?.array ?? []
        #expect(feed.map { $0["actor_name"]?.string } == ["back office", nil])
        let explained = try get("/v1/customers/u1/explain?entitlement=pro")["events"]?.array ?? []
        #expect(explained.first?["actor_name"] == "back office")
        let grants = try get("/v1/grants")["grants"]?.array ?? []
        #expect(Set(grants.map { $0["given_by_name"]?.string }) == ["back office", nil])
        // A rotated key keeps its name. Events also keep the name of a revoked key.
        let new = try service.rotate(admin)
        try service.revoke(admin)
        give("u2", by: new)
        let later = try service.send("GET", "/v1/events?customer=u2", key: new).json
        #expect(later["events"]?.array?.first?["actor_name"] == "back office")
        let old = try service.send("GET", "/v1/customers/u1/events", key: new).json
        #expect(old["events"]?.array?.first?["actor_name"] == "back office")
    }

    private func give(_ customer: String, by key: NewKey? = nil) {
        let reply = service.send(
            "POST", "/v1/customers/\(customer)/grants", key: key ?? admin,
            body: #"{"entitlement":"pro","reason":"r","allow_unknown":true}"#)
        #expect(reply.status == 201, "\(reply.text)")
    }
}
