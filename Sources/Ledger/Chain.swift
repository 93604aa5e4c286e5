import Core
import Crypto

/// How each event of a shard is tied to all before it: SHA-256 over the previous chain, the
/// header of the event and the digest of its payload. `docs/ledger.md` has the exact bytes.
struct ChainLink {
    let digest: Digest32
    let chain: Digest32

    init(after previous: [UInt8], header: EventHeader, payload: String) {
        digest = SHA256.digest(Array(payload.utf8))
        var bytes = previous
        bytes.reserveCapacity(640)
        header.append(to: &bytes)
        bytes.append(contentsOf: digest.bytes)
        chain = SHA256.digest(bytes)
    }
}

/// What the chain covers of an event beside its payload.
struct EventHeader {
    let position: Position
    let stream: Stream
    let version: Int64
    let type: String
    let record: EventRecord
    let causeIndex: Int16
    let causeDigest: [UInt8]

    func append(to bytes: inout [UInt8]) {
        func number(_ value: Int64) {
            unsafe withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
        }
        func text(_ value: String) {
            number(Int64(value.utf8.count))
            bytes.append(contentsOf: value.utf8)
        }
        number(Int64(position.shard.number))
        number(position.sequence)
        text(stream.project.text)
        text(stream.environment.rawValue)
        text(stream.customer.text)
        number(version)
        text(type)
        number(record.occurredAt.milliseconds)
        number(record.recordedAt.milliseconds)
        text(record.actor.text)
        text(record.cause)
        number(Int64(causeIndex))
        bytes.append(contentsOf: causeDigest)
        number(record.catalogVersion)
    }
}
