import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Changing grants, and grants that wait, over the API")
struct GrantChangeCallTests {
    private let service: TestService
    private let admin: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
    }

    private func send(
        _ method: String, _ target: String, _ body: String = "", idempotencyKey: String? = nil
    ) -> Reply {
        service.send(
            method, "/v1/customers/u1/\(target)", key: admin, body: body,
            idempotencyKey: idempotencyKey)
    }

    private func give(_ members: String) throws -> JSON {
        let reply = send("POST", "grants", #"{"entitlement":"pro",\#(members),"reason":"r"}"#)
        #expect(reply.status == 201, "\(reply.text)")
        return try reply.json
    }

    private func name(_ given: JSON) throws -> String {
        try #require(given["grant"]?["id"]?.string)
    }

    @Test("A grant gets another end, and everything that tells of it has it")
    func changed() throws {
        let grant = try name(give(#""for":"P30D""#))
        let reply = send(
            "PATCH", "grants/\(grant)",
            #"{"end":"2027-02-01T00:00:00Z","reason":"a longer outage","ticket":"T-9"}"#)
        let position = try #require(reply.header("Deed-Position"))
        #expect(
            reply.text
                == #"{"customer":"u1","environment":"production","position":"\#(position)","#
                + #""grant":{"id":"\#(grant)","entitlement":"pro","#
                + #""start":"2026-11-20T19:21:00.000Z","end":"2027-02-01T00:00:00.000Z","#
                + #""reason":"r","ticket":null,"revoked_at":null}}"#)
        #expect(
            try send("GET", "entitlements/pro").json["until"]?.string == "2027-02-01T00:00:00.000Z")
        let whole = try service.send("GET", "/v1/customers/u1", key: admin).json
        #expect(whole["grants"]?.array?.first?["end"]?.string == "2027-02-01T00:00:00.000Z")
        #expect(
            try service.database.number(
                "select count(*) from deed.grants where ends_at = '2027-02-01T00:00:00Z'") == 1)
        let events = try #require(try send("GET", "events").json["events"]?.array)
        #expect(events.compactMap { $0["type"]?.string } == ["grant.given", "grant.changed"])
        let words = try send("GET", "explain?entitlement=pro").json["words"]?.text ?? ""
        #expect(words.contains("another end") && words.contains("a longer outage (T-9)"))
    }

    @Test("The same key gives the same answer, whatever became of the grant since")
    func again() throws {
        let grant = try name(give(#""for":"P30D""#))
        let body = #"{"for":"P60D","reason":"r"}"#
        let first = send("PATCH", "grants/\(grant)", body, idempotencyKey: "k")
        #expect(send("PATCH", "grants/\(grant)", #"{"for_ever":true,"reason":"r"}"#).status == 200)
        #expect(send("DELETE", "grants/\(grant)", #"{"reason":"r"}"#).status == 200)
        let again = send("PATCH", "grants/\(grant)", body, idempotencyKey: "k")
        #expect(again.text == first.text)
        #expect(again.header("Deed-Position") == first.header("Deed-Position"))
    }

    @Test(
        "What is no end for a grant is refused by name, and nothing is written",
        arguments: [
            (#"{"reason":"r"}"#, 400, "missing_member", "end"),
            (#"{"for_ever":false,"reason":"r"}"#, 400, "missing_member", "end"),
            (
                #"{"end":"2027-01-01T00:00:00Z","for":"P1D","reason":"r"}"#, 400, "invalid_member",
                "for"
            ),
            (
                #"{"end":"2027-01-01T00:00:00Z","for_ever":true,"reason":"r"}"#, 400,
                "invalid_member", "for_ever"
            ),
            (#"{"for":"P1D","for_ever":true,"reason":"r"}"#, 400, "invalid_member", "for_ever"),
            (#"{"for_ever":true}"#, 400, "missing_member", "reason"),
            (#"{"for_ever":true,"reason":"  "}"#, 400, "invalid_member", "reason"),
            (#"{"end":"soon","reason":"r"}"#, 400, "invalid_member", "end"),
            (
                #"{"end":"2026-11-20T19:21:00Z","reason":"r"}"#, 400,
                "grant_ends_before_it_starts", "end"
            ),
            (#"{"start":"2027-01-01T00:00:00Z","reason":"r"}"#, 400, "unknown_member", "start"),
        ])
    func refused(_ body: String, _ status: Int, _ code: String, _ member: String) throws {
        let grant = try name(give(#""for":"P30D""#))
        let before = try service.eventCount()
        let reply = send("PATCH", "grants/\(grant)", body)
        #expect(reply.status == status, "\(reply.text)")
        #expect(reply.code == code)
        #expect(try reply.json["member"]?.string == member)
        #expect(try service.eventCount() == before)
    }

    @Test("An end that has passed is refused by the member that says so")
    func past() throws {
        let grant = try name(give(#""for":"P30D""#))
        service.clock.advance(byMilliseconds: 5 * 86_400_000)
        for (body, member) in [
            (#"{"end":"2026-11-24T00:00:00Z","reason":"r"}"#, "end"),
            (#"{"for":"P2D","reason":"r"}"#, "for"),
        ] {
            let reply = send("PATCH", "grants/\(grant)", body)
            #expect(reply.status == 400)
            #expect(reply.code == "grant_ends_in_the_past")
            #expect(try reply.json["member"]?.string == member)
        }
        service.clock.advance(byMilliseconds: 30 * 86_400_000)
        #expect(
            send("PATCH", "grants/\(grant)", #"{"for":"P90D","reason":"r"}"#).code == "grant_ended")
    }

    @Test(
        "A grant after the present access begins when that ends, and follows what is changed of it")
    func waiting() throws {
        let first = try name(give(#""for":"P30D""#))
        let waiting = try give(#""start":"after_current","for":"P10D""#)
        #expect(waiting["grant"]?["start"]?.string == "2026-12-20T19:21:00.000Z")
        #expect(waiting["grant"]?["end"]?.string == "2026-12-30T19:21:00.000Z")
        #expect(waiting["grant"]?["after_current"]?.bool == true)
        #expect(waiting["changes"]?.bool == true)
        let body = #"{"for":"P40D","reason":"r"}"#
        #expect(send("PATCH", "grants/\(first)", body).status == 200)
        #expect(
            try send("GET", "entitlements/pro").json["until"]?.string == "2027-01-09T19:21:00.000Z")
        let whole = try service.send("GET", "/v1/customers/u1", key: admin).json
        #expect(whole["grants"]?.array?.last?["start"]?.string == "2026-12-30T19:21:00.000Z")
    }

    @Test(
        "A grant that waits needs a length and takes no end",
        arguments: [
            (#""start":"after_current""#, "missing_member", "for"),
            (
                #""start":"after_current","end":"2027-01-01T00:00:00Z""#, "invalid_member",
                "end"
            ),
            (
                #""start":"after_current","for":"P1D","end":"2027-01-01T00:00:00Z""#,
                "invalid_member", "end"
            ),
            (#""start":"after","for":"P1D""#, "invalid_member", "start"),
        ])
    func withoutLength(_ members: String, _ code: String, _ member: String) throws {
        let reply = send("POST", "grants", #"{"entitlement":"pro",\#(members),"reason":"r"}"#)
        #expect(reply.status == 400)
        #expect(reply.code == code)
        #expect(try reply.json["member"]?.string == member)
    }

    @Test("A grant that changes no answer says so, and what gives the entitlement anyway")
    func anyway() throws {
        let first = try give(#""for":"P90D""#)
        #expect(first["changes"]?.bool == true)
        #expect(first["detail"] == nil)
        let second = try give(#""for":"P30D""#)
        #expect(second["changes"]?.bool == false)
        let detail = try #require(second["detail"]?.string)
        #expect(detail.contains("the grant \(try name(first)) already gives \"pro\""))
        let forEver = try give(#""end":null"#)
        let waiting = try give(#""start":"after_current","for":"P1D""#)
        #expect(waiting["changes"]?.bool == false)
        #expect(waiting["detail"]?.string?.contains(try name(forEver)) == true)
        #expect(waiting["grant"]?["start"]?.isNull == true)
    }
}
