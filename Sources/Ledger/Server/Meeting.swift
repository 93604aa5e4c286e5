import Core
import Crypto
import Postgres
import SQL

/// A server that a connection was made to.
struct MetServer {
    /// For people: its address, and its timeline where that is known.
    let name: String
    /// `nil` where the login may not know.
    let identity: ServerIdentity?
}

/// What a server lacks of what was seen.
struct Shortage {
    struct Shortfall {
        let shard: Shard
        let seen: Int64
        let head: Int64
    }
    let server: MetServer
    /// A later timeline of the same server that was seen.
    let laterTimeline: Int64?
    let shortfalls: [Shortfall]

    var impediment: Impediment {
        var parts: [String] = []
        if let first = shortfalls.first {
            let events = shortfalls.reduce(0) { $0 + max(1, $1.seen - $1.head) }
            let place =
                first.head < first.seen
                ? "shard \(first.shard.number) ends at \(first.head), and \(first.seen) was seen"
                : "shard \(first.shard.number) has another event at \(first.seen)"
            parts.append(
                "lacks at least \(events) \(events == 1 ? "event" : "events") that this instance has seen, "
                    + "in \(shortfalls.count) of the 64 shards (\(place))")
        }
        if let laterTimeline {
            parts.append("lacks everything since timeline \(laterTimeline) began")
        }
        return Impediment(
            .behind,
            "The PostgreSQL server at \(server.name) \(parts.joined(separator: " and ")). Deed neither reads "
                + "nor writes it. Bring back the server that has everything, and make this one its "
                + "standby. If a backup was restored, or the loss is accepted, say so with: "
                + "deed accept-log --reason '…'")
    }
}

extension Connection {
    mutating func identifiedServer() throws(LedgerError) -> MetServer {
        var identity: ServerIdentity?
        do throws(LedgerError) {
            try read([Statement.identifyServer()]) { _, rows in
                identity = ServerIdentity(
                    system: rows.text(0, 0), database: rows.text(0, 2), timeline: rows.int8(0, 1))
            }
        } catch {
            // Some hosts refuse the question; then the log alone tells.
            guard case .postgres(let reason) = error, reason.kind == .statement else { throw error }
        }
        let timeline = identity.map { " (timeline \($0.timeline))" } ?? ""
        return MetServer(name: address + timeline, identity: identity)
    }

    mutating func logRoot() throws(LedgerError) -> Digest32? {
        var root: Digest32?
        try read([Statement.findRoot()]) { _, rows in
            if rows.count > 0 { root = Digest32(bytes: rows.bytes(0, 0)) }
        }
        return root
    }

    /// What the server lacks; `nil` when it has everything.
    mutating func shortage(of seen: SeenLog, at server: MetServer) throws(LedgerError) -> Shortage?
    {
        let marks = seen.marks.values.sorted { $0.shard < $1.shard }
        let call = Statement.listShortfalls(
            .int2s(marks.map(\.shard.number)), .int8s(marks.map(\.head)),
            .byteas(marks.map(\.chain)))
        var shortfalls: [Shortage.Shortfall] = []
        try read([call]) { _, rows in
            for row in 0..<rows.count {
                shortfalls.append(
                    Shortage.Shortfall(
                        shard: Shard(number: rows.int2(row, 0)), seen: rows.int8(row, 1),
                        head: rows.int8(row, 2)))
            }
        }
        var laterTimeline: Int64?
        if let known = seen.server, let met = server.identity, met.isEarlier(than: known) {
            laterTimeline = known.timeline
        }
        if shortfalls.isEmpty, laterTimeline == nil { return nil }
        return Shortage(server: server, laterTimeline: laterTimeline, shortfalls: shortfalls)
    }

    /// Every acceptance in the log, with the instant at which it was recorded.
    mutating func acceptances() throws(LedgerError) -> [AcceptanceID: Instant] {
        var found: [AcceptanceID: Instant] = [:]
        try read([Statement.listAcceptances()]) { _, rows throws(LedgerError) in
            for row in 0..<rows.count {
                let event = try Event(type: "log.accepted", payload: rows.text(row, 0))
                guard case .logAccepted(let accepted) = event else { continue }
                let at = Instant(milliseconds: rows.int8(row, 1))
                found[accepted.acceptance] = max(at, found[accepted.acceptance] ?? at)
            }
        }
        return found
    }

    /// Where each shard ends.
    mutating func shardMarks() throws(LedgerError) -> [ShardMark] {
        var marks: [ShardMark] = []
        try read([Statement.listShards()]) { _, rows in
            for row in 0..<rows.count { marks.append(ShardMark(rows, row)) }
        }
        return marks
    }
}

extension ShardMark {
    /// Reads a row of `list_shards`.
    init(_ rows: borrowing Rows, _ row: Int) {
        self.init(
            shard: Shard(number: rows.int2(row, 0)), head: rows.int8(row, 1),
            chain: rows.bytes(row, 2))
    }
}
