import Auditing
package import Core
import Crypto

/// Where a shard ends, either now or when the mark was made.
package struct ShardMark: Hashable, Sendable {
    package let shard: Shard
    package let head: Int64
    package let chain: [UInt8]

    package init(shard: Shard, head: Int64, chain: [UInt8]) {
        self.shard = shard
        self.head = head
        self.chain = chain
    }

    package static func start(of shard: Shard) -> ShardMark {
        ShardMark(shard: shard, head: 0, chain: [UInt8](repeating: 0, count: 32))
    }
}

/// Walks a shard's events up to its head and records each event that does not continue the chain. After a finding, the
/// walk continues with the recorded chain, so that one change causes only one finding.
struct ChainWalk {
    private let head: ShardMark
    private let recordedAt: Int64
    private(set) var findings = AuditFindings()
    private(set) var sequence: Int64
    /// The chain so far; `nil` after a gap.
    private var chain: [UInt8]?
    private var lastRecordedAt: Int64?
    /// An event whose own chain or header was changed. Only the next event shows which one it was.
    private var doubted: (row: LoggedRow, expected: [UInt8])?
    /// The first emptied event of each stream, until the customer's erasure follows.
    private var emptied: [String: Int64] = [:]

    init(from start: ShardMark, to head: ShardMark, recordedAt: Int64) {
        self.head = head
        self.recordedAt = recordedAt
        sequence = start.head
        chain = start.chain
    }

    mutating func step(_ row: LoggedRow) {
        if row.sequence != sequence + 1 {
            settleDoubt(nextFits: nil)
            add(sequence + 1, "seq", "an event", "none before position \(row.sequence)")
            chain = nil
        }
        sequence = row.sequence
        note(row)
        if let chain {
            compare(row, after: chain)
        } else if row.payloadDigest != row.digest {
            add(row.sequence, "payload", "SHA-256 \(row.digest.hex)", "other bytes")
        }
        chain = row.chain
        lastRecordedAt = row.header.recordedAt
    }

    private mutating func compare(_ row: LoggedRow, after previous: [UInt8]) {
        let digest = row.payloadDigest
        let stored = ChainLink.chain(after: previous, row.header, digest: row.digest).bytes
        var fits = stored == row.chain
        if let doubted {
            let other = ChainLink.chain(after: doubted.expected, row.header, digest: row.digest)
            let fitsOther = other.bytes == row.chain
            settleDoubt(nextFits: fitsOther ? doubted.expected : nil)
            fits = fits || fitsOther
        }
        if fits {
            if digest != row.digest {
                add(row.sequence, "payload", "SHA-256 \(row.digest.hex)", "SHA-256 \(digest.hex)")
            }
            return
        }
        let computed = ChainLink.chain(after: previous, row.header, digest: digest).bytes
        if computed == row.chain {
            add(row.sequence, "digest", digest.hex, row.digest.hex)
        } else {
            doubted = (row, stored)
        }
    }

    /// Records emptied events and erasures. An emptied event is correct if the customer was erased later.
    private mutating func note(_ row: LoggedRow) {
        if row.isEmptied {
            if emptied[row.streamText] == nil { emptied[row.streamText] = row.sequence }
        } else if row.header.type == EventType.customerErased.name {
            emptied[row.streamText] = nil
        }
    }

    /// Determines whether the doubted event's chain or header was changed. It was the chain if the next event continues
    /// the expected chain.
    private mutating func settleDoubt(nextFits expected: [UInt8]?) {
        guard let (row, computed) = doubted else { return }
        doubted = nil
        if let expected {
            add(row.sequence, "chain", expected.hex, row.chain.hex)
            if row.sequence == sequence { chain = expected }
            return
        }
        let isForeign = row.shardOfNames != head.shard
        add(
            row.sequence, "header", "columns that give the chain \(row.chain.hex)",
            "columns that give \(computed.hex)"
                + (isForeign ? "; \(row.streamText) belongs to another shard" : ""))
    }

    /// Adds the findings that remain after the last event.
    mutating func finish() {
        for sequence in emptied.values.sorted() {
            add(sequence, "payload", "the event's content", "none, and no erasure of the customer")
        }
        settleDoubt(nextFits: doubted.flatMap { $0.expected == head.chain ? $0.expected : nil })
        if sequence < head.head, chain == head.chain {
            findings.add(
                AuditFinding(
                    head: head.shard, column: "head", expected: "\(sequence), the last event",
                    found: "\(head.head)"))
        } else if sequence < head.head {
            add(sequence + 1, "seq", "events up to the head \(head.head)", "none")
        } else if let chain, chain != head.chain {
            findings.add(
                AuditFinding(
                    head: head.shard, column: "chain", expected: chain.hex,
                    found: head.chain.hex))
        } else if let lastRecordedAt, lastRecordedAt != recordedAt {
            findings.add(
                AuditFinding(
                    head: head.shard, column: "recorded_at", expected: "\(lastRecordedAt)",
                    found: "\(recordedAt)"))
        }
    }

    private mutating func add(
        _ sequence: Int64, _ column: String, _ expected: String, _ found: String
    ) {
        findings.add(
            AuditFinding(
                at: Position(shard: head.shard, sequence: sequence), column: column,
                expected: expected, found: found))
    }
}

extension LoggedRow {
    fileprivate var isEmptied: Bool {
        payload.isEmpty && EventType(named: header.type)?.mayBeEmptied == true
    }

    /// The digest that the payload should have. For an emptied event, only the recorded digest is known.
    fileprivate var payloadDigest: [UInt8] {
        isEmptied ? digest : SHA256.digest(Array(payload.utf8)).bytes
    }

    /// The event's stream in readable form.
    var streamText: String {
        "\(header.project), \(header.environment), \(quoted(header.customer))"
    }
}

/// Quotes a string for display in a finding.
func quoted(_ text: String) -> String { "'\(text)'" }
