import Core
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@Suite("Keys and projects over the API")
struct KeyTests {
    private let service: TestService

    init() throws {
        service = try TestService()
    }

    @Test("A new key works at once, even for many concurrent callers")
    func newKey() throws {
        let key = try service.key(.reader)
        let statuses = Mutex<[Int]>([])
        inParallel(64) { [service] _ in
            let reply = service.send("GET", "/v1/customers/u1/entitlements", key: key)
            statuses.withLock { $0.append(reply.status) }
        }
        #expect(statuses.withLock { $0 } == [Int](repeating: 200, count: 64))
    }

    @Test("A revoked key stops working once the ring is read again; its twin still works")
    func revokedKey() throws {
        let (revoked, twin) = (try service.key(.admin), try service.key(.admin))
        #expect(read("u1", revoked).status == 200)
        try service.revoke(revoked)
        #expect(read("u1", revoked).status == 401)
        #expect(read("u1", twin).status == 200)
    }

    @Test("Unknown keys cause only a limited number of database lookups per second")
    func unknownKeys() throws {
        for _ in 0..<100 {
            let reply = service.send(
                "GET", "/v1/customers/u1/entitlements", headers: [("Authorization", "Bearer x")])
            #expect(reply.status == 401)
        }
        // Deed has used up its lookups of keys. Half a second later, it may look up one more.
        let key = try service.key(.reader)
        #expect(read("u1", key).status == 401)
        service.clock.advance(byMilliseconds: 500)
        #expect(read("u1", key).status == 200)
    }

    @Test("The scheme's name may be written in any case")
    func scheme() throws {
        let key = try service.key(.reader)
        for scheme in ["Bearer", "bearer", "BEARER"] {
            let reply = service.send(
                "GET", "/v1/customers/u1/entitlements",
                headers: [("Authorization", "\(scheme) \(key.text)")])
            #expect(reply.status == 200)
        }
    }

    @Test("Two projects cannot see each other's customers, grants and keys")
    func isolation() throws {
        try service.createProject("other")
        let (mine, others) = (try service.key(.admin), try service.key(.admin, project: "other"))
        let path = "/v1/customers/u1"
        let body = #"{"entitlement":"pro","reason":"r"}"#
        let key = [("Idempotency-Key", "k")]
        let given = service.send("POST", "\(path)/grants", key: mine, headers: key, body: body)
        let grant = try #require(try given.json["grant"]?["id"]?.string)
        #expect(try read("u1", others).json["entitlements"]?.object?.isEmpty == true)
        #expect(
            try service.send("GET", "\(path)/events", key: others).json["events"]?.array == [])
        let revoked = service.send(
            "DELETE", "\(path)/grants/\(grant)", key: others, body: #"{"reason":"r"}"#)
        #expect(revoked.status == 404)
        let twin = service.send("POST", "\(path)/grants", key: others, headers: key, body: body)
        #expect(twin.status == 201)
        #expect(twin.text != given.text)
        #expect(
            try read("u1", mine).json["entitlements"]?["pro"]?["grant"]?.string == grant)
    }

    @Test("The event names the key that caused it")
    func actor() throws {
        let key = try service.key(.admin)
        _ = service.send(
            "POST", "/v1/customers/u1/grants", key: key,
            headers: [("Idempotency-Key", "order 7")],
            body: #"{"entitlement":"pro","reason":"r"}"#)
        let reply = service.send("GET", "/v1/customers/u1/events", key: key)
        let event = try #require(try reply.json["events"]?.array?.first)
        #expect(event["actor"]?.string == "key:\(key.key)")
        #expect(event["cause"]?.string == "key:order 7")
    }

    private func read(_ customer: String, _ key: NewKey) -> Reply {
        service.send("GET", "/v1/customers/\(customer)/entitlements", key: key)
    }
}
