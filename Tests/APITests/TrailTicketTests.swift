import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

@Suite("The trail by ticket", .timeLimit(.minutes(20)))
struct TrailTicketTests {
    private let stage: Stage
    private var front: Storefront { stage.front }

    init() throws {
        stage = try Stage(in: .production)
    }

    private func send(_ method: String, _ path: String, _ rest: String, ticket: String) -> Reply {
        front.send(
            method, "/v1/\(path)", #"{\#(rest)"reason":"why","ticket":"\#(ticket)"}"#,
            key: front.admin)
    }

    /// Returns the trail's entries for the ticket, newest first.
    private func trail(_ ticket: String) throws -> [JSON] {
        try front.service.keys.refusals.write()
        let reply = front.send("GET", "/v1/trail?ticket=\(ticket)", key: front.admin)
        return try #require(try reply.json["entries"]?.array, "\(reply.text)")
    }

    /// Returns the customers to whom the ticket leads.
    private func found(_ ticket: String) throws -> [String] {
        let query = ticket.utf8.map { "%" + [$0].hexDigits }.joined()
        let reply = front.send("GET", "/v1/find?q=\(query)", key: front.admin)
        let matches = try #require(try reply.json["matches"]?.array, "\(reply.text)")
        #expect(matches.allSatisfy { $0["kind"] == "ticket" })
        // A merge appears in both environments.
        return Set(matches.compactMap { $0["customer"]?.string }).sorted()
    }

    @Test(
        "Each kind of act that takes a ticket is found by it, with reason and ticket, and by no other one"
    )
    func acts() throws {
        let taking = Stage.writes.filter { $0.why != .nothing }
        // The trail has no events about queued evidence, and an erasure takes two calls.
        #expect(
            taking.filter(\.trail.isEmpty).map(\.call) == [
                "POST /v1/intake/{id}/settle", "POST /v1/intake/{id}/drop",
                "POST /v1/intake/{id}/retry", "POST /v1/customers/{customer}/erase",
            ])
        let acts = taking.filter { !$0.trail.isEmpty }.enumerated().map { ("T-1\($0)", $1) }
        for (ticket, row) in acts {
            let reply = stage.perform(row, reason: "why", ticket: ticket)
            #expect((200..<300).contains(reply.status), "\(row.call): \(reply.text)")
        }
        for (ticket, row) in acts {
            let entries = try trail(ticket)
            let types = Set(entries.compactMap { $0["action"]?.string })
            #expect(types == row.trail, "\(row.call): \(entries)")
            #expect(entries.allSatisfy { $0["ticket"]?.string == ticket }, "\(row.call)")
            let reason: JSON = row.why == .ticket ? .null : "why"
            #expect(entries.allSatisfy { $0["reason"] == reason }, "\(row.call)")
            #expect(try found(ticket) == row.found, "\(row.call)")
        }
        let look = send("POST", "customers/u3/erase", #""purchases":"forget","#, ticket: "T-erase")
        let intent = try #require(try look.json["intent"]?.string, "\(look.text)")
        let erased = send(
            "POST", "customers/u3/erase", #""purchases":"forget","intent":"\#(intent)","#,
            ticket: "T-erase")
        #expect(erased.status == 200, "\(erased.text)")
        #expect(
            Set(try trail("T-erase").compactMap { $0["action"]?.string }) == ["customer.erased"])
        #expect(try found("T-erase") == [])
        for (ticket, row) in acts {
            #expect(try found(ticket) == row.found.filter { $0 != "u3" }, "\(row.call)")
        }
    }

    @Test("A grant that came with a merge is found by its own ticket, in no other project")
    func carried() throws {
        for ticket in ["T-1", "T-2"] {
            _ = send(
                "POST", "customers/anon/grants", #""entitlement":"pro","for":"P1D","#,
                ticket: ticket)
        }
        _ = send("POST", "customers/anon/merge", #""into":"ann","#, ticket: "T-9")
        #expect(try found("T-1") == ["ann", "anon"] && found("T-2") == ["ann", "anon"])
        #expect(try found("T-9") == ["ann", "anon"])
        try front.service.createProject("second")
        let other = try front.service.key(.admin, project: "second")
        let reply = front.send("GET", "/v1/find?q=T-1", key: other)
        #expect(try reply.json["matches"]?.array == [], "\(reply.text)")
    }

    @Test("Neither part of a ticket nor a reason that reads like one finds anything")
    func notTickets() throws {
        let given = front.send(
            "POST", "/v1/customers/u1/grants",
            #"{"entitlement":"pro","for":"P1D","reason":"\"ticket\":\"T-9\" ,","ticket":"T\"é\\1"}"#,
            key: front.admin)
        #expect(given.status == 201, "\(given.text)")
        #expect(try found(#"T"é\1"#) == ["u1"])
        for words in ["T-9", #"T"é"#, #"T"é\"#, #"é\1"#, #"T\"é\\1"#] {
            #expect(try found(words) == [], "\(words)")
        }
    }

    @Test("Events beyond the log's end are not found by their ticket")
    func beyond() throws {
        _ = send("POST", "customers/u1/grants", #""entitlement":"pro","for":"P1D","#, ticket: "T-1")
        try front.service.database.run(
            """
            insert into deed.events select * from jsonb_populate_record(null::deed.events, (
                select to_jsonb(e) || jsonb_build_object('customer', 'thief', 'seq', e.seq + 1)
                from deed.events as e where e.type = 'grant.given' and e.payload like '%"T-1"%'))
            """)
        #expect(try found("T-1") == ["u1"])
    }

    @Test("Support asks a store with a ticket, by which the trail finds the question")
    func asked() throws {
        let support = try front.service.key(.support, name: "Ann's desk")
        func ask(_ rest: String, key: NewKey) -> Reply {
            front.send("POST", "/v1/find", #"{"q":"MK5TTTTTTT"\#(rest)}"#, key: key)
        }
        let bare = ask(#","ask_store":true"#, key: support)
        #expect(bare.status == 400 && bare.code == "ticket_missing", "\(bare.text)")
        #expect(try bare.json["member"] == "ticket")
        #expect(ask("", key: support).status == 200)
        let blank = ask(#","ask_store":true,"ticket":"  ""#, key: support)
        #expect(blank.status == 400 && blank.code == "invalid_member", "\(blank.text)")
        #expect(try blank.json["member"] == "ticket")
        #expect(ask(#","ask_store":true,"ticket":"T-ask""#, key: support).status == 200)
        #expect(ask(#","ask_store":true"#, key: front.admin).status == 200)
        let entries = try trail("T-ask")
        #expect(entries.count == 1, "\(entries)")
        #expect(entries.first?["action"] == "POST /v1/find" && entries.first?["refused"] == false)
        #expect(entries.first?["actor_name"] == "Ann's desk")
        #expect(entries.first?["code"]?.isNull == true)
    }

    @Test("A blank ticket is refused wherever a person acts, and the member is named")
    func blank() throws {
        let count = try front.service.eventCount()
        for row in Stage.writes where row.why != .nothing {
            for ticket in ["", " ", "   "] {
                let reply = stage.perform(row, ticket: ticket)
                #expect(
                    reply.status == 400 && reply.code == "invalid_member",
                    "\(row.call): \(reply.text)")
                #expect(try reply.json["member"] == "ticket", "\(row.call)")
            }
        }
        let grant = try #require(stage.names["grant"])
        let query = front.send(
            "DELETE", "/v1/customers/u1/grants/\(grant)?reason=r&ticket=%20", key: front.admin)
        #expect(try query.json["member"] == "ticket")
        #expect(try front.service.eventCount() == count)
    }
}
