import Core
import JSON
import Minting
import Service
import Telemetry
import TestSupport
import Testing

/// Damages rows that lead to customers, and rows outside the log. Lists must still return their other rows.
@Suite("A damaged row leaves the others of its list")
struct DamagedRowTests {
    private let front: Storefront
    private var service: TestService { front.service }

    init() throws {
        front = try Storefront()
        for customer in ["u1", "u2", "u3"] {
            let given = front.send(
                "POST", "/v1/customers/\(customer)/grants",
                #"{"entitlement":"pro","for":"P1D","reason":"r","ticket":"t1"}"#, key: front.admin)
            #expect(given.status == 201)
        }
    }

    /// Adds rows that look like a customer's rows and sort first in every order.
    private func damage(_ change: String) throws {
        try service.database.run(
            """
            insert into deed.customers
            select (jsonb_populate_record(c, jsonb_build_object(
                'shard', n, 'customer', '', 'next_boundary_at', 1, 'catalog_version', 0,
                'answer_by', 9000000000000000) || '\(change)')).*
            from deed.customers as c, generate_series(0, 63) as n where c.customer = 'u1'
            """)
    }

    private func tell(_ row: String) {
        #expect(service.unread.contains { $0.hasPrefix(row) }, "\(service.unread)")
        let lines = service.logged.all.filter { $0.contains(#""event":"stream_unread""#) }
        #expect(lines.contains { $0.contains("\"row\":\"\(row)") }, "\(lines)")
        #expect(!service.metrics.text().contains("deed_streams_unread 0\n"))
    }

    @Test(
        "Boundaries are published and customers projected anew beside rows that name no customer",
        arguments: [#"{"environment":"mars"}"#, "{}"])
    func due(change: String) throws {
        try damage(change)
        service.clock.advance(byMilliseconds: 2 * 86_400_000)
        #expect(try service.publishBoundaries() == 3)
        let catalog = Storefront.catalog.replacing(
            "\"legacy\":{}", with: "\"legacy\":{},\"new\":{}")
        #expect(front.send("PUT", "/v1/catalog", catalog, key: front.admin).status == 200)
        try service.projectAnew()
        let behind = """
            select count(*) from deed.customers as c join deed.projects as p using (project)
            where c.customer <> '' and c.catalog_version < p.catalog_version
            """
        #expect(try service.database.number(behind) == 0)
        tell("customers")
    }

    @Test("Reports on refunds are made beside a row of no environment")
    func asked() throws {
        try damage(#"{"environment":"mars"}"#)
        #expect(try service.ports.accounts.askedRefunds(after: service.clock.now).isEmpty)
        try service.refundReports().report(while: { true }, tell: { _ in })
        tell("customers")
    }

    @Test("Evidence that waits is judged and listed beside an item that cannot be read")
    func waiting() throws {
        for number in 1...5 {
            let item = try IntakeItem.test(number, at: service.clock.now)
            _ = try service.intake.queue.addIntake(item, [1])
        }
        try service.database.run(
            """
            update deed.intake set actor = '' where id in ('i_1', 'i_3');
            update deed.intake set next_try_at = 0, added_at = 0 where id = 'i_1'
            """)
        let queue = service.intake.queue
        let project = try ProjectID("default")
        let first = try queue.intake(of: project, in: nil, after: nil, limit: 2)
        #expect(first.map(\.id.text) == ["i_2", "i_4"])
        let rest = try queue.intake(of: project, in: nil, after: first.last, limit: 2)
        #expect(rest.map(\.id.text) == ["i_5"])
        var taken: [String] = []
        while let one = try queue.takeIntake(now: service.clock.now, without: BusyStores()) {
            taken.append(one.item.id.text)
        }
        #expect(Set(taken) == ["i_2", "i_4", "i_5"])
        tell("intake i_1")
    }

    @Test("Unclaimed purchases are listed to the end beside one of an unknown store")
    func unclaimed() throws {
        for number in 1...4 {
            let sale = Sale("\(number)", "level2", .nonConsumable, at: front.daysAgo(2))
            let told = front.notify(
                front.store.notification(
                    "ONE_TIME_CHARGE", id: "n\(number)", at: front.daysAgo(0),
                    transaction: front.store.transaction(sale)))
            #expect(told.status == 200)
        }
        try service.database.run(
            """
            update deed.unclaimed set store = 'app' where original = '1';
            update deed.unclaimed set app = '' where original = '3'
            """)
        var (found, next) = ([String](), "")
        repeat {
            let page = try front.send("GET", "/v1/unclaimed?limit=1\(next)", key: front.admin).json
            found += (page["purchases"]?.array ?? []).compactMap { $0["purchase"]?.string }
            next = page["next"]?.string.map { "&after=\($0)" } ?? ""
        } while !next.isEmpty && found.count < 9
        #expect(found == ["apple:2", "apple:4"])
        tell("unclaimed")
    }

    @Test("What else has the name is found beside rows that lead nowhere")
    func found() throws {
        // Other customers' ids begin with the same letter.
        try service.database.run(
            """
            insert into deed.customers
            select (jsonb_populate_record(c, '{"customer":"u1","environment":"mars"}')).*
            from deed.customers as c where c.customer = 'u1';
            update deed.customer_grants set customer = '' where customer = 'u2'
            """)
        for words in ["u1", "t1"] {
            let reply = front.send("GET", "/v1/find?q=\(words)", key: front.admin)
            #expect(reply.status == 200, "\(reply.text)")
            #expect(reply.text.contains(#""customer":"u1""#), "\(reply.text)")
        }
        tell("customer_grants")
    }

    @Test("The trail and the list of grants go on behind what cannot be read")
    func trail() throws {
        try service.database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set actor = 'key:' || chr(1) where customer = 'u2';
            alter table deed.events enable trigger all;
            update deed.customer_grants set customer = '' where customer = 'u2'
            """)
        func walk(_ path: String, _ list: String) throws -> [String] {
            var (found, next, pages) = ([String](), "", 0)
            repeat {
                let reply = front.send("GET", "\(path)limit=1\(next)", key: front.admin)
                #expect(reply.status == 200, "\(reply.text)")
                let page = try reply.json
                found += (page[list]?.array ?? []).compactMap { $0["customer"]?.string }
                next = page["next"]?.string.map { "&after=\($0)" } ?? ""
                pages += 1
            } while !next.isEmpty && pages < 30
            return found
        }
        let acts = try walk("/v1/trail?action=grant.given&", "entries")
        #expect(Set(acts) == ["u1", "u3"])
        #expect(Set(try walk("/v1/grants?", "grants")) == ["u1", "u3"])
        tell("customer_grants")
    }

    @Test("Every other customer of a project is listed beside rows that name none")
    func customers() throws {
        try damage(#"{"environment":"mars"}"#)
        var (found, last) = ([String](), Stream?.none)
        while true {
            let page = try service.ports.directory.customers(
                of: ProjectID("default"), after: last, limit: 1)
            found += page.map(\.stream.customer.text)
            guard let end = page.last?.stream, found.count < 9 else { break }
            last = end
        }
        #expect(Set(found) == ["u1", "u2", "u3"])
    }

    /// A key that was revoked in a damaged stream must not stay valid forever.
    @Test("A project whose own stream is damaged is closed within a look, and no other")
    func closed() throws {
        try service.createProject("other")
        let others = try service.key(.reader, project: "other")
        let revoked = try service.key(.reader)
        try service.keys.reload()
        func status(_ key: NewKey) -> Int {
            service.send("GET", "/v1/customers/u1/entitlements", key: key).status
        }
        #expect(status(revoked) == 200 && status(others) == 200)
        try service.revoke(revoked)
        try service.database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set actor = '' where customer = '$project/' and project = 'default'
                and type = 'key.revoked';
            alter table deed.events enable trigger all
            """)
        // This instance has not seen the revocation.
        let beside = try TestService(beside: service)
        try beside.keys.reload()
        try beside.apps.reload()
        for key in [revoked, front.backend, front.admin] {
            let reply = beside.send("GET", "/v1/customers/u1/entitlements", key: key)
            #expect(reply.status == 401, "\(reply.text)")
        }
        #expect(
            beside.send("GET", "/v1/customers/u1/entitlements", key: others).status == 200)
        #expect(beside.unread == ["$project/"])
    }
}
