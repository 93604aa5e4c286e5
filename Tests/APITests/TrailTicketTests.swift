import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

@Suite("The trail by ticket", .timeLimit(.minutes(20)))
struct TrailTicketTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private func send(_ method: String, _ path: String, _ rest: String, ticket: String) -> Reply {
        front.send(
            method, "/v1/\(path)", #"{\#(rest)"reason":"why","ticket":"\#(ticket)"}"#,
            key: front.admin)
    }

    /// The trail's entries for the ticket, newest first.
    private func trail(_ ticket: String) throws -> [JSON] {
        try front.service.keys.refusals.write()
        let reply = front.send("GET", "/v1/trail?ticket=\(ticket)", key: front.admin)
        return try #require(try reply.json["entries"]?.array, "\(reply.text)")
    }

    /// The customers to whom the ticket leads.
    private func found(_ ticket: String) throws -> [String] {
        let query = ticket.utf8.map { "%" + [$0].hexDigits }.joined()
        let reply = front.send("GET", "/v1/find?q=\(query)", key: front.admin)
        let matches = try #require(try reply.json["matches"]?.array, "\(reply.text)")
        #expect(matches.allSatisfy { $0["kind"] == "ticket" })
        // A merge concerns both environments.
        return Set(matches.compactMap { $0["customer"]?.string }).sorted()
    }

    @Test(
        "Each kind of act that takes a ticket is found by it, with reason and ticket, and by no other one"
    )
    func acts() throws {
        let given = send(
            "POST", "customers/u1/grants", #""entitlement":"pro","for":"P1D","#, ticket: "T-give")
        let grant = try #require(try given.json["grant"]?["id"]?.string, "\(given.text)")
        #expect(
            front.submit(Sale("1", "level2", .nonConsumable, at: front.daysAgo(1))).status == 200)
        let opened = front.send("POST", "/v1/customers/u1/orders", "{}")
        let order = try #require(try opened.json["order"]?["id"]?.string)
        _ = front.notify(
            front.store.notification(
                "ONE_TIME_CHARGE", id: "n1", at: front.daysAgo(0),
                transaction: front.store.transaction(
                    Sale("9", "level2", .nonConsumable, at: front.daysAgo(1)))))
        let moved: Set = ["purchase.detached", "purchase.attached"]
        let calls: [(String, String, String, String, Set<String>)] = [
            (
                "PATCH", "customers/u1/grants/\(grant)", #""for":"P2D","#, "T-change",
                ["grant.changed"]
            ),
            ("POST", "customers/u1/purchases/apple:1/block", "", "T-block", ["purchase.blocked"]),
            (
                "POST", "customers/u1/purchases/apple:1/unblock", "", "T-unblock",
                ["purchase.unblocked"]
            ),
            (
                "POST", "customers/u1/balances/coins/adjust", #""amount":5,"#, "T-adjust",
                ["balance.adjusted"]
            ),
            ("POST", "customers/u1/purchases/apple:1/transfer", #""to":"u2","#, "T-move", moved),
            ("POST", "customers/u2/purchases/apple:1/undo_transfer", "", "T-back", moved),
            ("POST", "unclaimed/apple:9/attach", #""customer":"u3","#, "T-attach", moved),
            (
                "POST", "customers/u1/orders/\(order)/close", #""because":"cancelled","#, "T-close",
                ["order.closed"]
            ),
            (
                "POST", "customers/u1/merge", #""into":"u2","#, "T-merge",
                ["customer.merged", "customer.joined"]
            ),
            (
                "POST", "customers/u1/merge/undo", "", "T-part",
                ["customer.parted", "customer.unmerged"]
            ),
            ("DELETE", "customers/u1/grants/\(grant)", "", "T-revoke", ["grant.revoked"]),
        ]
        for (method, path, rest, ticket, _) in calls {
            let reply = send(method, path, rest, ticket: ticket)
            #expect((200..<300).contains(reply.status), "\(method) \(path): \(reply.text)")
        }
        let all = calls.map { ($0.3, $0.4) } + [("T-give", ["grant.given"])]
        for (ticket, types) in all {
            let entries = try trail(ticket)
            #expect(Set(entries.compactMap { $0["action"]?.string }) == types, "\(ticket)")
            #expect(entries.allSatisfy { $0["ticket"]?.string == ticket }, "\(ticket): \(entries)")
            #expect(entries.allSatisfy { $0["reason"] == "why" }, "\(ticket)")
            // The block came along with the merge.
            let both = ["T-block", "T-move", "T-back", "T-merge", "T-part"].contains(ticket)
            let holders = ticket == "T-attach" ? ["u3"] : both ? ["u1", "u2"] : ["u1"]
            #expect(try found(ticket) == holders, "\(ticket)")
        }
        let look = send("POST", "customers/u3/erase", #""purchases":"forget","#, ticket: "T-erase")
        let intent = try #require(try look.json["intent"]?.string, "\(look.text)")
        let erased = send(
            "POST", "customers/u3/erase", #""purchases":"forget","intent":"\#(intent)","#,
            ticket: "T-erase")
        #expect(erased.status == 200, "\(erased.text)")
        #expect(
            Set(try trail("T-erase").compactMap { $0["action"]?.string }) == ["customer.erased"])
        #expect(try found("T-attach") == [] && found("T-erase") == [])
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
                from deed.events as e where e.type = 'grant.given'))
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
        let given = send(
            "POST", "customers/u1/grants", #""entitlement":"pro","for":"P1D","#, ticket: "T")
        let grant = try #require(try given.json["grant"]?["id"]?.string, "\(given.text)")
        let count = try front.service.eventCount()
        let calls: [(String, String, String)] = [
            ("POST", "customers/u1/grants", #""entitlement":"pro","for":"P1D","#),
            ("PATCH", "customers/u1/grants/\(grant)", #""for":"P2D","#),
            ("DELETE", "customers/u1/grants/\(grant)", ""),
            ("POST", "customers/u1/purchases/apple:1/transfer", #""to":"u2","#),
            ("POST", "customers/u1/purchases/apple:1/block", ""),
            ("POST", "customers/u1/balances/coins/adjust", #""amount":5,"#),
            ("POST", "unclaimed/apple:9/attach", #""customer":"u3","#),
            ("POST", "customers/u1/orders/o/close", #""because":"cancelled","#),
            ("POST", "customers/u1/merge", #""into":"u2","#),
            ("POST", "customers/u1/merge/undo", ""),
            ("POST", "customers/u1/erase", #""purchases":"forget","#),
        ]
        for (method, path, rest) in calls {
            for ticket in ["", " ", "   "] {
                let reply = send(method, path, rest, ticket: ticket)
                #expect(
                    reply.status == 400 && reply.code == "invalid_member",
                    "\(method) \(path): \(reply.text)")
                #expect(try reply.json["member"] == "ticket", "\(method) \(path)")
            }
        }
        let query = front.send(
            "DELETE", "/v1/customers/u1/grants/\(grant)?reason=r&ticket=%20", key: front.admin)
        #expect(try query.json["member"] == "ticket")
        #expect(try front.service.eventCount() == count)
    }
}
