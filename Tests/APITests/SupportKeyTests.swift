import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

@Suite("Keys of support staff", .timeLimit(.minutes(20)))
struct SupportKeyTests {
    private static let day: Int64 = 86_400_000
    private let front: Storefront
    private let support: NewKey

    init() throws {
        front = try Storefront(
            settings: #"{"support_limits":{"pro":"P30D","*":"P7D","level2":"P1D"}}"#)
        support = try front.service.key(.support, name: "Ann's desk")
    }

    private func give(
        _ entitlement: String, _ rest: String, to customer: String = "u1", key: NewKey? = nil,
        query: String = ""
    ) -> Reply {
        front.send(
            "POST", "/v1/customers/\(customer)/grants\(query)",
            #"{"entitlement":"\#(entitlement)",\#(rest),"reason":"r","ticket":"T-1"}"#,
            key: key ?? support)
    }

    private func grant(of reply: Reply) throws -> String {
        try #require(try reply.json["grant"]?["id"]?.string, "\(reply.text)")
    }

    @Test("A key of the role says so, and is listed")
    func role() throws {
        #expect(support.text.hasPrefix("deed_support_"))
        let keys = try front.send("GET", "/v1/keys", key: front.admin).json["keys"]?.array
        #expect(keys?.last?["role"] == "support")
    }

    @Test(
        "It grants as far as the project lets it, and a refusal says how far that is",
        arguments: [
            ("pro", #""for":"P30D""#, nil), ("pro", #""end":"2026-12-20T19:21:00Z""#, nil),
            ("pro", #""for":"P30DT1S""#, "2026-12-20T19:21:00.000Z"),
            ("pro", #""end":"2026-12-20T19:21:00.001Z""#, "2026-12-20T19:21:00.000Z"),
            ("season", #""for":"P7D""#, nil),
            ("season", #""for":"P8D""#, "2026-11-27T19:21:00.000Z"),
            ("level2", #""for":"P2D""#, "2026-11-21T19:21:00.000Z"),
            // A later start does not move the limit, and a grant without an end exceeds it.
            ("pro", #""start":"2027-01-01T00:00:00Z","for":"P1D""#, "2026-12-20T19:21:00.000Z"),
            ("pro", #""start":"2020-01-01T00:00:00Z","end":"2026-11-21T00:00:00Z""#, nil),
            ("pro", #""allow_unknown":true"#, "2026-12-20T19:21:00.000Z"),
            ("pro", #""start":"after_current","for":"P30D""#, nil),
            ("pro", #""start":"after_current","for":"P31D""#, "2026-12-20T19:21:00.000Z"),
        ] as [(String, String, String?)])
    func limits(_ entitlement: String, _ rest: String, _ until: String?) throws {
        for query in ["?dry_run=1", ""] {
            let reply = give(entitlement, rest, query: query)
            if let until {
                #expect(reply.status == 403 && reply.code == "support_limit", "\(reply.text)")
                #expect(try reply.json["until"]?.string == until)
            } else {
                #expect(reply.status == (query.isEmpty ? 201 : 200), "\(reply.text)")
            }
        }
        #expect(try front.events().count == (until == nil ? 1 : 0))
        // An admin has no limit.
        #expect(give(entitlement, rest, to: "u2", key: front.admin).status == 201)
    }

    @Test(
        "Without a limit, or beyond it, it grants, changes and revokes nothing",
        arguments: [nil, "PT1H"] as [String?])
    func limited(_ limit: String?) throws {
        let stage = try Stage(in: .production)
        let front = stage.front
        let desk = try front.service.key(.support)
        let bound: JSON = limit.map(JSON.string) ?? .null
        let until: JSON = limit == nil ? .null : "2026-11-20T20:21:00.000Z"
        let limits: JSON = ["support_limits": ["*": bound]]
        #expect(front.send("PATCH", "/v1/settings", limits.text, key: front.admin).status == 200)
        let before = try front.service.eventCount()
        for row in Stage.writes where row.isLimited {
            let reply = stage.perform(row, ticket: "T-1", key: desk)
            let told = "\(row.call): \(reply.text)"
            #expect(reply.status == 403 && reply.code == "support_limit", "\(told)")
            #expect(try reply.json["until"] == until, "\(told)")
            #expect(try reply.json["limit"] == bound, "\(told)")
        }
        #expect(try front.service.eventCount() == before)
    }

    @Test("It leaves grants alone that go further than it may")
    func othersGrants() throws {
        let far = try grant(of: give("pro", #""for":"P31D""#, key: front.admin))
        let near = try grant(of: give("pro", #""for":"P29D""#, key: front.admin))
        func change(_ grant: String, _ end: String) -> Reply {
            front.send(
                "PATCH", "/v1/customers/u1/grants/\(grant)",
                #"{\#(end),"reason":"r","ticket":"T-1"}"#, key: support)
        }
        func revoke(_ grant: String) -> Reply {
            front.send(
                "DELETE", "/v1/customers/u1/grants/\(grant)", #"{"reason":"r","ticket":"T-1"}"#,
                key: support)
        }
        #expect(change(far, #""for":"P1D""#).code == "support_limit")
        #expect(revoke(far).code == "support_limit")
        #expect(change(near, #""for":"P31D""#).code == "support_limit")
        #expect(change(near, #""for_ever":true"#).code == "support_limit")
        #expect(change(near, #""for":"P30D""#).status == 200)
        #expect(revoke(near).status == 200)
        // Support may change the grant once its remaining time is within the limit.
        front.service.clock.advance(byMilliseconds: Self.day)
        #expect(change(far, #""for":"P20D""#).status == 200)
        #expect(revoke(far).status == 200)
    }

    @Test("Grants that wait for each other count together")
    func stacked() throws {
        let wait = #""start":"after_current","for":"P15D""#
        #expect(give("pro", wait).status == 201)
        let second = try grant(of: give("pro", wait))
        #expect(give("pro", wait).code == "support_limit")
        #expect(give("pro", #""start":"after_current","for":"PT1S""#).code == "support_limit")
        let path = "/v1/customers/u1/grants/\(second)"
        let longer = #"{"for":"P16D","reason":"r","ticket":"T-1"}"#
        #expect(front.send("PATCH", path, longer, key: support).code == "support_limit")
        let taken = front.send("DELETE", path, #"{"reason":"r","ticket":"T-1"}"#, key: support)
        #expect(taken.status == 200)
        #expect(give("pro", wait).status == 201)
    }

    @Test("Two at the same time do not pass the limit together")
    func race() throws {
        let body =
            #"{"entitlement":"pro","start":"after_current","for":"P20D","reason":"r","ticket":"T"}"#
        inParallel(8) { [front, support] _ in
            _ = front.send("POST", "/v1/customers/u1/grants", body, key: support)
        }
        #expect(try front.events() == ["grant.given"])
    }

    @Test("Each act needs a ticket, named by its own code, and nothing is half done")
    func tickets() throws {
        let stage = try Stage(in: .production)
        let service = stage.front.service
        let desk = try service.key(.support, name: "Ann's desk")
        let writes = Stage.writes.filter(\.isForSupport)
        let count = try service.eventCount()
        for row in writes {
            let reply = stage.perform(row, ticket: nil, key: desk)
            #expect(reply.status == 400 && reply.code == "ticket_missing", "\(row.call)")
            #expect(try reply.json["member"] == "ticket")
        }
        #expect(try service.eventCount() == count)
        for row in writes {
            let reply = stage.perform(row, ticket: "T-1", key: desk)
            #expect((200..<300).contains(reply.status), "\(row.call): \(reply.text)")
        }
        let events = service.send("GET", "/v1/customers/u3/events", key: stage.front.admin)
        #expect(try events.json["events"]?.array?.last?["actor_name"] == "Ann's desk")
    }

    @Test("It learns no price, whatever kind of evidence had one and whatever it asks")
    func prices() throws {
        var store = front.store
        store.price = 48_151_623
        var sandbox = front.sandbox
        sandbox.price = 48_151_623
        let month = Sale(
            "1", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
        let level = Sale("2", "level2", .nonConsumable, at: front.daysAgo(1))
        let waiting = Sale(
            "9", "pro.month", .autoRenewable, at: front.daysAgo(1), until: front.daysAgo(-29))
        // Submitted by the back end: transactions, renewal info, a receipt, an installation.
        let evidence: JSON = [
            "signed_transactions": [
                .string(store.transaction(month)), .string(sandbox.transaction(level)),
                .string(store.transaction(level)),
            ],
            "receipt": .string(
                store.receipt(
                    [Sale("3", "season", .nonRenewing, at: front.daysAgo(1))], at: front.daysAgo(0))
            ),
        ]
        #expect(front.submit(evidence).status == 200)
        // Reported by the store: a sale, its refund, and a purchase that no customer claimed.
        func tell(_ type: String, _ id: String, _ sale: Sale) {
            let reply = front.notify(
                store.notification(
                    type, id: id, at: front.daysAgo(0), transaction: store.transaction(sale)))
            #expect(reply.status == 200, "\(reply.text)")
        }
        tell("SUBSCRIBED", "n9", waiting)
        let refunded = level.with {
            $0.refunded = front.daysAgo(0)
            $0.signedAt = front.daysAgo(0)
        }
        tell("REFUND", "n2", refunded)
        let reason = #""reason":"r","ticket":"T-1""#
        let moves = [
            ("/v1/unclaimed/apple:9/attach", #"{"customer":"u1",\#(reason)}"#),
            ("/v1/customers/u1/purchases/apple:9/transfer", #"{"to":"u2",\#(reason)}"#),
        ]
        for (path, body) in moves {
            #expect(front.send("POST", path, body, key: front.admin).status == 200, "\(path)")
        }
        // An admin sees the price in each customer's events.
        for path in ["/v1/events", "/v1/customers/u1/events", "/v1/customers/u2/events"] {
            #expect(front.send("GET", path, key: front.admin).text.contains("48151623"), "\(path)")
        }
        var answers: [(String, String)] = []
        func ask(_ method: String, _ path: String, _ body: String = "") {
            let reply = front.send(method, path, body, key: support)
            answers.append(("\(method) \(path): \(reply.status)", reply.text))
        }
        for environment in ["production", "sandbox"] {
            for customer in ["u1", "u2", "u3"] {
                let path = "/v1/customers/\(customer)"
                for end in [
                    "", "/entitlements", "/entitlements/pro", "/events", "/balances",
                    "/balances/coins/history", "/explain",
                ] {
                    let question = end == "/explain" ? "&entitlement=pro" : ""
                    ask("GET", "\(path)\(end)?environment=\(environment)\(question)")
                }
            }
            ask("GET", "/v1/events?environment=\(environment)&limit=1000")
            ask("GET", "/v1/events?environment=\(environment)&access=0")
            ask("GET", "/v1/refund_requests?environment=\(environment)")
            ask("GET", "/v1/app_transactions/704?environment=\(environment)")
            ask("GET", "/v1/find?q=9&environment=\(environment)")
            ask("GET", "/v1/unclaimed/apple:9?environment=\(environment)")
        }
        ask("GET", "/v1/products")
        ask("POST", "/v1/entitlements/query", #"{"customers":["u1","u2"]}"#)
        ask("POST", "/v1/find", #"{"q":"apple:1","ask_store":true,"ticket":"T-1"}"#)
        ask(
            "POST", "/v1/customers/u2/purchases/apple:9/undo_transfer?dry_run=1",
            "{\(reason)}")
        ask("POST", "/v1/customers/u2/purchases/apple:9/undo_transfer", "{\(reason)}")
        ask("GET", "/v1/customers/u1/events?limit=1000")
        for row in front.service.router.outlines where row.method == "GET" {
            ask("GET", row.pattern.replacing(/\{[a-z_*]+\}/, with: "u1"))
        }
        for (call, text) in answers {
            for word in ["48151623", "48151.623", "XTS", #""price""#, "milliunits"] {
                #expect(!text.contains(word), "\(call)")
            }
        }
        #expect(answers.filter { $0.1.contains(#""type":"purchase.made""#) }.count > 2)
        #expect(answers.contains { $0.1.contains(#""type":"purchase.attached""#) })
    }

    @Test("A payload that was damaged in the database is not shown to it: a price may stand in it")
    func damaged() throws {
        let damaged = #"{"price":{"milliunits":48151623"#
        #expect(JSON.payloadWithoutPrices(damaged) == nil)
        let nested = #"{"a":[{"price":1,"b":{"price":2,"c":3}}],"currency":"coins"}"#
        #expect(
            JSON.payloadWithoutPrices(nested)?.text == #"{"a":[{"b":{"c":3}}],"currency":"coins"}"#)
    }

    @Test(
        "A limit of zero, of an unknown entitlement, of too many: each is refused by name",
        arguments: [
            (#"{"support_limits":{"pro":"PT0S"}}"#, "invalid_member", "support_limits.pro"),
            (#"{"support_limits":{"pro":"P0D"}}"#, "invalid_member", "support_limits.pro"),
            (#"{"support_limits":{"pro":30}}"#, "invalid_member", "support_limits.pro"),
            (#"{"support_limits":{"":"P1D"}}"#, "invalid_member", "support_limits."),
            (#"{"support_limits":["pro"]}"#, "invalid_member", "support_limits"),
            (#"{"support_limits":{"prO":"P1D"}}"#, "entitlement_unknown", "entitlement"),
        ])
    func badLimits(_ body: String, _ code: String, _ member: String) throws {
        let count = try front.service.eventCount()
        let reply = front.send("PATCH", "/v1/settings", body, key: front.admin)
        #expect(reply.status == 400 && reply.code == code, "\(reply.text)")
        #expect(try reply.json["member"]?.string == member)
        if code == "entitlement_unknown" { #expect(try reply.json["nearest"] == "pro") }
        #expect(try front.service.eventCount() == count)
    }

    @Test("A project has at most 1,000 limits")
    func tooMany() throws {
        let all = (0..<1000).map { #""e\#($0)":"P1D""# }.joined(separator: ",")
        let body = #"{"allow_unknown":true,"support_limits":{\#(all)}}"#
        let reply = front.send("PATCH", "/v1/settings", body, key: front.admin)
        #expect(reply.status == 400 && reply.code == "too_many_support_limits", "\(reply.text)")
    }
}
