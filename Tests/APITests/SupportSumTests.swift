import Core
import Histories
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

@Suite("Support's limits hold for all grants together", .timeLimit(.minutes(20)))
struct SupportSumTests {
    private static let day: Int64 = 86_400_000
    private let front: Storefront
    private let support: NewKey

    init() throws {
        front = try Storefront(settings: #"{"support_limits":{"pro":"P30D","*":"P7D"}}"#)
        support = try front.service.key(.support)
    }

    private func give(_ rest: String, to customer: String = "u1", key: NewKey? = nil) -> Reply {
        front.send(
            "POST", "/v1/customers/\(customer)/grants",
            #"{"entitlement":"pro",\#(rest),"reason":"r","ticket":"T-1"}"#, key: key ?? support)
    }

    private func change(_ reply: Reply, _ end: String) throws -> Reply {
        let grant = try #require(try reply.json["grant"]?["id"]?.string, "\(reply.text)")
        return front.send(
            "PATCH", "/v1/customers/u1/grants/\(grant)",
            #"{\#(end),"reason":"r","ticket":"T-1"}"#, key: support)
    }

    private static let wait15 = #""start":"after_current","for":"P15D""#

    @Test("A waiting grant begins after the running ones, and both count")
    func afterRunning() throws {
        #expect(give(#""for":"P30D""#).status == 201)
        let refused = give(Self.wait15)
        #expect(refused.status == 403 && refused.code == "support_limit", "\(refused.text)")
        #expect(give(#""start":"after_current","for":"PT1S""#).code == "support_limit")
        #expect(give(#""for":"P20D""#, to: "u2").status == 201)
        #expect(give(Self.wait15, to: "u2").code == "support_limit")
        #expect(give(#""start":"after_current","for":"P10D""#, to: "u2").status == 201)
    }

    @Test("A grant that pushes waiting ones away counts with them")
    func pushing() throws {
        // The waiting grant begins after this subscription.
        let month = Sale(
            "1", "pro.month", .autoRenewable, at: front.daysAgo(29), until: front.daysAgo(-1))
        #expect(front.submit(month).status == 200)
        let waiting = give(Self.wait15)
        #expect(waiting.status == 201, "\(waiting.text)")
        #expect(give(#""for":"P30D""#).code == "support_limit")
        #expect(give(#""for":"P16D""#).code == "support_limit")
        #expect(
            give(#""start":"2026-12-10T00:00:00Z","end":"2026-12-20T00:00:00Z""#).code
                == "support_limit")
        let running = give(#""for":"P10D""#)
        #expect(running.status == 201)
        #expect(try change(running, #""for":"P16D""#).code == "support_limit")
        #expect(try change(running, #""end":"2026-12-20T00:00:00Z""#).code == "support_limit")
        #expect(try change(running, #""for_ever":true"#).code == "support_limit")
        #expect(try change(running, #""for":"P15D""#).status == 200)
        #expect(try change(waiting, #""for":"P16D""#).code == "support_limit")
        #expect(try change(waiting, #""for_ever":true"#).code == "support_limit")
        #expect(try change(waiting, #""for":"P14D""#).status == 200)
    }

    @Test("Whatever support gives in a row, together it is no longer than the limit")
    func together() throws {
        let month = Sale(
            "1", "pro.month", .autoRenewable, at: front.daysAgo(29), until: front.daysAgo(-1))
        #expect(front.submit(month).status == 200)
        let last = front.service.clock.now.advanced(byMilliseconds: 31 * Self.day)
        var random = SeededGenerator(seed: 20_261_128)
        for _ in 0..<6 {
            let wishes = [
                #""for":"P30D""#, Self.wait15, #""for":"P10D""#,
                #""start":"after_current","for":"P5D""#,
                #""start":"2026-12-01T00:00:00Z","for":"P19D""#,
                #""start":"after_current","for":"P30D""#,
            ].shuffled(using: &random)
            for wish in wishes { _ = give(wish) }
        }
        front.service.clock.advance(
            byMilliseconds: last.milliseconds - front.service.clock.now.milliseconds)
        #expect(try front.isActive("pro") == false)
    }

    @Test("An admin's longer grants do not use up what support may give")
    func adminsOwn() throws {
        #expect(give(#""for":"P90D""#, key: front.admin).status == 201)
        #expect(give(Self.wait15).status == 201)
        #expect(give(#""start":"after_current","for":"P90D""#, key: front.admin).status == 201)
        #expect(give(#""start":"after_current","for":"P15D""#).status == 201)
        #expect(give(#""start":"after_current","for":"PT1S""#).code == "support_limit")
    }

    @Test("Two customers' grants count together when support merges them")
    func merged() throws {
        #expect(give(#""for":"P30D""#).status == 201)
        let month = Sale(
            "1", "pro.month", .autoRenewable, at: front.daysAgo(29), until: front.daysAgo(-1))
        #expect(front.submit(month, for: "u2").status == 200)
        #expect(give(Self.wait15, to: "u2").status == 201)
        for (from, into) in [("u1", "u2"), ("u2", "u1")] {
            let reply = front.send(
                "POST", "/v1/customers/\(from)/merge",
                #"{"into":"\#(into)","reason":"r","ticket":"T-1"}"#, key: support)
            #expect(reply.code == "support_limit", "\(reply.text)")
        }
    }

    @Test("A shorter end, a revocation and another entitlement are always allowed within the limit")
    func others() throws {
        let given = give(#""for":"P30D""#)
        #expect(try change(given, #""for":"P3D""#).status == 200)
        #expect(
            front.send(
                "POST", "/v1/customers/u1/grants",
                #"{"entitlement":"season","start":"after_current","for":"P7D","reason":"r","ticket":"T"}"#,
                key: support
            ).status == 201)
        #expect(give(#""start":"after_current","for":"P27D""#).status == 201)
        let grant = try #require(try given.json["grant"]?["id"]?.string)
        let revoked = front.send(
            "DELETE", "/v1/customers/u1/grants/\(grant)", #"{"reason":"r","ticket":"T"}"#,
            key: support)
        #expect(revoked.status == 200, "\(revoked.text)")
    }
}
