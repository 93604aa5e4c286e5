package import Core
package import Crypto

/// What was seen of a log: the furthest end of each shard, and of which server.
package struct SeenLog: Hashable, Sendable {
    /// The chain of its first event, which tells it from other logs; `nil` while it has none.
    package var root: Digest32?
    package var server: ServerIdentity?
    /// The losses that were accepted by then.
    package var acceptances: Set<AcceptanceID> = []
    /// Where shards end that have events.
    package private(set) var marks: [Shard: ShardMark] = [:]

    package init() {}

    var isEmpty: Bool { marks.isEmpty }

    /// False where that was known.
    @discardableResult
    package mutating func note(_ newer: some Sequence<ShardMark>) -> Bool {
        var isNew = false
        for mark in newer where mark.head > marks[mark.shard]?.head ?? 0 {
            marks[mark.shard] = mark
            isNew = true
        }
        return isNew
    }

    /// False where that was known.
    mutating func note(_ identity: ServerIdentity?) -> Bool {
        guard let identity, identity != server else { return false }
        if let server, server.system == identity.system, server.timeline > identity.timeline {
            return false
        }
        server = identity
        return true
    }

    /// Goes on from where the log ends, after losses were accepted.
    mutating func begin(anew ends: [ShardMark], accepting accepted: Set<AcceptanceID>) {
        acceptances.formUnion(accepted)
        server = nil
        marks = [:]
        note(ends)
    }

    /// Takes in what another process has seen of the same log. Who knows of more accepted losses knows
    /// better where it ends.
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

/// A server and its history: each promotion begins a new timeline.
package struct ServerIdentity: Hashable, Sendable {
    package let system: String
    package let timeline: Int64

    package init(system: String, timeline: Int64) {
        self.system = system
        self.timeline = timeline
    }
}
