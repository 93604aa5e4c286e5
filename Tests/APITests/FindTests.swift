import Core
import Evidence
import JSON
import Minting
import Service
import Synchronization
import TestSupport
import Testing

extension Stage {
    /// Calls that find customers.
    static let finding = [
        Row(call: "GET /v1/find", role: .reader, apart: 200),
        Row(
            call: "POST /v1/find", role: .admin, isForSupport: true, body: #"{"q":"u1"}"#,
            apart: 200),
    ]

    /// The parameters that calls need besides the environment.
    static let questions = [
        "GET /v1/customers/{customer}/explain": ["entitlement=pro"], "GET /v1/find": ["q=u1"],
    ]
    /// Calls that name the environment in their body.
    static let namingInBody = ["POST /v1/entitlements/query", "POST /v1/find"]
}

@Suite("Finding a customer by the name of anything")
struct FindTests {
    private static let token = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11"
    private static let free = "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a12"
    private static let account = "704000000000000001"
    private static let freeAccount = "704000000000000002"
    private let front: Storefront

    /// Gives the customer ann a subscription with two periods, an order, a token and a grant. Also
    /// leaves a purchase unclaimed.
    init() throws {
        front = try Storefront()
        func month(_ id: String, _ item: String, at days: Int64) -> Sale {
            Sale(
                id, of: "30", "pro.month", .autoRenewable, at: front.daysAgo(days),
                until: front.daysAgo(days - 30)
            ).with {
                $0.lineItem = item
                $0.account = Self.account
            }
        }
        let bought = front.submit(
            month("30", "7030", at: 40), month("31", "7031", at: 10), for: "ann")
        #expect(try bought.outcomes == ["recorded", "recorded"])
        #expect(
            front.send("POST", "/v1/customers/ann/orders", #"{"order":"o-17","product":"level2"}"#)
                .status == 201)
        #expect(
            front.send(
                "PUT", "/v1/customers/ann/account_token", #"{"token":"\#(Self.token)"}"#
            ).status == 200)
        _ = front.send(
            "POST", "/v1/customers/ann/grants",
            #"{"entitlement":"level2","for":"P1D","reason":"r","ticket":"T-70"}"#, key: front.admin)
        let waiting = Sale("40", "level2", .nonConsumable, at: front.daysAgo(2)).with {
            $0.token = Self.free
            $0.account = Self.freeAccount
        }
        #expect(
            front.notify(
                front.store.notification(
                    "ONE_TIME_CHARGE", id: "n1", at: front.daysAgo(1),
                    transaction: front.store.transaction(waiting))
            ).status == 200)
    }

    private func find(_ words: String, _ more: String = "", key: NewKey? = nil) -> Reply {
        let query = words.utf8.map { "%" + [$0].hexDigits }.joined()
        return front.send("GET", "/v1/find?q=\(query)\(more)", key: key)
    }

    /// Returns the matches, one per line.
    private func found(_ words: String, _ more: String = "") throws -> [String] {
        try lines(try find(words, more).json)
    }

    private func lines(_ answer: JSON) throws -> [String] {
        try #require(answer["matches"]?.array, "\(answer.text)").map { match in
            ["kind", "id", "customer", "purchase", "product", "path"].map {
                match[$0]?.string ?? "-"
            }.joined(separator: " ")
        }
    }

    @Test(
        "The whole name of a thing leads to who has it",
        arguments: [
            ("30", "purchase 30 ann apple:30 pro.month /v1/customers/ann"),
            ("apple:30", "purchase 30 ann apple:30 pro.month /v1/customers/ann"),
            ("31", "transaction 31 ann apple:30 pro.month /v1/customers/ann"),
            (" 31\n", "transaction 31 ann apple:30 pro.month /v1/customers/ann"),
            ("7030", "web_order_line_item 30 ann apple:30 pro.month /v1/customers/ann"),
            ("7031", "web_order_line_item 31 ann apple:30 pro.month /v1/customers/ann"),
            ("o-17", "order o-17 ann - level2 /v1/customers/ann"),
            (token, "account_token \(token) ann - - /v1/customers/ann"),
            (token.uppercased(), "account_token \(token) ann - - /v1/customers/ann"),
            ("T-70", "ticket T-70 ann - - /v1/customers/ann"),
            (account, "app_transaction \(account) ann - - /v1/customers/ann"),
            ("40", "purchase 40 - apple:40 level2 /v1/unclaimed/apple%3A40"),
            (free, "account_token \(free) - apple:40 level2 /v1/unclaimed/apple%3A40"),
            (
                freeAccount,
                "app_transaction \(freeAccount) - apple:40 level2 /v1/unclaimed/apple%3A40"
            ),
        ])
    func wholeNames(_ words: String, _ match: String) throws {
        #expect(try found(words) == [match])
    }

    @Test("No part of a name leads anywhere but that of a customer's id")
    func parts() throws {
        for words in ["703", "apple:3", "google:30", "o-1", "T-7", "6f0a4f0e", "70400000"] {
            #expect(try found(words) == [], "\(words)")
        }
    }

    @Test("A grant is found by its id, and an event by its id or its position")
    func grantsAndEvents() throws {
        let events = try #require(
            try front.send("GET", "/v1/events?customer=ann&limit=100").json["events"]?.array)
        let given = try #require(events.first { $0["type"]?.string == "grant.given" })
        let grant = try #require(given["data"]?["grant"]?.string)
        #expect(try found(grant) == ["grant \(grant) ann - - /v1/customers/ann"])
        let (id, position) = (given["id"]?.string ?? "", given["position"]?.string ?? "")
        let version = try #require(given["version"]?.integer)
        let path = "/v1/customers/ann/events?after=\(version - 1)&limit=1"
        #expect(try found(id) == ["event \(id) ann - - \(path)"])
        #expect(try found(position) == ["event \(id) ann - - \(path)"])
        #expect(
            try front.send("GET", path).json["events"]?.array?.first?["type"]?.string
                == "grant.given")
        // A wrong id, a position beyond the end, and an event of the project itself find nothing.
        #expect(try found("\(id.dropLast(8))00000000") == [])
        #expect(try found("\(position)0000") == [])
        let own = try front.service.database.number(
            "select shard * 1000000 + seq from deed.events where type = 'catalog.changed'")
        #expect(try found("\(own / 1_000_000):\(own % 1_000_000)") == [])
    }

    @Test("Customers are found by the beginning of their ids, by bytes, and the whole id first")
    func beginnings() throws {
        for customer in ["u_1", "uX1", "u_10", "u_", "U_1", "u_é", "ann.b"] {
            #expect(
                front.send(
                    "POST", "/v1/customers/\(customer.hexPath)/balances/coins/adjust",
                    #"{"amount":1,"reason":"r"}"#, key: front.admin
                ).status == 200)
        }
        func customers(_ words: String, _ more: String = "") throws -> [String] {
            try find(words, more).json["matches"]?.array?.compactMap { $0["customer"]?.string }
                ?? []
        }
        #expect(try customers("u_") == ["u_", "u_1", "u_10", "u_é"])
        #expect(try customers("u_1") == ["u_1", "u_10"])
        #expect(try customers("an") == ["ann", "ann.b"])
        #expect(try customers("ann") == ["ann", "ann.b"])
        #expect(try customers("u_", "&limit=2") == ["u_", "u_1"])
        #expect(try find("u_", "&limit=2").json["more"] == true)
        #expect(try find("u_", "&limit=4").json["more"] == false)
        #expect(try customers("$u") == [])
        // A transaction with exactly this id comes before a customer whose id begins with it.
        _ = front.send(
            "POST", "/v1/customers/30x/balances/coins/adjust", #"{"amount":1,"reason":"r"}"#,
            key: front.admin)
        #expect(try found("30").map { String($0.prefix(8)) } == ["purchase", "customer"])
    }

    @Test("Both environments are looked into, or the one that is named")
    func environments() throws {
        let sale = Sale("31", "level2", .nonConsumable, at: front.daysAgo(1))
        _ = front.submit(
            ["signed_transactions": [.string(front.sandbox.transaction(sale))]], for: "tess")
        #expect(
            try found("31") == [
                "purchase 31 tess apple:31 level2 /v1/customers/tess?environment=sandbox",
                "transaction 31 ann apple:30 pro.month /v1/customers/ann",
            ])
        #expect(try found("31", "&environment=production").count == 1)
        #expect(try found("31", "&environment=sandbox").first?.contains("tess") == true)
    }

    @Test("A name follows its purchase to its holder")
    func moves() throws {
        let because = #"{"to":"bob","reason":"r"}"#
        #expect(
            front.send(
                "POST", "/v1/customers/ann/purchases/apple:30/transfer", because, key: front.admin
            ).status == 200)
        for words in ["30", "31", "7031", "apple:30"] {
            #expect(try found(words).map { $0.contains(" bob ") } == [true], "\(words)")
        }
        #expect(
            front.send(
                "POST", "/v1/unclaimed/apple:40/attach", #"{"customer":"bob","reason":"r"}"#,
                key: front.admin
            ).status == 200)
        #expect(try found("40") == ["purchase 40 bob apple:40 level2 /v1/customers/bob"])
        let back = #"{"reason":"r"}"#
        for purchase in ["apple:30", "apple:40"] {
            #expect(
                front.send(
                    "POST", "/v1/customers/bob/purchases/\(purchase)/undo_transfer", back,
                    key: front.admin
                ).status == 200)
        }
        #expect(try found("31").first?.contains(" ann ") == true)
        #expect(try found("40").first?.contains(" - apple:40") == true)
    }

    @Test(
        "What asks for nothing sensible is refused by its name",
        arguments: [
            ("?q=", "q"), ("?q=u", "q"), ("?q=%20u%20", "q"), ("?q=%20%20", "q"), ("", "q"),
            ("?q=u*", "q"), ("?q=%25u", "q"), ("?q=u%251", "q"), ("?q=__", "q"), ("?q=%3F%3F", "q"),
            ("?q=**", "q"), ("?q=u%00", "q"), ("?q=$unclaimed/apple:40", "q"),
            ("?q=$project/x", "q"), ("?q=uu&limit=0", "limit"), ("?q=uu&limit=21", "limit"),
            ("?q=uu&environment=moon", "environment"), ("?q=uu&after=1", "after"),
        ])
    func refused(_ query: String, _ member: String) throws {
        let reply = front.send("GET", "/v1/find\(query)")
        #expect(reply.status == 400, "\(reply.text)")
        #expect(try reply.json["member"]?.string == member)
    }

    @Test("A ticket with many grants for one customer still leads to the other")
    func ticket() throws {
        for (customer, count) in [("bob", 1), ("cora", 4)] {
            for _ in 0..<count {
                let given = front.send(
                    "POST", "/v1/customers/\(customer)/grants",
                    #"{"entitlement":"level2","for":"P1D","reason":"r","ticket":"T-71"}"#,
                    key: front.admin)
                #expect(given.status == 201)
                front.service.clock.advance(byMilliseconds: 1000)
            }
        }
        let both = ["bob", "cora"].map { "ticket T-71 \($0) - - /v1/customers/\($0)" }
        #expect(try found("T-71", "&limit=2") == both)
        #expect(try find("T-71", "&limit=2").json["more"] == false)
        #expect(try find("T-71", "&limit=1").json["more"] == true)
    }

    @Test("Nothing of another project is found, by whatever name")
    func others() throws {
        try front.service.createProject("second")
        let key = try front.service.key(.admin, project: "second")
        let events = try front.send("GET", "/v1/events?limit=100").json["events"]?.array ?? []
        let names = events.flatMap { event in
            [event["id"]?.string, event["position"]?.string, event["data"]?["grant"]?.string]
        }.compactMap(\.self)
        for words in names + [
            "30", "apple:30", "31", "7030", "o-17", Self.token, "T-70", Self.account, "40",
            Self.free, "ann", "an",
        ] {
            let reply = find(words, key: key)
            #expect(try reply.json["matches"]?.array == [], "\(words): \(reply.text)")
        }
    }

    @Test("A row that no event supports leads to no customer, and the answer says how to mend it")
    func forged() throws {
        try front.service.database.run(
            "update deed.transaction_names set customer = 'thief' where transaction_id = '31'",
            role: "deed_service")
        #expect(find("31").code == "row_unproven")
        #expect(try found("30").first?.contains(" ann ") == true)
    }

    @Test("The store is asked for an order number: what it says is recorded and tells the holder")
    func atStore() throws {
        let sold = [
            Sale("50", "level2", .nonConsumable, at: front.daysAgo(1)),
            Sale("30", "pro.month", .autoRenewable, at: front.daysAgo(40), until: front.daysAgo(10))
                .with {
                    $0.lineItem = "7030"; $0.account = Self.account
                },
        ]
        let minutes = Mutex<Int64>(0)
        @Sendable func signed() -> [RawEvidence] {
            let later = minutes.withLock { $0 } * 60_000
            return sold.map { sale in
                let anew = sale.with {
                    $0.signedAt = $0.signedAt.advanced(byMilliseconds: later)
                }
                return RawEvidence(.signedTransaction, Array(front.store.transaction(anew).utf8))
            }
        }
        front.service.store.answerCalls { call, _ throws(StoreTrouble) in
            var told = StoreAnswer(environment: .production)
            told.remark = .order(isFound: call == .order("MK5"))
            if call == .order("MK5") { told.evidence = signed() }
            return told
        }
        func ask(_ words: String) throws -> JSON {
            let reply = front.send(
                "POST", "/v1/find", #"{"q":"\#(words)","ask_store":true}"#, key: front.admin)
            #expect(reply.status == 200, "\(reply.text)")
            return try reply.json
        }
        let first = try ask("MK5")
        #expect(
            try lines(first) == [
                "store_order MK5 - apple:50 level2 /v1/unclaimed/apple%3A50",
                "store_order MK5 ann apple:30 pro.month /v1/customers/ann",
            ])
        let told = first["store"]?.array?.first
        #expect(told?["outcome"] == "known" && told?["recorded"] == 1, "\(first.text)")
        #expect(try found("50").count == 1)
        let events = try front.service.eventCount()
        #expect(try ask("MK5")["store"]?.array?.first?["recorded"] == 0)
        // One minute later, the store signs the same statement again.
        minutes.withLock { $0 = 1 }
        #expect(try ask("MK5")["store"]?.array?.first?["recorded"] == 0)
        let none = try ask("MK6")
        #expect(none["store"]?.array?.first?["outcome"] == "unknown")
        #expect(try lines(none) == [])
        #expect(try front.service.eventCount() == events)
        front.service.store.answerCalls { _, _ throws(StoreTrouble) in
            throw .unavailable("it answered 500")
        }
        let failed = try ask("MK5")["store"]?.array?.first
        #expect(failed?["outcome"] == "failed" && failed?["code"] == "store_unavailable")
        // Deed asks the store only on request, and refuses to do so for weaker keys.
        let plain = front.send("POST", "/v1/find", #"{"q":"30"}"#, key: front.admin)
        #expect(try plain.json["store"] == nil && lines(plain.json).count == 1)
        #expect(front.send("POST", "/v1/find", #"{"q":"MK5"}"#).status == 403)
    }
}

extension [UInt8] {
    fileprivate var hexDigits: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension String {
    fileprivate var hexPath: String { utf8.map { "%" + [$0].hexDigits }.joined() }
}
