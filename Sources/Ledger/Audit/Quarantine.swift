package import Core
import Postgres
import SQL

/// An event that was quarantined because it lies beyond the shard's head.
package struct QuarantinedEvent: Hashable, Sendable {
    /// The event's shard and position, such as `17:48213`.
    package let place: String
    package let customer: String
    package let type: String
}

extension Auditor {
    /// Moves every event beyond its shard's head into `deed.quarantined_events`, with the head and
    /// the instant. This needs the schema owner's rights. Writers wait until the move is done.
    package func quarantine(at now: Instant) throws(LedgerError) -> [QuarantinedEvent] {
        try link.settled { connection throws(LedgerError) in
            var moved: [QuarantinedEvent] = []
            let calls = [
                Statement.begin(),
                Statement.lockShards(
                    .int2s(Shard.all.map(\.number)), .int8s(StateCache.noHeads)),
                Statement.quarantineEvents(.int8(now.milliseconds)), Statement.commit(),
            ]
            try connection.read(calls) { index, rows in
                if index != 2 { return }
                for row in 0..<rows.count {
                    moved.append(
                        QuarantinedEvent(
                            place: "\(rows.int2(row, 0)):\(rows.int8(row, 1))",
                            customer: rows.text(row, 2), type: rows.text(row, 3)))
                }
            }
            return moved
        }
    }
}
