import Core
import JSON
import Minting
import Postgres
import SQL
import Service
import Synchronization
import TestSupport
import Testing
import Threading

@Suite("What the feed must not skip, and what it may lose", .timeLimit(.minutes(20)))
struct FeedLossTests {
    private let service: TestService
    private let key: NewKey

    init() throws {
        service = try TestService()
        key = try service.key(.admin)
    }

    private func give(
        _ customer: String, through service: TestService, _ key: NewKey? = nil
    ) -> Int {
        service.send(
            "POST", "/v1/customers/\(customer)/grants", key: key ?? self.key,
            body: #"{"entitlement":"pro","reason":"r","allow_unknown":true}"#
        ).status
    }

    @Test("While one commit is held open and others go through, no reader skips it")
    func heldOpen() throws {
        let other = try TestService(beside: service)
        #expect(give("held", through: service) == 201)
        let held = try Stream.test("held")
        // The call below writes its events, but cannot commit while this session locks a row.
        var settings = ConnectionSettings(url: service.database.url, role: nil)
        // The lock must last as long as the reads below.
        settings.silentLockMilliseconds = 0
        var connection = try Connection.open(settings)
        func run(_ text: String) throws {
            try connection.run([Statement(embedded: Array(text.utf8))()]) { _, _ in }
        }
        try run("begin")
        try run("select from deed.customers where customer = 'held' for update")
        let status = Mutex(0)
        startThread("held") { [service, key] in
            let reply = service.send(
                "POST", "/v1/customers/held/grants", key: key,
                body: #"{"entitlement":"late","reason":"r","allow_unknown":true}"#)
            status.withLock { $0 = reply.status }
        }
        let waits = """
            select count(*) from pg_stat_activity where datname = current_database()
                and wait_event_type = 'Lock'
            """
        #expect(try eventually(within: 4000) { try service.database.number(waits) > 0 })
        var (next, seen) = ("", [String]())
        func read(from reader: TestService) throws {
            let page = try reader.feed("access=0&limit=3" + next, key: key)
            next = "&after=\(page.next)"
            seen += page.events.map(\.id)
        }
        let customers = (0..<200).map { "u\($0)" }.filter {
            (try? Stream.test($0))?.shard != held.shard
        }
        var committed = 0
        for customer in customers.prefix(25) {
            if give(customer, through: other) == 201 { committed += 1 }
            try read(from: committed % 2 == 0 ? service : other)
        }
        #expect(committed == 25)
        try run("commit")
        #expect(eventually(within: 20_000) { status.withLock { $0 } == 201 })
        let events = try service.database.number("select count(*) from deed.feed")
        for _ in 0..<60 { try read(from: other) }
        #expect(seen.count == Int(events) && Set(seen).count == seen.count)
        #expect(events == 27)
    }

    /// Creates a database with some events and no open session.
    private func begin() throws -> (ScratchDatabase, NewKey) {
        let service = try TestService()
        let key = try service.key(.admin)
        for number in 0..<20 { #expect(give("u\(number)", through: service, key) == 201) }
        service.close()
        try service.database.run(
            "select pg_terminate_backend(pid) from pg_stat_activity "
                + "where datname = current_database() and pid <> pg_backend_pid()")
        let sessions = "select count(*) from pg_stat_activity where datname = current_database()"
        #expect(try eventually(within: 10_000) { try service.database.number(sessions) == 1 })
        return (service.database, key)
    }

    @Test("After an accepted loss an old cursor is refused, and its replacement misses nothing")
    func accepted() throws {
        let (database, key) = try begin()
        let backup = try TestService(over: ScratchDatabase(copying: database))
        let service = try TestService(over: database)
        let early = try service.feed("limit=5", key: key)
        service.clock.advance(byMilliseconds: 3_600_000)
        for number in 0..<20 { #expect(give("v\(number)", through: service, key) == 201) }
        let cursor = try service.wholeFeedCursor(key: key)
        let lost = Set(try service.wholeFeed(key: key).map(\.id))
        service.clock.advance(byMilliseconds: 3_600_000)
        backup.clock.advance(byMilliseconds: 7_200_000)
        let kept = Set(try backup.wholeFeed(key: key).map(\.id))
        #expect(kept.count == 20 && kept.isSubset(of: lost))
        let sender = Sender(actor: try Actor("test"), idempotencyKey: nil)
        _ = try backup.useCases.acceptance.accept(
            AdminReason(reason: try Reason("restored"), ticket: nil), by: sender)
        for number in 0..<30 { #expect(give("w\(number)", through: backup, key) == 201) }
        let new = Set(try backup.wholeFeed(key: key).map(\.id)).subtracting(kept)
        #expect(new.count == 30 && new.isDisjoint(with: lost))
        for old in [early.next, cursor] {
            let refused = backup.send("GET", "/v1/events?after=\(old)", key: key)
            #expect(refused.status == 409 && refused.code == "cursor_lost")
            let restart = try #require(try refused.json["restart"]?.string)
            let again = try backup.wholeFeed(after: restart, key: key).map(\.id)
            #expect(Set(again).isSuperset(of: new) && Set(again).count == again.count)
            // The feed does not repeat most events.
            #expect(old == early.next || again.count == 30)
        }
        let next = try backup.wholeFeedCursor(key: key)
        #expect(try backup.feed("after=\(next)", key: key).events.isEmpty)
    }

    @Test(
        "A cursor of a log that lacks what it passed is refused, though nobody has accepted the loss"
    )
    func unaccepted() throws {
        let (database, key) = try begin()
        let backup = try TestService(over: ScratchDatabase(copying: database))
        let service = try TestService(over: database)
        for number in 0..<20 { #expect(give("v\(number)", through: service, key) == 201) }
        let cursor = try service.wholeFeedCursor(key: key)
        backup.clock.advance(byMilliseconds: 3_600_000)
        let kept = Set(try backup.wholeFeed(key: key).map(\.id))
        // Writes more events to every shard than the shard lost.
        for number in 0..<200 { #expect(give("w\(number)", through: backup, key) == 201) }
        let new = Set(try backup.wholeFeed(key: key).map(\.id)).subtracting(kept)
        #expect(new.count == 200)
        let refused = backup.send("GET", "/v1/events?after=\(cursor)", key: key)
        #expect(refused.status == 409 && refused.code == "cursor_lost", "\(refused.text)")
        let restart = try #require(try refused.json["restart"]?.string)
        let again = try backup.wholeFeed(after: restart, key: key).map(\.id)
        #expect(Set(again).isSuperset(of: new))
    }

    @Test("Catalogs that the project's state has forgotten are read from its stream")
    func oldCatalogs() throws {
        func put(_ number: Int) {
            let unlocked = number % 2 == 0 ? #"["level2"]"# : #"["level2","extra"]"#
            let catalog = """
                {"products":[{"id":"level2","kind":"non_consumable","entitlements":\(unlocked)}],
                 "entitlements":{"level2":{"title":"\(number)"},"extra":{}}}
                """
            let reply = service.send("PUT", "/v1/catalog", key: key, body: catalog)
            #expect(reply.status == 200, "\(reply.text)")
            service.clock.advance(byMilliseconds: 1000)
        }
        put(0)
        let front = try Storefront()
        let sale = Sale("1", "level2", .nonConsumable, at: front.daysAgo(1))
        #expect(
            service.send("PUT", "/v1/apps/\(Payload.bundleID)", key: key, body: "{}").status == 200)
        let receipt = service.send(
            "POST", "/v1/customers/u1/receipts", key: key, body: front.signed([sale]).text)
        #expect(try receipt.outcomes == ["recorded"])
        for number in 1...3 {
            put(number)
            try service.projectAnew()
            try service.publishBoundaries()
        }
        let before = try service.wholeFeed(key: key).map(\.text)
        #expect(before.count == 4)
        for number in 4...80 { put(number) }
        let later = try TestService(beside: service)
        #expect(try later.wholeFeed(key: key).map(\.text) == before)
        #expect(give("u1", through: service) == 201)
        let changes = try later.wholeFeed(key: key).map(\.changes)
        #expect(changes[1...3] == [["extra started"], ["extra ended"], ["extra started"]])
        #expect(changes.last == ["pro started"])
    }

    @Test("A customer with unreadable events does not block other customers' events")
    func unreadable() throws {
        #expect(give("u1", through: service) == 201)
        #expect(give("bad", through: service) == 201)
        try service.database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set payload = '{"x":' where customer = 'bad';
            alter table deed.events enable trigger all;
            """)
        let events = try TestService(beside: service).wholeFeed(key: key)
        #expect(events.first { $0.customer == "u1" }?.changes == ["pro started"])
        let bad = try #require(events.first { $0.customer == "bad" })
        #expect(bad["access"]?.array == [] && bad["access_unknown"] == true)
        #expect(bad["data"]?["damaged"]?.string == "{\"x\":")
    }
}

extension TestService {
    fileprivate func wholeFeedCursor(key: NewKey) throws -> String {
        try feed("limit=1000", key: key).next
    }
}
