import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Explanations and balances over the API")
struct ExplainTests {
    private let service: TestService
    private let reader: NewKey

    init() throws {
        service = try TestService()
        reader = try service.key(.reader)
        let admin = try service.key(.admin)
        _ = service.send("PUT", "/v1/catalog", key: admin, body: CatalogTests.shop)
        let start = Instant(milliseconds: service.clock.now.milliseconds - 86_400_000)
        let end = start.advanced(byMilliseconds: 30 * 86_400_000)
        _ = try service.ledger.append(
            .record(
                [
                    .bought("pro", .autoRenewable, transaction: "1", at: start, until: end),
                    .bought("coins", .consumable, transaction: "2", at: start),
                    .bought("unknown", .nonConsumable, transaction: "3", at: start),
                ], for: .test("u1"), key: "k"))
    }

    @Test("An explanation has the answer, its rules, boundaries and facts, and what is ignored")
    func explanation() throws {
        let reply = get("/v1/customers/u1/explain?entitlement=pro")
        let position = try #require(reply.header("Deed-Position"))
        #expect(
            reply.text
                == #"{"customer":"u1","environment":"production","entitlement":"pro","#
                + #""at":"2026-11-20T19:21:00.000Z","position":"\#(position)","#
                + #""next_change":"2026-12-19T19:21:00.000Z","answer":{"active":true,"#
                + #""since":"2026-11-19T19:21:00.000Z","until":"2026-12-19T19:21:00.000Z","#
                + #""state":"active","code":"5.0","will_renew":true,"product":"pro","#
                + #""kind":"auto_renewable","source":"purchase","purchase":"apple:1","#
                + #""grant":null,"sandbox":false,"next_product":null,"expiration_reason":null},"#
                + #""words":["pro is active (5.0) for u1 in production at 2026-11-20T19:21:00.000Z, "#
                + #"from 2026-11-19T19:21:00.000Z until 2026-12-19T19:21:00.000Z.","#
                + #""It is active by a period of a subscription, purchase apple:1 of pro, "#
                + #"from 2026-11-19T19:21:00.000Z until 2026-12-19T19:21:00.000Z.","#
                + #""It continues after 2026-12-19T19:21:00.000Z if the renewal is paid.","#
                + #""This may change at 2026-12-19T19:21:00.000Z.","#
                + #""It does not count: purchase apple:2, transaction 2 of coins: a consumable only adds "#
                + #"to balances.","It does not count: purchase apple:3, transaction 3 of "#
                + #"unknown: the catalog does not have the product."],"#
                + #""reasons":[{"rule":"period","holds":true,"#
                + #""start":"2026-11-19T19:21:00.000Z","end":"2026-12-19T19:21:00.000Z","#
                + #""cut":null,"source":"purchase","purchase":"apple:1","product":"pro","#
                + #""transactions":[{"transaction":"1","product":"pro","kind":"auto_renewable","#
                + #""purchased":"2026-11-19T19:21:00.000Z","expires":"2026-12-19T19:21:00.000Z","#
                + #""revoked_at":null,"upgraded":false,"family_shared":false,"sandbox":false,"#
                + #""signed_at":"2026-11-19T19:21:00.000Z","evidence":"client_transaction"}],"#
                + #""renewals":[]}],"#
                + #""ignored":[{"purchase":"apple:2","transaction":"2","product":"coins","#
                + #""cause":"consumable"},{"purchase":"apple:3","transaction":"3","#
                + #""product":"unknown","cause":"product_not_in_catalog"}],"#
                + #""events":[{"version":1,"environment":"production","type":"purchase.made","#
                + #""about":"apple:1","occurred_at":"2026-11-19T19:21:00.000Z","#
                + #""recorded_at":"2026-11-20T19:21:00.000Z","actor":"test","actor_name":null,"#
                + #""cause":"key:k"}]}"#)
    }

    @Test("An explanation agrees with the answer at any instant, and as known at any instant")
    func clocks() throws {
        for query in [
            "at=2026-12-19T19:21:00Z", "known=2026-11-20T19:20:59Z", "at=2020-01-01T00:00:00Z",
        ] {
            let explained = try get("/v1/customers/u1/explain?entitlement=pro&\(query)").json
            let read = try get("/v1/customers/u1/entitlements/pro?\(query)").json
            for member in try #require(explained["answer"]?.object).members {
                #expect(read[member.name] == member.value, "\(member.name) with \(query)")
            }
        }
        let unknown = try get(
            "/v1/customers/u1/explain?entitlement=pro&known=2026-11-20T19:20:59Z"
        ).json
        #expect(unknown["reasons"]?.array?.isEmpty == true)
    }

    @Test("A right that was never held reads as inactive, for known and unknown customers")
    func neverHeld() throws {
        for target in [
            "u1/explain?entitlement=vip", "nobody/explain?entitlement=pro",
            "u1/explain?entitlement=pro&environment=sandbox",
        ] {
            let reply = get("/v1/customers/\(target)")
            #expect(reply.status == 200)
            #expect(try reply.json["answer"]?["state"]?.string == "none")
        }
        let missing = get("/v1/customers/u1/explain")
        #expect(missing.status == 400)
        #expect(try missing.json["code"]?.string == "missing_member")
        #expect(try missing.json["member"]?.string == "entitlement")
    }

    @Test("Balances are what the catalog gave for consumables; an unknown customer has none")
    func balances() throws {
        let reply = get("/v1/customers/u1/balances")
        let position = try #require(reply.header("Deed-Position"))
        #expect(
            reply.text
                == #"{"customer":"u1","environment":"production","position":"\#(position)","#
                + #""balances":{"coins":100}}"#)
        #expect(
            try get("/v1/customers/u1/balances?environment=sandbox").json["balances"]?.text == "{}")
        #expect(try get("/v1/customers/nobody/balances").json["balances"]?.text == "{}")
    }

    private func get(_ target: String) -> Reply { service.send("GET", target, key: reader) }
}
