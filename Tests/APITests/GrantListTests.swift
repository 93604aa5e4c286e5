import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("Listing what support gave over the API")
struct GrantListTests {
    private let service: TestService
    private let admin: NewKey
    private let other: NewKey

    /// The grants with their tickets and reasons. Each is given a minute after the previous one.
    private static let given: [(customer: String, entitlement: String, members: String)] = [
        ("u1", "pro", #""for":"P30D","reason":"Outage of May","ticket":"T-1""#),
        ("u2", "pro", #""for":"P1D","reason":"outage of May","ticket":"T-1""#),
        ("u2", "vip", #""reason":"a friend""#),
        (
            "u1", "pro",
            #""start":"after_current","for":"P10D","reason":"sorry","ticket":"T-2""#
        ),
    ]

    init() throws {
        service = try TestService()
        admin = try service.key(.admin)
        other = try service.key(.admin)
        for (index, grant) in Self.given.enumerated() {
            let reply = service.send(
                "POST", "/v1/customers/\(grant.customer)/grants", key: index == 2 ? other : admin,
                body: #"{"entitlement":"\#(grant.entitlement)",\#(grant.members)}"#)
            #expect(reply.status == 201, "\(reply.text)")
            service.clock.advance(byMilliseconds: 60_000)
        }
    }

    private func list(_ query: String, key: NewKey? = nil) -> Reply {
        service.send("GET", "/v1/grants\(query)", key: key ?? admin)
    }

    /// Returns the indexes in `given` of the listed grants.
    private func places(_ query: String) throws -> [Int] {
        let reply = list(query)
        let grants = try #require(try reply.json["grants"]?.array, "\(reply.text)")
        return grants.compactMap { grant in
            guard let text = grant["given_at"]?.string else { return nil }
            return Int(text.dropFirst(14).prefix(2)).map { $0 - 21 }
        }
    }

    @Test(
        "Each parameter leaves out what does not fit, and the newest come first",
        arguments: [
            ("", [3, 2, 1, 0]), ("?ticket=T-1", [1, 0]), ("?ticket=T-3", []),
            ("?entitlement=vip", [2]), ("?reason=outage", [1, 0]), ("?reason=OF%20MAY", [1, 0]),
            ("?ticket=T-1&entitlement=vip", []),
            ("?from=2026-11-20T19:22:00Z", [3, 2, 1]),
            ("?from=2026-11-20T19:22:00Z&to=2026-11-20T19:24:00Z", [2, 1]),
            ("?active_at=2026-11-20T19:21:30Z", [0]),
            ("?active_at=2026-11-25T00:00:00Z", [2, 0]),
            // The waiting grant begins when the first one ends.
            ("?active_at=2026-12-20T19:21:00Z", [3, 2]),
            ("?active_at=2026-12-30T19:21:00Z", [2]),
            ("?environment=sandbox", []),
        ])
    func filters(_ query: String, _ expected: [Int]) throws {
        #expect(try places(query) == expected, "\(query)")
    }

    @Test("It can be asked who gave, and each grant tells whose it is and who gave it")
    func actors() throws {
        let grants = try #require(try list("?actor=key:\(other.key)").json["grants"]?.array)
        #expect(grants.count == 1)
        let grant = try #require(grants.first)
        #expect(grant["customer"]?.string == "u2")
        #expect(grant["given_by"]?.string == "key:\(other.key)")
        #expect(grant["entitlement"]?.string == "vip")
        #expect(grant["active"]?.bool == true)
        #expect(grant["end"]?.isNull == true)
    }

    @Test("What was changed or revoked since reads as it is now")
    func changed() throws {
        let id = try #require(
            try list("?ticket=T-1").json["grants"]?.array?.last?["id"]?.string)
        let path = "/v1/customers/u1/grants/\(id)"
        #expect(
            service.send("PATCH", path, key: admin, body: #"{"for":"P2D","reason":"r"}"#).status
                == 200)
        #expect(try places("?active_at=2026-11-22T19:20:00Z") == [2, 0])
        // The waiting grant now begins earlier.
        #expect(try places("?active_at=2026-11-22T19:21:00Z") == [3, 2])
        #expect(service.send("DELETE", path, key: admin, body: #"{"reason":"r"}"#).status == 200)
        let revoked = try list("?ticket=T-1").json["grants"]?.array?.last
        #expect(revoked?["revoked_at"]?.string == "2026-11-20T19:25:00.000Z")
        #expect(revoked?["active"]?.bool == false)
    }

    @Test("Pages follow each other without a gap", arguments: [1, 2, 3, 4])
    func pages(size: Int) throws {
        var (found, query): ([String], String?) = ([], "?limit=\(size)")
        while let asked = query {
            let page = try list(asked).json
            found += (page["grants"]?.array ?? []).compactMap { $0["id"]?.string }
            query = page["next"]?.string.map { "?limit=\(size)&after=\($0)" }
            if found.count > 10 { break }
        }
        let all = (try list("").json["grants"]?.array ?? []).compactMap { $0["id"]?.string }
        #expect(found == all)
    }

    @Test("A page looks through 20,000 grants at most, and the next one continues after them")
    func bounded() throws {
        try service.database.run(
            """
            insert into deed.customer_grants (shard, project, environment, customer, grant_id,
                entitlement, starts_at, reason, ticket, given_at, given_by)
            select n % 64, 'default', 'production', 'x' || n, 'g_x' || n, 'other', 0, 'r', 'T-1',
                4000000000000 + n, 'a'
            from generate_series(1, 20001) as n
            """)
        for query in ["?entitlement=vip", "?ticket=T-1&entitlement=pro"] {
            let first = try list(query).json
            #expect(first["grants"]?.array?.isEmpty == true)
            let next = try #require(first["next"]?.string)
            #expect(try places("\(query)&after=\(next)").isEmpty == false, "\(query)")
        }
    }

    @Test(
        "A parameter that asks for nothing sensible is refused by name",
        arguments: [
            ("?ticket=", "ticket"), ("?reason=%20", "reason"), ("?from=today", "from"),
            ("?from=2026-11-20T19:22:00Z&to=2026-11-20T19:22:00Z", "to"), ("?after=x", "after"),
            ("?active_at=now", "active_at"), ("?limit=1001", "limit"),
            ("?environment=moon", "environment"), ("?actor=%01", "actor"),
        ])
    func refused(_ query: String, _ member: String) throws {
        let reply = list(query)
        #expect(reply.status == 400)
        #expect(try reply.json["member"]?.string == member)
    }

    @Test("Other projects' grants are not in it, nor may weaker keys ask")
    func others() throws {
        try service.createProject("second")
        let key = try service.key(.admin, project: "second")
        #expect(try list("", key: key).json["grants"]?.array?.isEmpty == true)
        for role in [Role.reader, .backend] {
            #expect(list("", key: try service.key(role)).status == 403)
        }
    }
}
