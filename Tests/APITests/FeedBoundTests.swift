import Core
import JSON
import Service
import TestSupport
import Testing

@Suite("How much of the log one call of the feed reads", .timeLimit(.minutes(20)))
struct FeedBoundTests {
    private let service: TestService
    private let key: NewKey

    init() throws {
        service = try TestService()
        key = try service.key(.admin)
    }

    private func give(_ entitlement: String, to customer: String) {
        let reply = service.send(
            "POST", "/v1/customers/\(customer)/grants", key: key,
            body: #"{"entitlement":"\#(entitlement)","reason":"r","allow_unknown":true}"#)
        #expect(reply.status == 201, "\(reply.text)")
    }

    /// Inserts many copies of the customer's only event. The feed trusts the log and does not verify hash chains.
    private func repeatEvent(of customer: String, times: Int) throws {
        try service.database.run(
            """
            insert into deed.events
            select shard, seq + n, project, environment, customer, version + n, type, payload, digest,
                chain, occurred_at, recorded_at, actor, cause || n, cause_index,
                sha256(convert_to(cause || n, 'UTF8')), catalog_version, evidence, format
            from deed.events, generate_series(1, \(times)) as n where customer = '\(customer)';
            update deed.shards set head = head + \(times)
            where shard = (select shard from deed.events where customer = '\(customer)' limit 1);
            """)
    }

    @Test("A call that wants none of 25,000 events reads 20,000, and says that there are more")
    func bounded() throws {
        give("pro", to: "busy")
        try repeatEvent(of: "busy", times: 24_999)
        let first = try service.feed("types=grant.revoked&limit=1000", key: key)
        #expect(first.events.isEmpty && first.isMore)
        #expect((5000...6000).contains(first.lag), "\(first.lag)")
        let second = try service.feed("types=grant.revoked&after=\(first.next)", key: key)
        #expect(second.events.isEmpty && !second.isMore && second.lag == 0)
        give("vip", to: "later")
        let third = try service.feed("types=grant.*&after=\(second.next)", key: key)
        #expect(third.events.map(\.customer) == ["later"])
    }

    @Test("A filter that finds one event behind many unwanted ones gets to it page by page")
    func sparse() throws {
        give("pro", to: "busy")
        try repeatEvent(of: "busy", times: 24_999)
        give("rare", to: "u2")
        let found = try service.wholeFeed("customer=u2&access=0", key: key)
        #expect(found.map(\.customer) == ["u2"])
        let among = try service.wholeFeed("access=0&limit=1000", key: key)
        #expect(among.count == 25_001 && Set(among.map(\.id)).count == 25_001)
    }

    @Test("A future instant as the start is the log's present end")
    func future() throws {
        give("pro", to: "u1")
        let later = service.clock.now.advanced(byMilliseconds: 3_600_000)
        let start = try service.feed("since=\(later.text)", key: key)
        #expect(start.events.isEmpty && !start.isMore)
        give("vip", to: "u1")
        let page = try service.feed("after=\(start.next)", key: key)
        #expect(page.events.compactMap { $0["data"]?["entitlement"]?.string } == ["vip"])
    }
}
