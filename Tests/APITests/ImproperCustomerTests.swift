import Core
import Service
import TestSupport
import Testing

@Suite("Customers whose old ids are improper, over the API")
struct ImproperCustomerTests {
    private let front: Storefront

    init() throws {
        front = try Storefront()
    }

    private static let grant = #""entitlement":"pro","reason":"outage""#

    private func grant(_ environment: Environment, to customer: String) -> Reply {
        front.send(
            "POST", "/v1/customers/\(customer)/grants",
            #"{\#(Self.grant),"environment":"\#(environment.rawValue)"}"#, key: front.admin)
    }

    /// Creates a customer with an unusual id, as in a release that accepted any id.
    private func makeOld(_ odd: String, in environment: Environment) throws {
        func stream(_ customer: String) throws -> Stream {
            Stream(
                project: try ProjectID("default"), environment: environment,
                customer: try CustomerID(customer))
        }
        let shard = try stream(odd).shard
        let twin = try #require(
            try (0...).lazy.map { "u\($0)" }.first { try stream($0).shard == shard })
        #expect(grant(environment, to: twin).status == 201)
        try front.service.database.run(
            """
            alter table deed.events disable trigger all;
            update deed.events set customer = '\(odd)' where customer = '\(twin)'
            """)
    }

    @Test(
        "A customer with an improper id that one environment knows is known in the other",
        arguments: [Environment.production, .sandbox])
    func known(_ environment: Environment) throws {
        let other: Environment = environment == .production ? .sandbox : .production
        let refused = grant(other, to: "old%E2%80%8Bone")
        #expect(refused.status == 400 && refused.code == "id_improper")
        try makeOld("old\u{200B}one", in: environment)
        #expect(grant(environment, to: "old%E2%80%8Bone").status == 201)
        let reply = grant(other, to: "old%E2%80%8Bone")
        #expect(reply.status == 201, "\(reply.text)")
        #expect(grant(other, to: "new%E2%80%8Bone").code == "id_improper")
    }
}
