import API
import Core
import HTTPServer
import Service
import Telemetry
import TestSupport
import Testing

/// Tests reads while Deed cannot be sure that other instances write to the same database server.
@Suite("Certain reads")
struct CertainReadTests {
    private let service: TestService
    private let router: Router
    private let key: NewKey

    init() throws {
        service = try TestService()
        key = try service.key(.admin)
        var ports = service.ports
        ports.reading = DoubtedReading(reading: ports.reading)
        router = Router(
            UseCases(ports), service.reads, Submissions(service.intake, apps: service.apps),
            feed: service.feed, keys: service.keys,
            operations: Operations(obstacles: { [] }, metrics: Metrics()))
        // From here on, memory holds the answers and all keys.
        try service.keys.reload()
        _ = service.send("GET", "/v1/customers/u1/entitlements", key: key)
    }

    private func status(
        _ path: String, _ query: String?, _ body: String = "", after position: String? = nil
    ) -> Int {
        let request = Request(
            method: body.isEmpty ? "GET" : "POST", path: path, query: query,
            headers: [("Authorization", "Bearer \(key.text)")]
                + (position.map { [("Deed-After", $0)] } ?? []), body: Array(body.utf8))
        return router.response(to: request).response.status
    }

    @Test("Every read of a customer or an order that needs the database is refused")
    func refused() {
        let patterns = router.outlines
            .filter { $0.method == "GET" && $0.pattern.contains(/\{(customer|order)\}/) }
            .map(\.pattern)
        #expect(patterns.count > 7)
        for pattern in patterns {
            let path = pattern.replacing("{customer}", with: "u1")
                .replacing("{entitlement}", with: "pro").replacing("{order}", with: "o1")
                .replacing("{currency}", with: "coins")
            let query = pattern.hasSuffix("/explain") ? "entitlement=pro" : nil
            if pattern.contains("/entitlements") {
                #expect(status(path, nil) == 200, "\(path)")
                for query in [
                    "consistency=strong", "at=2099-01-01T00:00:00Z", "known=2020-01-01T00:00:00Z",
                    "consistency=strong&at=2099-01-01T00:00:00Z",
                    "consistency=strong&known=2020-01-01T00:00:00Z",
                ] {
                    #expect(status(path, query) == 503, "\(path)?\(query)")
                }
            } else {
                #expect(status(path, query) == 503, "\(path)")
            }
        }
    }

    @Test("A strong read that names a position in another shard is refused, and a plain one is not")
    func otherShard() throws {
        let own = try Stream.test("u1").shard
        let streams = try ["u2", "u3", "u4"].map { try Stream.test($0) }
        let other = try #require(streams.first(where: { $0.shard != own }))
        let given = try service.ledger.append(.give("pro", to: other, grant: "g1"))
        let position = given.position.description
        for part in ["", "/pro"] {
            let path = "/v1/customers/u1/entitlements\(part)"
            #expect(status(path, nil, after: position) == 200)
            #expect(status(path, "consistency=strong", after: position) == 503)
        }
    }

    @Test("A question about many is answered like plain reads, from memory or the database")
    func query() {
        #expect(status("/v1/entitlements/query", nil, #"{"customers":["u1","u2"]}"#) == 200)
    }
}

/// Reads from a server to which other instances may no longer write.
private struct DoubtedReading: CustomerReading {
    let reading: any CustomerReading

    func heads() throws(Fault) -> [Int64] { try reading.heads() }

    func customers(_ streams: [Stream]) throws(Fault) -> [Result<CustomerSnapshot, Fault>] {
        try reading.customers(streams)
    }

    func catalog(_ edition: CatalogEdition, of project: ProjectID) throws(Fault) -> Catalog {
        try reading.catalog(edition, of: project)
    }

    func requireCertainty() throws(Fault) { throw .unavailable }
}
