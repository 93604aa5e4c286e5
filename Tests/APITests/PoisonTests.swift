import Core
import JSON
import Minting
import Service
import Telemetry
import TestSupport
import Testing

/// Makes one stream of each kind unreadable. All other streams must keep working.
@Suite("A stream that cannot be read hurts itself alone")
struct PoisonTests {
    private let front: Storefront
    /// Another project, with its own customer.
    private let neighbour: NewKey

    enum Poison: String, CaseIterable {
        case customer, project, unclaimed
    }
    enum Harm: String, CaseIterable {
        case damage, newerType, newerFormat
    }
    static let cases = Poison.allCases.flatMap { poison in Harm.allCases.map { (poison, $0) } }

    init() throws {
        front = try Storefront()
        try front.service.createProject("other")
        neighbour = try front.service.key(.admin, project: "other")
        for customer in ["good", "sick"] {
            #expect(give("pro", to: customer, through: front.service) == 201)
            #expect(front.submit(sale(of: customer), for: customer).status == 200)
        }
        let waiting = sale(of: "nobody")
        #expect(front.notify(notification("n0", of: waiting)).status == 200)
        #expect(
            front.service.send(
                "POST", "/v1/customers/good/grants", key: neighbour, body: Self.grant("pro")
            ).status == 201)
    }

    private static func grant(_ entitlement: String) -> String {
        #"{"entitlement":"\#(entitlement)","for":"P1D","reason":"r","allow_unknown":true}"#
    }

    private func give(_ entitlement: String, to customer: String, through service: TestService)
        -> Int
    {
        front.send(
            "POST", "/v1/customers/\(customer)/grants", Self.grant(entitlement), key: front.admin,
            through: service
        ).status
    }

    private func sale(of customer: String) -> Sale {
        Sale("of-\(customer)", "level2", .nonConsumable, at: front.daysAgo(2))
    }

    private func notification(_ id: String, of sale: Sale) -> String {
        front.store.notification(
            "ONE_TIME_CHARGE", id: id, at: front.daysAgo(0),
            transaction: front.store.transaction(sale))
    }

    private func make(_ poison: Poison, _ harm: Harm) throws {
        let stream =
            switch poison {
            case .customer: "customer = 'sick'"
            case .project: "customer = '$project/'"
            case .unclaimed: "customer like '$unclaimed/%'"
            }
        let change =
            switch harm {
            case .damage: "payload = '{}'"
            case .newerType: "type = 'customer.teleported'"
            case .newerFormat: "format = 99"
            }
        let found = try front.service.database.number(
            "select count(*) from deed.events where project = 'default' and \(stream)")
        #expect(found > 0)
        try front.service.database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set \(change) where project = 'default' and \(stream);
            alter table deed.events enable trigger all
            """)
    }

    @Test("Calls about others are answered, and their jobs are done", arguments: cases)
    func others(poison: Poison, harm: Harm) throws {
        try make(poison, harm)
        // This instance has not read the poisoned stream.
        let service = try TestService(beside: front.service)
        try service.look()
        #expect(eventually(within: 10_000) { isOpen(neighbour, at: service) })
        try expectProject(neighbour, at: service)
        service.clock.advance(byMilliseconds: 2 * 86_400_000)
        _ = try? service.publishBoundaries()
        let ended = """
            select count(*) from deed.events where type = 'access.ended' and customer = 'good'
                and project = 'other'
            """
        // The entitlements "pro" and "more" have ended.
        #expect(try service.database.number(ended) == 2)
        try expectOwnProject(poison, at: service)
    }

    @Test("A project without its current catalog is closed until the catalog returns")
    func lostCatalog() throws {
        let other = front.service.send(
            "PUT", "/v1/catalog", key: neighbour, body: #"{"products":[]}"#)
        #expect(other.status == 200, "\(other.text)")
        try front.service.database.run(
            """
            alter table deed.catalogs disable trigger all;
            create table public.kept as select * from deed.catalogs;
            delete from deed.catalogs where digest in (
                select decode(payload::json ->> 'digest', 'hex') from deed.events
                where project = 'default' and type = 'catalog.changed')
            """)
        let service = try TestService(beside: front.service)
        try service.look()
        #expect(eventually(within: 10_000) { isOpen(neighbour, at: service) })
        try expectOwnProject(.project, at: service)
        #expect(service.send("GET", "/v1/events", key: neighbour).status == 200)
        try front.service.database.run(
            "insert into deed.catalogs select * from public.kept on conflict do nothing")
        let again = try TestService(beside: front.service)
        try expectOwnProject(.unclaimed, at: again)
        try expectProject(neighbour, at: again)
    }

    private func isOpen(_ key: NewKey, at service: TestService) -> Bool {
        service.send("GET", "/v1/customers/good/entitlements", key: key).status == 200
    }

    /// Expects the project next to the poisoned one to work.
    private func expectProject(_ key: NewKey, at service: TestService) throws {
        let reads = [
            "/v1/customers/good", "/v1/customers/good/events", "/v1/customers/good/balances",
            "/v1/customers/good/explain?entitlement=pro", "/v1/events", "/v1/catalog",
            "/v1/settings", "/v1/products", "/v1/unclaimed", "/v1/refund_requests",
            "/v1/reconciliations",
        ]
        for path in reads {
            let reply = service.send("GET", path, key: key)
            #expect(reply.status == 200, "\(path): \(reply.text)")
        }
        let given = service.send(
            "POST", "/v1/customers/good/grants", key: key, body: Self.grant("more"))
        #expect(given.status == 201, "\(given.text)")
        let catalog = service.send("PUT", "/v1/catalog", key: key, body: Storefront.catalog)
        #expect(catalog.status == 200, "\(catalog.text)")
    }

    /// Expects the poisoned project to be closed if its own stream is poisoned, and otherwise open.
    private func expectOwnProject(_ poison: Poison, at service: TestService) throws {
        let own = service.send("GET", "/v1/customers/good/entitlements", key: front.backend)
        if poison == .project {
            #expect(own.status == 401, "\(own.text)")
            return
        }
        #expect(own.status == 200, "\(own.text)")
        #expect(give("more", to: "good", through: service) == 201)
        let query = service.send(
            "POST", "/v1/entitlements/query", key: front.backend,
            body: #"{"customers":["good","sick"]}"#)
        let answers = try #require(try query.json["answers"]?.array)
        #expect(answers[0]["entitlements"]?["level2"]?["active"] == true)
        let news = Sale("new", "level2", .nonConsumable, at: front.daysAgo(1))
        #expect(front.submit(front.signed([news]), for: "good", through: service).status == 200)
        #expect(
            front.notify(notification("n9", of: sale(of: "good")), through: service).status == 200)
        // The API's document lacks the event types of newer releases, so these calls do not ask for them.
        for path in ["/v1/events?types=grant.*", "/v1/unclaimed", "/v1/refund_requests"] {
            let reply = service.send("GET", path, key: front.admin)
            #expect(reply.status == 200, "\(path): \(reply.text)")
        }
        guard poison == .customer else { return }
        #expect(answers[1]["error"]?["code"] == "unreadable")
        let refused = service.send("GET", "/v1/customers/sick/entitlements", key: front.backend)
        #expect(refused.status == 500 && refused.code == "unreadable")
    }

    @Test("A commit and the job of boundaries name what they cannot read")
    func committed() throws {
        try make(.customer, .damage)
        let (writing, publishing) = (
            try TestService(beside: front.service), try TestService(beside: front.service)
        )
        #expect(give("more", to: "sick", through: writing) == 500)
        #expect(writing.unread == ["sick"])
        publishing.clock.advance(byMilliseconds: 2 * 86_400_000)
        _ = try? publishing.publishBoundaries()
        #expect(publishing.unread == ["sick"])
        let lines = publishing.logged.all.filter { $0.contains(#""event":"stream_unread""#) }
        #expect(lines.count == 1)
    }

    @Test("The answer says whether a newer release is needed", arguments: Harm.allCases)
    func newer(harm: Harm) throws {
        try make(.customer, harm)
        let service = try TestService(beside: front.service)
        let read = service.send("GET", "/v1/customers/sick/entitlements", key: front.backend)
        let detail = try #require(try read.json["detail"]?.string)
        #expect(detail.contains("newer release") == (harm != .damage), "\(detail)")
        #expect(try read.json["retryable"] == false)
        #expect(give("more", to: "sick", through: service) == 500)
        let log = service.logged.all.filter { $0.contains(#""event":"stream_unread""#) }
        #expect(log.count == 1 && log[0].contains(#""customer":"sick""#))
        #expect(service.metrics.text().contains("deed_streams_unread 1\n"))
    }
}
