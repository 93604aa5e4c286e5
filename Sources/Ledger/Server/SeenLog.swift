package import Core
package import Crypto

/// What has been seen of a log: the furthest end of each shard, and the server.
package struct SeenLog: Hashable, Sendable {
    /// The chain of a first event of the log, which identifies the log; `nil` while the log is empty.
    package var root: Digest32?
    package var server: ServerIdentity?
    /// Losses that have been accepted so far.
    package var acceptances: Set<AcceptanceID> = []
    /// The ends of the shards that contain events.
    package private(set) var marks: [Shard: ShardMark] = [:]

    package init() {}

    var isEmpty: Bool { marks.isEmpty }

    /// Records these marks. Returns false if nothing is new.
    @discardableResult
    package mutating func note(_ newer: some Sequence<ShardMark>) -> Bool {
        var isNew = false
        for mark in newer where mark.head > marks[mark.shard]?.head ?? 0 {
            marks[mark.shard] = mark
            isNew = true
        }
        return isNew
    }

    /// Returns false if the identity was already known.
    mutating func note(_ identity: ServerIdentity?) -> Bool {
        guard let identity, identity != server else { return false }
        if let server, identity.isEarlier(than: server) { return false }
        server = identity
        return true
    }

    /// Starts over at the log's end after losses were accepted. Returns false if those losses were already known.
    mutating func begin(
        anew ends: [ShardMark], at identity: ServerIdentity?, accepting accepted: Set<AcceptanceID>
    ) -> Bool {
        if accepted.isSubset(of: acceptances) { return false }
        acceptances.formUnion(accepted)
        server = identity
        marks = [:]
        note(ends)
        return true
    }

    /// Merges what another process has seen of the same log in the same database. The process that
    /// knows of more accepted losses has the current history.
    package mutating func merge(_ other: SeenLog) {
        if acceptances.isStrictSuperset(of: other.acceptances) { return }
        if acceptances.isStrictSubset(of: other.acceptances) {
            self = other
            return
        }
        acceptances.formUnion(other.acceptances)
        note(other.marks.values)
        _ = note(other.server)
    }
}

/// Identifies a database in a cluster, and the cluster's history. Each promotion starts a new timeline.
package struct ServerIdentity: Hashable, Sendable {
    package let system: String
    package let database: String
    package let timeline: Int64

    package init(system: String, database: String, timeline: Int64) {
        self.system = system
        self.database = database
        self.timeline = timeline
    }

    /// Returns whether this identity is the other one before a promotion.
    func isEarlier(than other: ServerIdentity) -> Bool {
        system == other.system && timeline < other.timeline
    }
}
