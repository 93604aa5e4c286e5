import Auditing
import Core
import JSON
import Ledger
import Minting
import Service
import TestSupport
import Testing

@Suite("Erasing customers over the API", .timeLimit(.minutes(20)))
struct ErasureTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private func month(_ transaction: String) -> Sale {
        Sale(
            transaction, "pro.month", .autoRenewable, at: front.daysAgo(1),
            until: front.daysAgo(-29))
    }

    private func erase(
        _ customer: String = "u1", _ members: String = #""purchases":"forget""#,
        intent: String? = nil, key: String? = nil
    ) -> Reply {
        let intent = intent.map { #","intent":"\#($0)""# } ?? ""
        return front.send(
            "POST", "/v1/customers/\(customer)/erase",
            #"{"reason":"asked for it",\#(members)\#(intent)}"#, key: front.admin,
            idempotencyKey: key)
    }

    private func intent(
        _ customer: String = "u1", _ members: String = #""purchases":"forget""#
    ) throws -> String {
        let look = erase(customer, members)
        return try #require(try look.json["intent"]?.string, "\(look.text)")
    }

    private func give(_ customer: String = "u1", environment: String = "production") {
        let reply = front.send(
            "POST", "/v1/customers/\(customer)/grants",
            #"{"entitlement":"level2","reason":"r","environment":"\#(environment)"}"#,
            key: front.admin)
        #expect(reply.status == 201, "\(reply.text)")
    }

    @Test("A call without an intent tells what would go, and does nothing")
    func look() throws {
        #expect(front.submit(month("1")).status == 200)
        give(environment: "sandbox")
        let before = try front.service.eventCount()
        let look = erase()
        #expect(look.status == 200, "\(look.text)")
        let json = try look.json
        #expect(json["dry_run"] == true)
        let sides = try #require(json["environments"]?.array)
        #expect(sides.map { $0["environment"]?.string } == ["production", "sandbox"])
        #expect(sides[0]["ending"]?.text == #"["pro"]"#)
        #expect(sides[0]["goes"]?["evidence"] == 1)
        #expect(sides[0]["goes"]?["purchases"] == 1)
        #expect(sides[1]["goes"]?["grants"] == 1)
        #expect(try front.service.eventCount() == before)
        #expect(try front.isActive("pro") == true)
    }

    @Test("With the intent all rights end in both environments, and the contents are gone")
    func erased() throws {
        #expect(front.submit(month("1")).status == 200)
        give(environment: "sandbox")
        let reply = erase(intent: try intent())
        #expect(reply.status == 200, "\(reply.text)")
        #expect(try reply.json["emptied"] == true)
        #expect(try reply.json["erased"]?.array?.count == 2)
        #expect(try front.isActive("pro") == false)
        #expect(
            try front.send("GET", "/v1/customers/u1/entitlements").json["entitlements"]?.text
                == "{}")
        let full = """
            select count(*) from deed.events
            where customer = 'u1' and type <> 'customer.erased' and payload <> ''
            """
        #expect(try front.service.database.number(full) == 0)
        #expect(
            try front.service.database.number(
                "select count(*) from deed.evidence where content is not null") == 0)
        #expect(try front.service.database.number("select count(*) from deed.emptying") == 0)
        let events = try #require(
            try front.send("GET", "/v1/customers/u1/events").json["events"]?.array)
        #expect(events.dropLast().allSatisfy { $0["data"]?.isNull == true && $0["erased"] == true })
        #expect(events.last?["data"]?["purchases"]?.string == "forget")
        try proveAll()
    }

    /// Expects the log, the rows and the hash chain to be intact.
    private func proveAll() throws {
        let auditor = Auditor(front.service.database.settings())
        var projections = ProjectionAudit()
        try projections.compareAll(auditor) { _ in }
        #expect(projections.findings.isEmpty, "\(projections.findings.listed)")
        for shard in Shard.all {
            let audit = try auditor.audit(shard)
            #expect(audit.findings.isEmpty, "\(audit.findings.listed)")
        }
    }

    @Test("A forgotten purchase never has a holder again, and evidence of it is not kept")
    func forgotten() throws {
        #expect(front.submit(month("1")).status == 200)
        #expect(erase(intent: try intent()).status == 200)
        let kept = "select count(*) from deed.evidence"
        let before = try front.service.database.number(kept)
        for customer in ["u1", "u2"] {
            let again = front.submit(month("1"), for: customer)
            #expect(again.status == 200)
            let item = try #require(try again.json["items"]?.array?.first)
            #expect(item["outcome"]?.string == "refused")
            #expect(item["code"]?.string == "purchase_erased")
        }
        let renewal = Sale(
            "2", of: "1", "pro.month", .autoRenewable, at: front.daysAgo(0),
            until: front.daysAgo(-30))
        let news = front.notify(
            front.store.notification(
                "DID_RENEW", id: "n1", at: front.daysAgo(0),
                transaction: front.store.transaction(renewal)))
        #expect(news.status == 200)
        #expect(try news.json["outcome"]?.string == "purchase_erased")
        #expect(try front.service.database.number(kept) == before)
        #expect(try front.service.database.number("select count(*) from deed.holders") == 0)
        try proveAll()
    }

    @Test(
        "A freed purchase is the next customer's who proves it, and the same id begins a new life")
    func freed() throws {
        #expect(front.submit(month("1")).status == 200)
        let free = #""purchases":"free""#
        let stale = erase("u1", free, intent: try intent())
        #expect(stale.code == "intent_stale", "\(stale.text)")
        #expect(erase("u1", free, intent: try intent("u1", free)).status == 200)
        #expect(try front.submit(month("1"), for: "u2").outcomes == ["recorded"])
        #expect(try front.isActive("pro", for: "u2") == true)
        #expect(try front.isActive("pro") == false)
        give()
        #expect(try front.isActive("level2") == true)
        let found = front.send("GET", "/v1/find?q=u1", key: front.admin)
        #expect(found.text.contains("u1"), "\(found.text)")
        try proveAll()
        // The customer's new data can also be erased.
        #expect(erase(intent: try intent()).status == 200)
        #expect(try front.isActive("level2") == false)
        try proveAll()
    }

    @Test("Coins, refunds and blocks count once, also when the purchases are freed")
    func counted() throws {
        let coins = Sale("7", "coins.100", .consumable, at: front.daysAgo(2))
        let sold = Sale("8", "level2", .nonConsumable, at: front.daysAgo(2))
        let blocked = Sale("9", "season", .nonRenewing, at: front.daysAgo(2))
        for sale in [coins, sold, blocked] { #expect(front.submit(sale).status == 200) }
        let refund = sold.with {
            $0.refunded = front.daysAgo(1)
            $0.signedAt = front.daysAgo(1)
        }
        #expect(front.submit(refund).status == 200)
        let block = front.send(
            "POST", "/v1/customers/u1/purchases/apple:9/block", #"{"reason":"fraud"}"#,
            key: front.admin)
        #expect(block.status == 200, "\(block.text)")
        let free = #""purchases":"free""#
        #expect(erase("u1", free, intent: try intent("u1", free)).status == 200)
        for sale in [coins, sold, blocked] {
            let again = front.submit(sale, for: "u2")
            let item = try #require(try again.json["items"]?.array?.first)
            #expect(item["code"]?.string == "purchase_erased", "\(again.text)")
        }
        try proveAll()
    }

    @Test("Evidence that names the person's purchase beside another's goes down to its digest")
    func shared() throws {
        let own = Sale("20", "level2", .nonConsumable, at: front.daysAgo(2))
        let others = Sale("21", "season", .nonRenewing, at: front.daysAgo(2))
        #expect(front.submit(own).status == 200)
        let receipt = front.store.receipt([own, others], at: front.daysAgo(1))
        let reply = front.submit(["receipt": .string(receipt)], for: "u2")
        #expect(try reply.outcomes == ["held_by_another", "recorded"], "\(reply.text)")
        #expect(erase(intent: try intent()).status == 200)
        #expect(
            try front.service.database.number(
                "select count(*) from deed.evidence where content is not null") == 0)
        #expect(try front.isActive("season", for: "u2") == true, "\(reply.text)")
        try proveAll()
    }

    @Test("A stale intent, another's and one that was made up are refused, and nothing is done")
    func stale() throws {
        give()
        give("u2")
        let first = try intent()
        let others = try intent("u2")
        for wrong in [others, "er_1_2", "x", first + "0"] {
            let reply = erase(intent: wrong)
            #expect(reply.status == 409 && reply.code == "intent_stale", "\(wrong): \(reply.text)")
        }
        give()
        #expect(erase(intent: first).code == "intent_stale")
        let late = try intent()
        front.service.clock.advance(byMilliseconds: 15 * 60_000)
        #expect(erase(intent: late).code == "intent_stale")
        #expect(try front.isActive("level2") == true)
        #expect(try front.isActive("level2", for: "u2") == true)
    }

    @Test("An unknown and a reserved customer are refused, and so is a second erasure")
    func bad() throws {
        #expect(erase("u9").status == 404)
        #expect(erase("u9").code == "customer_unknown")
        #expect(erase("$unclaimed%2Fapple:1").status == 400)
        #expect(erase("u1", #""purchases":"burn""#).status == 400)
        give()
        let intent = try intent()
        #expect(erase(intent: intent).status == 200)
        let second = erase(intent: intent)
        #expect(second.status == 409 && second.code == "already_erased", "\(second.text)")
        #expect(erase().code == "already_erased")
    }

    @Test(
        "The same call with its key gets the same answer, and a grant of before is not given again")
    func repeated() throws {
        let grant = { (key: String) in
            front.send(
                "POST", "/v1/customers/u1/grants", #"{"entitlement":"level2","reason":"r"}"#,
                key: front.admin, idempotencyKey: key)
        }
        #expect(grant("g").status == 201)
        let intent = try intent()
        let first = erase(intent: intent, key: "k")
        #expect(first.status == 200)
        #expect(erase(intent: intent, key: "k").text == first.text)
        let late = grant("g")
        #expect(late.status == 422 && late.code == "done_before_erasure", "\(late.text)")
        #expect(try front.isActive("level2") == false)
        #expect(grant("h").status == 201)
        // Repeating the call from after the erasure returns the same grant.
        #expect(grant("h").status == 201)
        #expect(try front.isActive("level2") == true)
        #expect(erase(intent: intent, key: "k").text == first.text)
    }

    @Test("A purchase that waited for a customer is gone from where it waited, too")
    func waited() throws {
        let sale = Sale("5", "level2", .nonConsumable, at: front.daysAgo(1))
        let news = front.notify(
            front.store.notification(
                "ONE_TIME_CHARGE", id: "n5", at: front.daysAgo(0),
                transaction: front.store.transaction(sale)))
        #expect(news.status == 200)
        #expect(try front.submit(sale).outcomes == ["recorded"])
        #expect(erase(intent: try intent()).status == 200)
        let full = """
            select count(*) from deed.events where customer in ('u1', '$unclaimed/apple:5')
                and type <> 'customer.erased' and payload <> ''
            """
        #expect(try front.service.database.number(full) == 0)
        try proveAll()
    }

    @Test("The evidence of a notification that told nothing new is emptied with its purchase")
    func silentNews() throws {
        let sale = month("1")
        #expect(front.submit(sale).status == 200)
        let signed = front.store.transaction(sale)
        let news = front.notify(
            front.store.notification(
                "SUBSCRIBED", id: "n2", at: front.daysAgo(1), transaction: signed))
        #expect(news.status == 200, "\(news.text)")
        let kept = "select count(*) from deed.evidence where content is not null"
        #expect(try front.service.database.number(kept) == 2)
        #expect(try erase().json["environments"]?.array?.first?["goes"]?["evidence"] == 2)
        #expect(erase(intent: try intent()).status == 200)
        #expect(try front.service.database.number(kept) == 0)
        #expect(try front.service.database.number("select count(*) from deed.evidence_names") == 0)
    }

    @Test("The feed gives emptied events without data and access, and the erasure names what ended")
    func feed() throws {
        #expect(front.submit(month("1")).status == 200)
        #expect(erase(intent: try intent()).status == 200)
        let items = try #require(
            try front.send("GET", "/v1/events?limit=100").json["events"]?.array)
        let own = items.filter { $0["customer"]?.string == "u1" }
        #expect(own.count >= 2)
        for item in own.dropLast() {
            #expect(item["data"]?.isNull == true && item["erased"] == true)
            #expect(item["access"]?.array?.count == 0)
        }
        let access = own.last?["access"]?.array
        #expect(access?.first?["entitlement"]?.string == "pro")
        #expect(access?.first?["change"]?.string == "ended")
        #expect(access?.first?["before"]?.isNull == true)
    }

    @Test("What was known before the erasure is answered as now")
    func known() throws {
        give()
        front.service.clock.advance(byMilliseconds: 60_000)
        let before = front.service.clock.now.text
        front.service.clock.advance(byMilliseconds: 60_000)
        #expect(erase(intent: try intent()).status == 200)
        let answer = front.send("GET", "/v1/customers/u1/entitlements?known=\(before)")
        #expect(try answer.json["entitlements"]?.text == "{}", "\(answer.text)")
    }

    @Test(
        "A key of one environment erases in that one, and in no other",
        arguments: Core.Environment.allCases)
    func boundKeys(_ environment: Core.Environment) throws {
        for each in ["production", "sandbox"] { give(environment: each) }
        let key = try front.service.key(.admin, only: environment)
        try front.service.keys.reload()
        for (named, status) in [
            ("", 403),
            (#","environment":"\#(environment == .production ? "sandbox" : "production")""#, 403),
            (#","environment":"\#(environment.rawValue)""#, 200),
        ] {
            let reply = front.send(
                "POST", "/v1/customers/u1/erase",
                #"{"purchases":"forget","reason":"asked"\#(named)}"#, key: key)
            #expect(reply.status == status, "\(named): \(reply.text)")
        }
    }

    @Test("An export has what was kept of a purchase before its customer came")
    func exportedWait() throws {
        let early = Sale("76", "season", .nonRenewing, at: front.daysAgo(3))
        let news = front.notify(
            front.store.notification(
                "ONE_TIME_CHARGE", id: "n-76", at: front.daysAgo(3),
                transaction: front.store.transaction(early)))
        #expect(news.status == 200, "\(news.text)")
        #expect(front.submit(early).status == 200)
        let export = front.send("GET", "/v1/customers/u1/export", key: front.admin)
        let side = try #require(try export.json["environments"]?.array?.first)
        let waited = try #require(side["waited"]?.array)
        #expect(waited.contains { $0["stream"]?.string == "$unclaimed/apple:76" })
        #expect(waited.contains { $0["data"] != .null }, "\(waited)")
        #expect(side["evidence"]?.array?.count == 2, "The notification and the submission.")
    }

    @Test("An export has the events, the evidence in base64, tokens, orders and answers")
    func export() throws {
        let sale = month("1")
        #expect(front.submit(sale).status == 200)
        #expect(front.send("POST", "/v1/customers/u1/orders", "{}").status == 201)
        let reply = front.send("GET", "/v1/customers/u1/export", key: front.admin)
        #expect(reply.status == 200, "\(reply.text)")
        let production = try #require(try reply.json["environments"]?.array?.first)
        #expect(production["environment"]?.string == "production")
        #expect(production["events"]?.array?.count == 2)
        #expect(production["answer"]?["orders"]?.array?.count == 1)
        #expect(production["tokens"]?.array != nil && production["queued"]?.array?.count == 0)
        let content = try #require(production["evidence"]?.array?.first?["content"]?.string)
        #expect(content.count > 100)
        #expect(
            front.send("GET", "/v1/customers/u9/export", key: front.admin).code
                == "customer_unknown")
        #expect(front.send("GET", "/v1/customers/u1/export").status == 403)
    }
}
