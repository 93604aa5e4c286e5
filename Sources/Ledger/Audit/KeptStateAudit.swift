import Auditing
import Core
import Postgres
import SQL

/// A kept state as found by an audit.
struct FoundState {
    let version: Int64
    /// The SHA-256 of the state's content.
    let content: [UInt8]
    let digest: [UInt8]
    /// Whether the log contains the event after which the state was kept.
    let isOfLog: Bool

    /// Returns the first fault found in the kept state, if any. `state` is the result of folding the events up to its
    /// version.
    func finding(_ stream: Stream, _ row: String, by state: CustomerState?) -> AuditFinding? {
        func finding(_ column: String, _ expected: String, _ found: String) -> AuditFinding {
            AuditFinding(
                "deed.kept_states", row, shard: stream.shard, column: column, expected: expected,
                found: found)
        }
        guard isOfLog, let state else {
            return finding("chain", "an event of this log", "version \(version) of another one")
        }
        if digest != KeptState.digest(ofContent: content, stream, version: version) {
            return finding("digest", "the digest of the row's content", "another one")
        }
        if content != KeptState.contentDigest(of: state) {
            return finding("content", "the state after the event \(version)", "another one")
        }
        return nil
    }
}

extension Connection {
    /// Returns the kept states of these streams that this release is able to read.
    mutating func foundStates(of streams: [Stream]) throws(LedgerError) -> [Stream: FoundState] {
        var found: [Stream: FoundState] = [:]
        let call = Statement.readKeptStates(streams, .int2(KeptState.number))
        try read([call]) { _, rows throws(LedgerError) in
            for row in 0..<rows.count {
                let stream = try Stream(
                    project: rows.text(row, 0), environment: rows.text(row, 1),
                    customer: rows.text(row, 2))
                found[stream] = FoundState(
                    version: rows.int8(row, 3), content: rows.bytes(row, 4),
                    digest: rows.bytes(row, 5), isOfLog: rows.bool(row, 6))
            }
        }
        return found
    }
}
