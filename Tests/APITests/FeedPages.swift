import Core
import JSON
import Service
import TestSupport
import Testing

/// A page of the feed as a reader sees it.
struct FeedReply {
    let events: [JSON]
    let next: String
    let isMore: Bool
    let lag: Int64

    init(_ reply: Reply) throws {
        try #require(reply.status == 200, "\(reply.text)")
        events = try #require(try reply.json["events"]?.array)
        next = try #require(try reply.json["next"]?.string)
        isMore = try reply.json["more"] == true
        lag = try #require(reply.header("Deed-Lag").flatMap { Int64($0) })
        #expect(next.utf8.count <= FeedCursor.lengthLimit)
        #expect(isMore == (lag > 0))
    }
}

extension JSON {
    var id: String { self["id"]?.string ?? "" }
    var type: String { self["type"]?.string ?? "" }
    var customer: String { self["customer"]?.string ?? "" }
    /// The changes, such as `pro started`.
    var changes: [String] {
        (self["access"]?.array ?? []).map {
            "\($0["entitlement"]?.string ?? "") \($0["change"]?.string ?? "")"
        }
    }
}

extension TestService {
    func feed(_ query: String = "", key: NewKey) throws -> FeedReply {
        try FeedReply(send("GET", "/v1/events?\(query)", key: key))
    }

    /// Returns all pages from a position to the end of the log.
    func wholeFeed(_ query: String = "", after: String? = nil, key: NewKey) throws -> [JSON] {
        var events: [JSON] = []
        var next = after
        while true {
            let place = next.map { "&after=\($0)" } ?? ""
            let page = try feed(query + place, key: key)
            events += page.events
            next = page.next
            if !page.isMore { return events }
        }
    }
}
