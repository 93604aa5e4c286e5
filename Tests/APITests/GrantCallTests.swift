import Core
import Foundation
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Giving and revoking grants over the API")
struct GrantCallTests {
    private let service: TestService
    private let admin: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
    }

    @Test(
        "A customer's id may be any printable text, with or without percent-encoding",
        arguments: [
            "u1", "a/b", "100%", "who?", "two words", "a+b", "a&b=c#d", "..", ".", "$project",
            "👩🏽", "日本語", "\u{E9}", "x\u{301}", "\"'\\;--", "{customer}",
            String(repeating: "x", count: 256),
        ])
    func anyCustomer(_ customer: String) throws {
        let all = customer.utf8.map { String(format: "%%%02X", Int($0)) }.joined()
        let lower = all.lowercased()
        let given = send("POST", "/v1/customers/\(all)/grants", pro)
        #expect(given.status == 201)
        #expect(try given.json["customer"]?.string?.utf8.elementsEqual(customer.utf8) == true)
        let read = send("GET", "/v1/customers/\(lower)/entitlements/pro")
        #expect(try read.json["active"]?.bool == true)
        let events = try events("/v1/customers/\(lower)/events")
        #expect(events.count == 1)
    }

    @Test("Two spellings of one letter are two customers")
    func spellings() throws {
        #expect(send("POST", "/v1/customers/%C3%A9/grants", pro).status == 201)
        #expect(try events("/v1/customers/e%CC%81/events").isEmpty)
        #expect(try events("/v1/customers/%C3%A9/events").count == 1)
    }

    @Test("Giving a grant returns it with its position in the log and the requested values")
    func given() throws {
        let reply = send(
            "POST", "/v1/customers/u1/grants",
            #"{"entitlement":"pro","start":"2026-12-01T01:00:00+01:00","for":"P1M","#
                + #""reason":"lost purchase","ticket":"T-7"}"#)
        let position = try #require(reply.header("Deed-Position"))
        let grant = try #require(try reply.json["grant"]?["id"]?.string)
        #expect(
            reply.text
                == #"{"customer":"u1","environment":"production","position":"\#(position)","#
                + #""grant":{"id":"\#(grant)","entitlement":"pro","#
                + #""start":"2026-12-01T00:00:00.000Z","end":"2027-01-01T00:00:00.000Z","#
                + #""reason":"lost purchase","ticket":"T-7","revoked_at":null},"changes":true}"#)
        #expect(grant.hasPrefix("g_") && grant.utf8.count > 16)
        #expect(reply.header("Content-Type") == "application/json")
    }

    @Test("Revoking twice, in the body or the query, gives the same answer and one event")
    func revokedTwice() throws {
        let grant = try give()
        let path = "/v1/customers/u1/grants/\(grant)"
        let first = send("DELETE", path, #"{"reason":"mistake"}"#)
        service.clock.advance(byMilliseconds: 1000)
        let second = send("DELETE", path + "?reason=mistake")
        let third = send("DELETE", path, #"{"reason":"another reason"}"#)
        #expect(first.status == 200)
        #expect(try first.json["grant"]?["revoked_at"]?.string == "2026-11-20T19:21:00.000Z")
        #expect(second.text == first.text)
        #expect(third.text == first.text)
        #expect(try events("/v1/customers/u1/events").count == 2)
    }

    @Test("A grant that has ended can no longer be revoked")
    func revokedTooLate() throws {
        let grant = try give(#"{"entitlement":"pro","for":"PT1S","reason":"r"}"#)
        service.clock.advance(byMilliseconds: 1000)
        let reply = send("DELETE", "/v1/customers/u1/grants/\(grant)", #"{"reason":"r"}"#)
        #expect(reply.status == 409)
        #expect(try reply.json["code"]?.string == "grant_ended")
    }

    @Test("The same key and body give the same bytes and one event, however the body is written")
    func sameKey() throws {
        let first = send("POST", "/v1/customers/u1/grants", pro, idempotencyKey: "k")
        service.clock.advance(byMilliseconds: 86_400_000)
        let again = send("POST", "/v1/customers/u1/grants", pro, idempotencyKey: "k")
        let spaced = send(
            "POST", "/v1/customers/u1/grants", #" { "reason" : "r", "entitlement" : "pro" } "#,
            idempotencyKey: "k")
        #expect(first.status == 201)
        #expect(again.text == first.text)
        #expect(again.header("Deed-Position") == first.header("Deed-Position"))
        #expect(spaced.text == first.text)
        #expect(try events("/v1/customers/u1/events").count == 1)
    }

    @Test("The same key and body give the same bytes even after the grant was revoked")
    func sameKeyAfterRevocation() throws {
        let first = send("POST", "/v1/customers/u1/grants", pro, idempotencyKey: "k")
        let grant = try #require(try first.json["grant"]?["id"]?.string)
        let path = "/v1/customers/u1/grants/\(grant)"
        let revoked = send("DELETE", path, #"{"reason":"r"}"#, idempotencyKey: "r")
        _ = send("POST", "/v1/customers/u1/grants", pro)
        #expect(
            send("POST", "/v1/customers/u1/grants", pro, idempotencyKey: "k").text == first.text)
        let again = send("DELETE", path, #"{"reason":"r"}"#, idempotencyKey: "r")
        #expect(again.text == revoked.text)
        #expect(again.header("Deed-Position") == revoked.header("Deed-Position"))
        #expect(try events("/v1/customers/u1/events").count == 3)
    }

    @Test(
        "The same key with anything else is refused and writes nothing",
        arguments: [
            #"{"entitlement":"vip","reason":"r"}"#, #"{"entitlement":"pro","reason":"other"}"#,
            #"{"entitlement":"pro","reason":"r","ticket":"t"}"#,
            #"{"entitlement":"pro","reason":"r","for":"P1D"}"#,
            #"{"entitlement":"pro","reason":"r","start":"2026-11-20T19:21:00Z"}"#,
        ])
    func otherBody(_ body: String) throws {
        _ = send("POST", "/v1/customers/u1/grants", pro, idempotencyKey: "k")
        let reply = send("POST", "/v1/customers/u1/grants", body, idempotencyKey: "k")
        #expect(reply.status == 422)
        #expect(try reply.json["code"]?.string == "idempotency_mismatch")
        #expect(try events("/v1/customers/u1/events").count == 1)
    }

    @Test("One customer's key does not affect the next customer")
    func keyPerCustomer() throws {
        let first = send("POST", "/v1/customers/u1/grants", pro, idempotencyKey: "k")
        let second = send("POST", "/v1/customers/u2/grants", pro, idempotencyKey: "k")
        #expect(first.status == 201 && second.status == 201)
        #expect(try events("/v1/customers/u2/events").count == 1)
    }

    @Test("Simultaneous copies of a call get the same bytes and make one event")
    func twins() throws {
        let texts = Mutex<[String]>([])
        let (service, admin, pro) = (service, admin, pro)
        inParallel(24) { _ in
            let reply = service.send(
                "POST", "/v1/customers/u1/grants", key: admin,
                headers: [("Idempotency-Key", "same")], body: pro)
            texts.withLock { $0.append(reply.text) }
        }
        #expect(texts.withLock { $0.count } == 24)
        #expect(texts.withLock { Set($0) }.count == 1)
        #expect(try events("/v1/customers/u1/events").count == 1)
    }

    private let pro = #"{"entitlement":"pro","reason":"r"}"#

    private func give(_ body: String? = nil) throws -> String {
        let reply = send("POST", "/v1/customers/u1/grants", body ?? pro)
        return try #require(try reply.json["grant"]?["id"]?.string)
    }

    private func send(
        _ method: String, _ target: String, _ body: String = "", idempotencyKey: String? = nil
    ) -> Reply {
        service.send(method, target, key: admin, body: body, idempotencyKey: idempotencyKey)
    }

    private func events(_ target: String) throws -> [JSON] {
        try #require(try send("GET", target).json["events"]?.array)
    }
}
