import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Reading over the API")
struct ReadTests {
    private let service: TestService
    private let admin: NewKey
    private let reader: NewKey

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
        reader = try service.key(.reader)
    }

    @Test("Entitlements have exactly this shape")
    func shape() throws {
        let grant = try give(
            #"{"entitlement":"pro","start":"2026-11-20T19:00:00Z","end":"2026-12-20T19:00:00Z","#
                + #""reason":"r"}"#)
        let other = try give(
            #"{"entitlement":"ads_off","start":"2027-01-01T00:00:00Z","reason":"r"}"#)
        let reply = get("/v1/customers/u1/entitlements")
        let position = try #require(reply.header("Deed-Position"))
        #expect(
            reply.text
                == #"{"customer":"u1","environment":"production","at":"2026-11-20T19:21:00.000Z","#
                + #""position":"\#(position)","next_change":"2026-12-20T19:00:00.000Z","#
                + #""entitlements":{"ads_off":{"active":false,"since":"2027-01-01T00:00:00.000Z","#
                + #""until":null,"state":"upcoming","code":"0.0","will_renew":false,"#
                + #""product":null,"kind":null,"source":"grant","purchase":null,"#
                + #""grant":"\#(other)","sandbox":false,"#
                + #""next_product":null,"expiration_reason":null},"#
                + #""pro":{"active":true,"since":"2026-11-20T19:00:00.000Z","#
                + #""until":"2026-12-20T19:00:00.000Z","state":"active","code":"2.0","#
                + #""will_renew":false,"product":null,"kind":null,"source":"grant","#
                + #""purchase":null,"grant":"\#(grant)","sandbox":false,"#
                + #""next_product":null,"expiration_reason":null}}}"#)
        #expect(reply.header("Content-Type") == "application/json")
    }

    @Test("A single entitlement is answered alone, even one that was never held")
    func one() throws {
        let grant = try give(#"{"entitlement":"pro","reason":"r"}"#)
        let held = get("/v1/customers/u1/entitlements/pro")
        let position = try #require(held.header("Deed-Position"))
        let head =
            #"{"customer":"u1","environment":"production","at":"2026-11-20T19:21:00.000Z","#
            + #""position":"\#(position)","next_change":null,"entitlement":"#
        #expect(
            held.text
                == head
                + #""pro","active":true,"since":"2026-11-20T19:21:00.000Z","until":null,"#
                + #""state":"active","code":"2.0","will_renew":false,"product":null,"kind":null,"#
                + #""source":"grant","purchase":null,"grant":"\#(grant)","sandbox":false,"#
                + #""next_product":null,"expiration_reason":null}"#)
        #expect(
            get("/v1/customers/u1/entitlements/vip").text
                == head
                + #""vip","active":false,"since":null,"until":null,"state":"none","code":"0.0","#
                + #""will_renew":false,"product":null,"kind":null,"source":null,"purchase":null,"#
                + #""grant":null,"sandbox":false,"#
                + #""next_product":null,"expiration_reason":null}"#)
    }

    @Test("An unknown customer has no rights, which is not an error")
    func unknownCustomer() throws {
        let reply = get("/v1/customers/nobody/entitlements")
        #expect(reply.status == 200)
        #expect(try reply.json["entitlements"]?.object?.isEmpty == true)
        #expect(try reply.json["next_change"]?.isNull == true)
        #expect(get("/v1/customers/nobody/events").text.hasSuffix(#""events":[],"next":null}"#))
    }

    @Test(
        "A right holds from its start up to its end, but not at the end itself",
        arguments: [
            ("2026-11-30T23:59:59.999Z", false, "upcoming", "2026-12-01T00:00:00.000Z"),
            ("2026-12-01T00:00:00.000Z", true, "active", "2027-01-01T00:00:00.000Z"),
            ("2026-12-31T23:59:59.999Z", true, "active", "2027-01-01T00:00:00.000Z"),
            ("2027-01-01T00:00:00.000Z", false, "expired", nil),
        ] as [(String, Bool, String, String?)])
    func bounds(_ at: String, _ isActive: Bool, _ state: String, _ nextChange: String?) throws {
        _ = try give(
            #"{"entitlement":"pro","start":"2026-12-01T00:00:00Z","for":"P1M","reason":"r"}"#)
        let json = try get("/v1/customers/u1/entitlements/pro?at=\(at)").json
        #expect(json["at"]?.string == at)
        #expect(json["active"]?.bool == isActive)
        #expect(json["state"]?.string == state)
        #expect(json["since"]?.string == "2026-12-01T00:00:00.000Z")
        #expect(json["until"]?.string == "2027-01-01T00:00:00.000Z")
        #expect(json["next_change"] == .optional(nextChange))
    }

    @Test("A right ends by the clock, without any action")
    func clock() throws {
        _ = try give(#"{"entitlement":"pro","for":"PT1S","reason":"r"}"#)
        service.clock.advance(byMilliseconds: 999)
        #expect(try get("/v1/customers/u1/entitlements/pro").json["active"]?.bool == true)
        service.clock.advance(byMilliseconds: 1)
        #expect(try get("/v1/customers/u1/entitlements/pro").json["active"]?.bool == false)
    }

    @Test("A read of the past shows what a reader saw then")
    func known() throws {
        let grant = try give(#"{"entitlement":"pro","start":"2026-01-01T00:00:00Z","reason":"r"}"#)
        service.clock.advance(byMilliseconds: 60_000)
        let revoked = service.send(
            "DELETE", "/v1/customers/u1/grants/\(grant)", key: admin, body: #"{"reason":"r"}"#)
        #expect(revoked.status == 200)
        func state(_ query: String) throws -> String? {
            try get("/v1/customers/u1/entitlements/pro?\(query)").json["state"]?.string
        }
        #expect(try state("") == "revoked")
        #expect(try state("known=2026-11-20T19:20:59.999Z") == "none")
        #expect(try state("known=2026-11-20T19:21:00Z") == "active")
        #expect(try state("known=2026-11-20T19:21:59.999Z") == "active")
        #expect(try state("known=2026-11-20T19:22:00Z") == "revoked")
        // Access was active at that time, both as known now and as known then.
        #expect(try state("at=2026-11-20T19:21:30Z") == "active")
        #expect(try state("at=2026-11-20T19:23:00Z&known=2026-11-20T19:21:30Z") == "active")
    }

    @Test("The sandbox is separate")
    func sandbox() throws {
        _ = try give(#"{"entitlement":"pro","environment":"sandbox","reason":"r"}"#)
        #expect(get("/v1/customers/u1/entitlements").text.hasSuffix(#""entitlements":{}}"#))
        #expect(get("/v1/customers/u1/events").text.hasSuffix(#""events":[],"next":null}"#))
        let json = try get("/v1/customers/u1/entitlements?environment=sandbox").json
        #expect(json["environment"]?.string == "sandbox")
        #expect(json["entitlements"]?["pro"]?["active"]?.bool == true)
        #expect(json["entitlements"]?["pro"]?["sandbox"]?.bool == true)
    }

    @Test("Every page of the events starts where the last one ended")
    func paging() throws {
        for index in 0..<7 {
            _ = try give(#"{"entitlement":"e\#(index)","reason":"r"}"#)
        }
        var entitlements: [String?] = []
        var pages: [Int] = []
        var after: Int64? = 0
        while let version = after {
            let json = try get("/v1/customers/u1/events?limit=3&after=\(version)").json
            let events = try #require(json["events"]?.array)
            pages.append(events.count)
            entitlements += events.map { $0["data"]?["entitlement"]?.string }
            #expect(events.map { $0["version"]?.integer }.first == version + 1)
            after = json["next"]?.integer
        }
        #expect(pages == [3, 3, 1])
        #expect(entitlements == (0..<7).map { "e\($0)" })
        let whole = try get("/v1/customers/u1/events?limit=7").json
        #expect(whole["next"]?.isNull == true)
    }

    @Test("An event is answered completely")
    func event() throws {
        let grant = try give(#"{"entitlement":"pro","for":"P1D","reason":"r","ticket":"T-1"}"#)
        let event = try #require(
            try get("/v1/customers/u1/events").json["events"]?.array?.first)
        let position = try #require(event["position"]?.string)
        let cause = try #require(event["cause"]?.string)
        #expect(cause.hasPrefix("command:"))
        #expect(
            event.text
                == #"{"version":1,"position":"\#(position)","type":"grant.given","#
                + #""occurred_at":"2026-11-20T19:21:00.000Z","#
                + #""recorded_at":"2026-11-20T19:21:00.000Z","actor":"key:\#(admin.key)","#
                + #""actor_name":"test","cause":"\#(cause)","catalog_version":0,"data":{"grant":"\#(grant)","#
                + #""entitlement":"pro","start":"2026-11-20T19:21:00.000Z","#
                + #""end":"2026-11-21T19:21:00.000Z","reason":"r","ticket":"T-1"}}"#)
    }

    @Test("The position in the header equals the one in the body, and only grows")
    func position() throws {
        var sequence: Int64 = 0
        for index in 0..<3 {
            let given = service.send(
                "POST", "/v1/customers/u1/grants", key: admin,
                body: #"{"entitlement":"e\#(index)","reason":"r"}"#)
            for reply in [given, get("/v1/customers/u1/entitlements")] {
                let text = try #require(reply.header("Deed-Position"))
                #expect(try reply.json["position"]?.string == text)
                let position = try #require(Position(text))
                #expect(position.shard == (try Stream.test("u1").shard))
                #expect(position.sequence >= sequence)
                sequence = position.sequence
            }
            #expect(sequence == Int64(index + 1))
        }
    }

    @Test(
        "Rights at the ends of the calendar can be given and read",
        arguments: [
            #""end":"9999-12-31T23:59:59.999Z""#, #""start":"0000-01-01T00:00:00Z""#,
            #""start":"1969-12-31T23:59:59.999Z","for":"P8029Y""#,
        ])
    func calendarEnds(_ members: String) throws {
        _ = try give(#"{"entitlement":"pro","reason":"r",\#(members)}"#)
        #expect(get("/v1/customers/u1/entitlements").status == 200)
        #expect(get("/v1/customers/u1/events").status == 200)
    }

    @Test(
        "A right beyond the calendar is refused, and the customer stays readable",
        arguments: [
            (#""for":"P9000Y""#, "grant_ends_too_late"),
            (#""end":"9999-12-31T23:59:59-01:00""#, "invalid_member"),
            (#""start":"0000-01-01T00:00:00+01:00""#, "invalid_member"),
        ])
    func beyondTheCalendar(_ members: String, _ code: String) throws {
        let reply = service.send(
            "POST", "/v1/customers/u1/grants", key: admin,
            body: #"{"entitlement":"pro","reason":"r",\#(members)}"#)
        #expect(reply.status == 400)
        #expect(try reply.json["code"]?.string == code)
        #expect(get("/v1/customers/u1/entitlements").status == 200)
        #expect(get("/v1/customers/u1/events").text.hasSuffix(#""events":[],"next":null}"#))
    }

    private func give(_ body: String) throws -> String {
        let reply = service.send("POST", "/v1/customers/u1/grants", key: admin, body: body)
        return try #require(try reply.json["grant"]?["id"]?.string, "\(reply.text)")
    }

    private func get(_ target: String) -> Reply {
        service.send("GET", target, key: reader)
    }
}
