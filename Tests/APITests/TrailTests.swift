import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

@Suite("The trail of what people did", .timeLimit(.minutes(20)))
struct TrailTests {
    private let front: Storefront
    private let support: NewKey

    init() throws {
        front = try Storefront(settings: #"{"support_limits":{"pro":"P30D"}}"#)
        support = try front.service.key(.support, name: "Ann's desk")
    }

    private func give(
        _ customer: String, ticket: String = "T-1", entitlement: String = "pro",
        key: NewKey? = nil, environment: String = "production"
    ) -> Reply {
        front.send(
            "POST", "/v1/customers/\(customer)/grants",
            #"{"entitlement":"\#(entitlement)","for":"P1D","reason":"why","ticket":"\#(ticket)","#
                + #""environment":"\#(environment)"}"#,
            key: key ?? support)
    }

    private func trail(_ query: String = "", through service: TestService? = nil) throws -> [JSON] {
        try front.service.keys.refusals.write()
        let reply = front.send("GET", "/v1/trail?\(query)", key: front.admin, through: service)
        return try #require(try reply.json["entries"]?.array, "\(reply.text)")
    }

    /// Moves the clock, so that acts are a second apart.
    private func tick() { front.service.clock.advance(byMilliseconds: 1000) }

    @Test("Each act is shown with who, why, for which case, and where the log has it")
    func act() throws {
        let reply = give("u1")
        let position = try #require(try reply.json["position"]?.string)
        let entry = try #require(try trail("customer=u1").first)
        #expect(
            entry.text
                == #"{"at":"2026-11-20T19:21:00.000Z","actor":"key:\#(support.key)","#
                + #""actor_name":"Ann's desk","action":"grant.given","customer":"u1","#
                + #""environment":"production","reason":"why","ticket":"T-1","refused":false,"#
                + #""code":null,"version":1,"position":"\#(position)"}"#)
    }

    @Test("What admins, support and people at the command line did is in it, newest first")
    func newestFirst() throws {
        tick()
        #expect(give("u1").status == 201)
        tick()
        let sale = Sale("1", "level2", .nonConsumable, at: front.daysAgo(1))
        #expect(front.submit(sale).status == 200)
        tick()
        let body = #"{"to":"u2","reason":"moved","ticket":"T-2"}"#
        let path = "/v1/customers/u1/purchases/apple:1/transfer"
        #expect(front.send("POST", path, body, key: front.admin).status == 200)
        tick()
        try front.service.revoke(support)
        let entries = try trail()
        let actions = entries.compactMap { $0["action"]?.string }
        // The trail omits this sale, because a back end submitted it.
        #expect(!actions.contains("purchase.made"))
        #expect(Set(actions.prefix(2)) == ["purchase.attached", "purchase.detached"])
        #expect(actions[2] == "grant.given")
        #expect(actions.contains("catalog.changed") && actions.contains("app.set"))
        #expect(entries[0]["reason"] == "moved" && entries[0]["ticket"] == "T-2")
        // The trail shows people at the command line as `cli:…`. It omits acts by the test's own sender.
        #expect(!actions.contains("key.revoked"))
        let sender = Sender(actor: try Actor("cli:ann"), idempotencyKey: nil)
        _ = try front.service.ledger.perform(
            front.service.useCases.projects.creatingKey(
                .reader, name: "new", of: try ProjectID("default"), by: sender))
        let made = try #require(try trail("actor=cli:ann").first)
        #expect(made["action"] == "key.created" && made["customer"]?.isNull == true)
    }

    @Test("What a back end's key does is not in it, though an admin's same act is")
    func backends() throws {
        let limits = #"{"credit_limits":{"coins":{"per_call":9,"per_day":99}}}"#
        #expect(front.send("PATCH", "/v1/settings", limits, key: front.admin).status == 200)
        let body = #"{"amount":1,"reason":"r"}"#
        for key in [front.backend, front.admin] {
            let path = "/v1/customers/u1/balances/coins/adjust"
            #expect(front.send("POST", path, body, key: key).status == 200)
        }
        let actors = try trail("action=balance.adjusted").map { $0["actor"]?.string }
        #expect(actors == ["key:\(front.admin.key)"])
    }

    @Test("Each filter leaves out what does not fit, alone and together")
    func filters() throws {
        for (number, customer) in ["u1", "u2", "u1"].enumerated() {
            tick()
            #expect(give(customer, ticket: "T-\(number)").status == 201)
        }
        tick()
        #expect(give("u1", ticket: "T-9", key: front.admin, environment: "sandbox").status == 201)
        func tickets(_ query: String) throws -> [String] {
            try trail("action=grant.given&\(query)").compactMap { $0["ticket"]?.string }
        }
        #expect(try tickets("") == ["T-9", "T-2", "T-1", "T-0"])
        #expect(try tickets("customer=u1") == ["T-9", "T-2", "T-0"])
        #expect(try tickets("customer=u1&environment=production") == ["T-2", "T-0"])
        #expect(try tickets("environment=sandbox") == ["T-9"])
        #expect(try tickets("actor=key:\(support.key)") == ["T-2", "T-1", "T-0"])
        #expect(try tickets("ticket=T-1") == ["T-1"])
        #expect(
            try tickets("from=2026-11-20T19:21:02Z&to=2026-11-20T19:21:04Z") == ["T-2", "T-1"])
        #expect(try tickets("ticket=T-1&customer=u1").isEmpty)
        #expect(try trail("action=grant.given&ticket=T").isEmpty)
        #expect(try trail("action=no.such").isEmpty)
    }

    @Test(
        "Refused calls of support and admin keys are shown with their code, and a back end's are not"
    )
    func refused() throws {
        tick()
        #expect(give("u1", ticket: "T-5", entitlement: "level2").code == "support_limit")
        tick()
        #expect(front.send("GET", "/v1/settings", key: support).status == 403)
        tick()
        #expect(front.send("GET", "/v1/settings", key: front.backend).status == 403)
        let path = "/v1/customers/u9/grants/g_1"
        let body = #"{"reason":"gone","ticket":"T-6"}"#
        #expect(front.send("DELETE", path, body, key: front.admin).status == 404)
        tick()
        #expect(front.send("GET", "/v1/catalog", key: front.admin).status == 200)
        let all = try trail().filter { $0["refused"] == true }
        #expect(
            all.compactMap { $0["action"]?.string } == [
                "DELETE /v1/customers/{customer}/grants/{grant}", "GET /v1/settings",
                "POST /v1/customers/{customer}/grants",
            ])
        #expect(
            all.compactMap { $0["code"]?.string } == [
                "grant_unknown", "role_insufficient", "support_limit",
            ])
        #expect(all.compactMap { $0["ticket"]?.string } == ["T-6", "T-5"])
        #expect(all[2]["reason"] == "why" && all[2]["customer"] == "u1")
        #expect(all[2]["actor_name"] == "Ann's desk" && all[2]["position"]?.isNull == true)
        #expect(try trail("ticket=T-5").count == 1)
        #expect(try trail("customer=u9").count == 1)
        #expect(try trail("actor=key:\(support.key)&action=GET%20/v1/settings").count == 1)
        #expect(try trail("actor=cli:ann").isEmpty)
    }

    @Test(
        "Pages have every entry once, in order, whatever their size", arguments: [1, 2, 3, 7, 100])
    func pages(_ size: Int) throws {
        for number in 0..<9 {
            // Some acts and refusals share an instant in different shards.
            if number % 3 == 0 { tick() }
            #expect(give("u\(number)").status == 201)
            #expect(give("u\(number)", entitlement: "level2").status == 403)
        }
        try front.service.keys.refusals.write()
        let whole = try trail("limit=1000")
        var all: [JSON] = []
        var after = ""
        repeat {
            let reply = front.send("GET", "/v1/trail?limit=\(size)\(after)", key: front.admin)
            let page = try #require(try reply.json["entries"]?.array, "\(reply.text)")
            #expect(page.count <= size)
            all += page
            guard let next = try reply.json["next"]?.string else { break }
            after = "&after=\(next)"
        } while all.count < 100
        #expect(all == whole)
        #expect(all.filter { $0["refused"] == true }.count == 9)
        #expect(all.filter { $0["action"] == "grant.given" }.count == 9)
        let instants = all.compactMap { $0["at"]?.string }
        #expect(instants == instants.sorted(by: >))
    }

    @Test("Refusals are forgotten after 90 days, and the oldest of too many go first")
    func forgotten() throws {
        #expect(give("u1", entitlement: "level2").status == 403)
        #expect(try trail("customer=u1").count == 1)
        front.service.clock.advance(byMilliseconds: RefusedCall.keptFor - 1)
        #expect(try trail("customer=u1").count == 1)
        front.service.clock.advance(byMilliseconds: 1001)
        #expect(try trail("customer=u1").isEmpty)
        #expect(give("u2", entitlement: "level2").status == 403)
        #expect(try trail("customer=u2").count == 1)
        let rows = "select count(*) from deed.refused_calls"
        #expect(try front.service.database.number(rows) == 1)
        try front.service.database.run(
            """
            insert into deed.refused_calls (project, at, id, key_id, call, status, code)
            select 'default', n, 'x' || n, 'k_1', 'GET /v1/settings', 403, 'role_insufficient'
            from generate_series(1795202460000 + 7776000000, 1795202460000 + 7776000000 + 99999) as n
            """)
        tick()
        #expect(give("u3", entitlement: "level2").status == 403)
        #expect(try trail("customer=u3").count == 1)
        #expect(try front.service.database.number(rows) == RefusedCall.countLimit)
        #expect(try trail("customer=u2").isEmpty == false)
    }

    @Test("Another instance shows them, and another project does not")
    func elsewhere() throws {
        #expect(give("u1").status == 201)
        #expect(give("u1", entitlement: "level2").status == 403)
        let other = try TestService(beside: front.service)
        #expect(try trail("customer=u1", through: other).count == 2)
        try front.service.createProject("other")
        let key = try front.service.key(.admin, project: "other")
        let reply = front.send("GET", "/v1/trail", key: key)
        #expect(!reply.text.contains("u1") && !reply.text.contains("T-1"), "\(reply.text)")
    }

    @Test(
        "A bad question is refused by name",
        arguments: [
            ("after=x", "after"), ("after=1:64:1", "after"), ("after=1:r:", "after"),
            ("limit=0", "limit"), ("limit=1001", "limit"), ("environment=moon", "environment"),
            ("from=now", "from"), ("from=2026-11-21T00:00:00Z&to=2026-11-21T00:00:00Z", "to"),
            ("customer=$project/", "customer"), ("actor=", "actor"), ("ticket=%01", "ticket"),
        ])
    func bad(_ query: String, _ member: String) throws {
        let reply = front.send("GET", "/v1/trail?\(query)", key: front.admin)
        #expect(reply.status == 400, "\(reply.text)")
        #expect(try reply.json["member"]?.string == member)
    }

    @Test("A million acts among others are found by an index of their own")
    func plan() throws {
        let text = try front.service.database.text(
            "select indexdef from pg_indexes where indexname = 'events_of_people'")
        #expect(text.contains("(project, recorded_at, shard, seq) WHERE"))
    }
}
