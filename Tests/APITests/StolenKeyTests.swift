import API
import Core
import JSON
import Minting
import TestSupport
import Testing

/// Tests the security page's claims about keys: each stolen key makes every call, both forbidden and permitted ones.
extension AuthorizationTests {
    /// Returns the last position of every shard of the log.
    private func ends() throws -> String {
        try front.service.database.text(
            """
            select string_agg(head || ':' || encode(chain, 'hex'), ' ' order by shard)
            from deed.shards
            """)
    }

    @Test(
        "A reader's key reads every customer of its project, and changes nothing whatever it sends")
    func stolenReaderKey() throws {
        let reader = try front.service.key(.reader)
        let (log, seen) = (try ends(), stage.everything())
        var read: [String] = []
        for row in stage.rows where row.role != nil {
            let reply = stage.send(row, reader)
            if row.role != .reader {
                #expect(reply.code == "role_insufficient", "\(row.call)")
            } else if reply.status == 200 {
                read.append(row.call)
            }
        }
        #expect(read.contains("GET /v1/customers/{customer}"))
        #expect(read.contains("POST /v1/entitlements/query"))
        #expect(read.count > 8, "\(read)")
        #expect(stage.send(stage.rows[0], reader).text.contains(Stage.mark))
        #expect(try ends() == log)
        #expect(stage.everything() == seen)
    }

    @Test(
        "A back end's key submits what the store signed for anybody, and gives nothing that was not bought"
    )
    func stolenBackendKey() throws {
        let bought = Sale(
            "51", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
        #expect(front.submit(bought, for: "anybody").status == 200)
        #expect(try front.isActive("pro", for: "anybody") == true)
        // The same statement, but with a signature that is not the store's.
        let lie = Sale("52", "level2", .nonConsumable, at: front.daysAgo(1))
        let forged = Payload.transaction.signed(by: MintedChain(.transactions))
        let cut = String(front.store.transaction(lie).dropLast(4)) + "AAAA"
        for evidence in [forged, cut] {
            let reply = front.submit(["signed_transactions": [.string(evidence)]], for: "thief")
            #expect(
                try reply.json["items"]?.array?.first?["outcome"]?.string == "refused",
                "\(reply.text)")
        }
        let grant = #"{"entitlement":"level2","reason":"r"}"#
        let attempts = [
            ("POST", "/v1/customers/thief/grants", grant),
            ("PATCH", "/v1/settings", #"{"credit_limits":{"coins":{"per_call":9,"per_day":9}}}"#),
            ("PUT", "/v1/catalog", Storefront.catalog),
            (
                "POST", "/v1/customers/anybody/purchases/apple:51/transfer",
                #"{"to":"thief","reason":"r"}"#
            ),
        ]
        for (method, path, body) in attempts {
            let reply = front.send(method, path, body)
            #expect(reply.status == 403 && reply.code == "role_insufficient", "\(path)")
        }
        #expect(try front.isActive("level2", for: "thief") != true)
        #expect(try front.isActive("pro", for: "thief") != true)
    }

    @Test(
        "A back end's key credits what the limits of a day allow each customer, and nothing without"
    )
    func creditsOfStolenKey() throws {
        func credit(_ amount: Int64, to customer: String) -> Reply {
            front.send(
                "POST", "/v1/customers/\(customer)/balances/coins/adjust",
                #"{"amount":\#(amount),"reason":"r"}"#)
        }
        #expect(credit(1, to: "v1").code == "credit_not_allowed")
        let limits = #"{"credit_limits":{"coins":{"per_call":100,"per_day":100}}}"#
        #expect(front.send("PATCH", "/v1/settings", limits, key: front.admin).status == 200)
        for customer in ["v1", "v2", "v3"] {
            #expect(credit(100, to: customer).status == 200)
            #expect(credit(1, to: customer).code == "credit_limit_reached")
            #expect(try front.coins(of: customer) == 100)
        }
    }

    @Test("An admin's key changes its project, but no event that is recorded, and makes no key")
    func stolenAdminKey() throws {
        let database = front.service.database
        try database.run("create table public.before as select * from deed.events")
        let keys = try database.number("select count(*) from deed.keys")
        for row in stage.rows where row.role != nil { _ = stage.send(row, front.admin) }
        let changed = """
            select count(*) from public.before as b where not exists (
                select from deed.events as e
                where e.shard = b.shard and e.seq = b.seq and e.chain = b.chain
                    and e.payload = b.payload and e.actor = b.actor
            )
            """
        #expect(try database.number("select count(*) from public.before") > 5)
        #expect(try database.number(changed) == 0)
        // The log contains everything that the stolen key did, and names the key as the actor.
        let own = """
            select count(*) from deed.events as e where e.actor like 'key:%' and not exists (
                select from public.before as b where b.shard = e.shard and b.seq = e.seq
            )
            """
        #expect(try database.number(own) > 2)
        #expect(try database.number("select count(*) from deed.keys") == keys)
        let aboutKeys = front.service.router.outlines.filter { $0.pattern.contains("key") }
        #expect(aboutKeys.map { "\($0.method) \($0.pattern)" } == ["GET /v1/keys"])
    }
}
