import Core

extension BadInputTests {
    /// Returns a cursor that no feed of this database issued.
    private static func cursor(of project: String) -> String {
        let place = [Int64](repeating: 0, count: Shard.count)
        let cursor = FeedCursor(
            place, marks: PlaceMarks(place.map { _ in 0 }), turn: 0,
            givenAt: Instant(milliseconds: 0), origin: Instant(milliseconds: 0),
            losses: AcceptedLosses([]))
        return (try? ProjectID(project)).map { cursor.text(for: $0) } ?? ""
    }

    static let feed: [BadCall] =
        [
            ("after=x", "after"), ("after=", "after"), ("after=END", "after"),
            ("after=17:4", "after"), ("after=\(cursor(of: "other"))", "after"),
            ("after=\(cursor(of: "other"))A", "after"),
            ("after=\(cursor(of: "default"))", "after"),
            ("after=\(String(repeating: "A", count: 1025))", "after"),
            ("since=yesterday", "since"), ("since=2026-01-01T00:00:00Z&after=end", "since"),
            ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"),
            ("wait=0", "wait"), ("wait=31", "wait"), ("wait=", "wait"),
            ("types=purchase.mad", "types"), ("types=", "types"), ("types=*", "types"),
            ("types=catalog.changed", "types"),
            ("customer=%24project/", "customer"), ("customer=%24unclaimed/apple:1", "customer"),
            ("customer=", "customer"), ("environment=test", "environment"), ("access=2", "access"),
        ].map { query, member in
            BadCall(
                label: "feed with \(query.prefix(40))", method: "GET",
                target: "/v1/events?\(query)",
                body: "", member: member)
        } + [
            BadCall(
                label: "feed with a misspelt parameter", method: "GET",
                target: "/v1/events?type=grant.given", body: "", code: "unknown_member",
                member: "type")
        ]
}
