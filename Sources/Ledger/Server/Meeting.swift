import Core
import Crypto
import Postgres
import SQL

/// A server that a connection has reached.
struct MetServer {
    /// The server's address and, if known, its timeline, in readable form.
    let name: String
    /// `nil` if the login is not allowed to read it.
    let identity: ServerIdentity?
}

/// The part of the log that a server lacks.
struct Shortage {
    struct Shortfall {
        let mark: ShardMark
        /// The shard's end on this server.
        let head: Int64
        /// The number of losses accepted when another instance noted the shortfall; `nil` if this
        /// instance saw it itself.
        let acceptances: Int64?
    }
    let server: MetServer
    /// A later timeline of this server that this instance has seen.
    let laterTimeline: Int64?
    /// The missing ends that this instance has seen itself.
    let own: [Shortfall]
    /// The missing ends that other instances noted in the database.
    let noted: [Shortfall]

    /// Whether there is evidence besides the notes of other instances.
    var isOwn: Bool { !own.isEmpty || laterTimeline != nil }

    /// Returns the shortfalls that other instances noted after this number of losses had been accepted.
    func stopping(after acceptances: Int) -> [Shortfall] {
        noted.filter { ($0.acceptances ?? 0) >= Int64(acceptances) }
    }

    /// Returns what prevents writes, including other instances' notes that stop this one.
    func impediment(_ stopping: [Shortfall]) -> Impediment {
        var parts: [String] = []
        let furthest = (own + stopping).reduce(into: [Shard: Shortfall]()) { furthest, one in
            let known = furthest[one.mark.shard]?.mark.head ?? 0
            if one.mark.head > known { furthest[one.mark.shard] = one }
        }
        let shortfalls = furthest.values.sorted { $0.mark.shard < $1.mark.shard }
        if let first = shortfalls.first {
            let events = shortfalls.reduce(0) { $0 + max(1, $1.mark.head - $1.head) }
            let place =
                first.head < first.mark.head
                ? "shard \(first.mark.shard.number) ends at \(first.head), but \(first.mark.head) was seen"
                : "shard \(first.mark.shard.number) has another event at \(first.mark.head)"
            let isAllOwn = shortfalls.allSatisfy { $0.acceptances == nil }
            let others = own.isEmpty ? "another instance has" : "instances have"
            let who = isAllOwn ? "this instance has" : others
            parts.append(
                "lacks at least \(events) \(events == 1 ? "event" : "events") that \(who) seen, "
                    + "in \(shortfalls.count) of the 64 shards (\(place))")
        }
        if let laterTimeline {
            parts.append("lacks everything since timeline \(laterTimeline) began")
        }
        return Impediment(
            .behind,
            "The PostgreSQL server at \(server.name) \(parts.joined(separator: " and ")). Deed neither reads "
                + "nor writes that server. Bring back the server that has everything, and make this one its "
                + "standby.", remedy: .acceptLoss)
    }
}

extension Connection {
    mutating func identifiedServer() throws(LedgerError) -> MetServer {
        var identity: ServerIdentity?
        do throws(LedgerError) {
            identity = try list(Statement.identifyServer()) { rows, row in
                ServerIdentity(
                    system: rows.text(row, 0), database: rows.text(row, 2),
                    timeline: rows.int8(row, 1))
            }.first
        } catch {
            // Some hosting services refuse this query. Only the log can then show a difference.
            guard case .postgres(let reason) = error, reason.kind == .statement else { throw error }
        }
        let timeline = identity.map { " (timeline \($0.timeline))" } ?? ""
        return MetServer(name: address + timeline, identity: identity)
    }

    /// Returns the chains that identify the log, the most likely one first; empty while the log is empty.
    mutating func logRoots() throws(LedgerError) -> [Digest32] {
        try list(Statement.findRoots()) { rows, row in rows.bytes(row, 0) }
            .compactMap { Digest32(bytes: $0) }
    }

    /// Returns the part of the log that the server lacks, including what other instances noted; `nil` if it lacks
    /// nothing.
    mutating func shortage(of seen: SeenLog, at server: MetServer) throws(LedgerError) -> Shortage?
    {
        let marks = seen.marks.values.sorted { $0.shard < $1.shard }
        let call = Statement.listShortfalls(
            .int2s(marks.map(\.shard.number)), .int8s(marks.map(\.head)),
            .byteas(marks.map(\.chain)))
        let shortfalls = try list(call) { rows, row in
            Shortage.Shortfall(
                mark: ShardMark(rows, row), head: rows.int8(row, 3),
                acceptances: rows.optionalInt8(row, 4))
        }
        var laterTimeline: Int64?
        if let known = seen.server, let met = server.identity, met.isEarlier(than: known) {
            laterTimeline = known.timeline
        }
        if shortfalls.isEmpty, laterTimeline == nil { return nil }
        return Shortage(
            server: server, laterTimeline: laterTimeline,
            own: shortfalls.filter { $0.acceptances == nil },
            noted: shortfalls.filter { $0.acceptances != nil })
    }

    /// Returns every acceptance in the log, with the time at which it was recorded.
    mutating func acceptances() throws(LedgerError) -> [AcceptanceID: Instant] {
        var found: [AcceptanceID: Instant] = [:]
        try read([Statement.listAcceptances()]) { _, rows throws(LedgerError) in
            for row in 0..<rows.count {
                let event = try Event(
                    type: "log.accepted", format: rows.int2(row, 0), payload: rows.text(row, 1))
                guard case .logAccepted(let accepted) = event else { continue }
                let at = Instant(milliseconds: rows.int8(row, 2))
                found[accepted.acceptance] = max(at, found[accepted.acceptance] ?? at)
            }
        }
        return found
    }

    /// Returns where each shard ends.
    mutating func shardMarks() throws(LedgerError) -> [ShardMark] {
        try list(Statement.listShards()) { rows, row in ShardMark(rows, row) }
    }
}

extension ShardMark {
    /// Reads a row of `list_shards`, or of a query that starts with the same columns.
    init(_ rows: borrowing Rows, _ row: Int) {
        self.init(
            shard: Shard(number: rows.int2(row, 0)), head: rows.int8(row, 1),
            chain: rows.bytes(row, 2))
    }
}
