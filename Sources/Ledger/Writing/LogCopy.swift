package import Core
import Crypto
import Postgres
import SQL

/// Writes many new customers' rows as text for COPY: events with their chain, and projected rows. Measurements use it
/// to fill databases. No other process may write in the meantime.
package struct LogCopy {
    private var batch: Batch
    private let project: ProjectID

    /// Creates a copy that continues at the end of a project's log.
    package init(_ ledger: Ledger, _ project: ProjectID, now: Instant) throws(Fault) {
        self.project = project
        let heads = try ledger.shardHeads()
        batch = Batch(now: now, heads: heads, holders: Holders(asking: []))
        let stream = Stream.ofProject(project)
        var fold = Fold(emptyFor: stream)
        for entry in try ledger.events(of: stream, after: 0, limit: 10_000) {
            fold.apply(entry.recorded, causeDigest: [])
        }
        fold.supply(try ledger.project(project).catalog)
        batch.load(fold, of: stream)
    }

    /// Adds a customer whose first event is this grant.
    package mutating func add(
        _ given: GrantGiven, to customer: CustomerID,
        by actor: Actor = Actor(prefix: "deed:", random: "copy")
    ) {
        let stream = Stream(project: project, environment: .production, customer: customer)
        batch.load(Fold(emptyFor: stream), of: stream)
        let text = "copy:\(given.grant)"
        batch.append(
            .grantGiven(given), to: stream,
            because: EventCause(
                actor: actor, text: text,
                digest: SHA256.digest(Array(text.utf8)).bytes, index: 0, evidence: nil))
    }

    /// Returns and clears the rows added since the last call. Later rows are recorded at `now`.
    package mutating func take(
        next now: Instant
    ) -> (events: String, customers: String, grants: String) {
        let calls = batch.copied
        batch = batch.continued(of: project, at: now)
        func text(_ statement: Statement) -> String {
            calls.first { $0.statement.name == statement.name }?.copyText ?? ""
        }
        return (
            text(.insertEvents), text(Table.customers.statements.write),
            text(Table.grants.statements.write)
        )
    }

    /// Each shard's head after all additions.
    package var heads: [(shard: Int16, sequence: Int64, chain: String, recordedAt: Int64)] {
        batch.heads.sorted { $0.key < $1.key }.map { shard, head in
            (shard.number, head.sequence, head.chain.hex, head.recordedAt.milliseconds)
        }
    }
}

extension Batch {
    /// The calls that would write the batch.
    fileprivate var copied: [Call] { writes(with: EvidenceRows([], besides: FiledCertificates())) }

    /// Returns an empty batch that continues after this one.
    fileprivate func continued(of project: ProjectID, at now: Instant) -> Batch {
        var next = Batch(now: now, heads: heads, holders: Holders(asking: []))
        let stream = Stream.ofProject(project)
        if let fold = folds[stream] { next.load(fold, of: stream) }
        return next
    }
}

extension Call {
    /// The batch's rows in COPY's text format, collected from the arrays of the call.
    fileprivate var copyText: String {
        let columns = binds.map(\.texts)
        var text: [UInt8] = []
        for row in 0..<(columns.first?.count ?? 0) {
            for (place, column) in columns.enumerated() {
                if place > 0 { text.append(UInt8(ascii: "\t")) }
                append(column[row], to: &text)
            }
            text.append(UInt8(ascii: "\n"))
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func append(_ value: String?, to text: inout [UInt8]) {
        guard let value else {
            return text.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "N")])
        }
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): text.append(contentsOf: [byte, byte])
            case UInt8(ascii: "\t"):
                text.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
            case UInt8(ascii: "\n"):
                text.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
            case UInt8(ascii: "\r"):
                text.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "r")])
            default: text.append(byte)
            }
        }
    }
}

extension Bind {
    fileprivate var texts: [String?] {
        switch self {
        case .texts(let texts): texts
        case .int8s(let numbers): numbers.map { String($0) }
        case .optionalInt8s(let numbers): numbers.map { $0.map { String($0) } }
        case .int2s(let numbers): numbers.map { String($0) }
        case .byteas(let values): values.map { $0.map { "\\x" + $0.hex } }
        case .bools(let flags): flags.map { $0.map { String($0) } }
        case .text, .int8, .int2, .bytea, .bool: []
        }
    }
}
