import Core
import Crypto

/// Links each event of a shard to all earlier ones: SHA-256 over the previous chain, the event's
/// header and its payload's digest. `docs/ledger.md` has the exact bytes.
struct ChainLink {
    let digest: Digest32
    let chain: Digest32

    init(after previous: [UInt8], header: EventHeader, payload: String) {
        digest = SHA256.digest(Array(payload.utf8))
        chain = ChainLink.chain(after: previous, header.columns, digest: digest.bytes)
    }

    static func chain(
        after previous: [UInt8], _ header: HeaderColumns, digest: [UInt8]
    ) -> Digest32 {
        var bytes = previous
        bytes.reserveCapacity(640)
        header.append(to: &bytes)
        bytes.append(contentsOf: digest)
        return SHA256.digest(bytes)
    }
}

/// The columns that the chain covers in addition to the payload.
struct EventHeader {
    let position: Position
    let stream: Stream
    let version: Int64
    let type: String
    let format: Int16
    let record: EventRecord
    let causeIndex: Int16
    let causeDigest: [UInt8]
    /// The digest of the evidence on which the event is based.
    let evidence: [UInt8]?

    var columns: HeaderColumns {
        HeaderColumns(
            shard: Int64(position.shard.number), sequence: position.sequence,
            project: stream.project.text, environment: stream.environment.rawValue,
            customer: stream.customer.text, version: version, type: type,
            format: Int64(format), occurredAt: record.occurredAt.milliseconds,
            recordedAt: record.recordedAt.milliseconds, actor: record.actor.text,
            cause: record.cause, causeIndex: Int64(causeIndex),
            causeDigest: causeDigest, catalogVersion: record.catalogVersion, evidence: evidence)
    }
}

/// The header as stored in the table. It may be damaged.
struct HeaderColumns {
    let shard: Int64
    let sequence: Int64
    let project: String
    let environment: String
    let customer: String
    let version: Int64
    let type: String
    /// The number of the log format in which the payload is written.
    let format: Int64
    let occurredAt: Int64
    let recordedAt: Int64
    let actor: String
    let cause: String
    let causeIndex: Int64
    let causeDigest: [UInt8]
    let catalogVersion: Int64
    let evidence: [UInt8]?

    func append(to bytes: inout [UInt8]) {
        bytes.append(number: shard)
        bytes.append(number: sequence)
        bytes.append(text: project)
        bytes.append(text: environment)
        bytes.append(text: customer)
        bytes.append(number: version)
        bytes.append(text: type)
        bytes.append(number: format)
        bytes.append(number: occurredAt)
        bytes.append(number: recordedAt)
        bytes.append(text: actor)
        bytes.append(text: cause)
        bytes.append(number: causeIndex)
        bytes.append(contentsOf: causeDigest)
        bytes.append(number: catalogVersion)
        bytes.append(number: evidence == nil ? 0 : 1)
        if let evidence { bytes.append(contentsOf: evidence) }
    }
}

/// Encodes columns for hashing. Different rows always give different bytes.
extension [UInt8] {
    mutating func append(number: Int64) {
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }

    /// Appends the text, preceded by its length.
    mutating func append(text: String) {
        append(number: Int64(text.utf8.count))
        append(contentsOf: text.utf8)
    }
}
