package import Core
import Crypto
import Postgres
import SQL

/// What an audit found of one shard.
package struct ShardAudit: Hashable, Sendable {
    package let shard: Shard
    /// How many events were read and found right.
    package let events: Int64
    /// What is wrong first, if anything.
    package let finding: Finding?

    package enum Finding: Hashable, Sendable, CustomStringConvertible {
        case hole(at: Int64)
        case payloadChanged(at: Int64)
        case chainBroken(at: Int64)
        case headWrong(head: Int64, last: Int64)

        package var description: String {
            switch self {
            case .hole(let at): "position \(at) is missing"
            case .payloadChanged(let at): "the payload at position \(at) was changed"
            case .chainBroken(let at): "the event at position \(at) does not continue the chain"
            case .headWrong(let head, let last):
                "the shard's head says \(head) and the last event is \(last)"
            }
        }
    }
}

extension Ledger {
    private static let auditPage: Int64 = 2000

    /// Reads a shard from its first event and proves that positions are dense and the chain holds.
    package func audit(_ shard: Shard) throws(Fault) -> ShardAudit {
        // Taken first: events that arrive meanwhile lie behind it.
        let heads = try list(Statement.listShards()) { rows, row in
            ShardEnd(
                shard: rows.int2(row, 0), sequence: rows.int8(row, 1), chain: rows.bytes(row, 2))
        }
        guard let head = heads.first(where: { $0.shard == shard.number }) else {
            return ShardAudit(shard: shard, events: 0, finding: .headWrong(head: 0, last: 0))
        }
        var walk = ChainWalk(head: head)
        while walk.finding == nil {
            let page = Statement.scanShard(
                .int2(shard.number), .int8(walk.sequence), .int8(Ledger.auditPage))
            let stepped = try list(page) { rows, row throws(LedgerError) -> Bool in
                walk.step(try EventRow(rows, row), EventRow.seal(rows, row))
                return true
            }
            if stepped.isEmpty { break }
        }
        return ShardAudit(shard: shard, events: walk.sequence, finding: walk.verdict)
    }
}

private struct ShardEnd {
    let shard: Int16
    let sequence: Int64
    let chain: [UInt8]
}

private struct ChainWalk {
    let head: ShardEnd
    var sequence: Int64 = 0
    var chain = [UInt8](repeating: 0, count: 32)
    var finding: ShardAudit.Finding?

    init(head: ShardEnd) {
        self.head = head
    }

    /// The finding, or that the head promises more than there is.
    var verdict: ShardAudit.Finding? {
        finding
            ?? (sequence < head.sequence
                ? .headWrong(head: head.sequence, last: sequence) : nil)
    }

    mutating func step(_ row: EventRow, _ seal: EventSeal) {
        if finding != nil { return }
        let next = sequence + 1
        let header = EventHeader(
            position: row.position, stream: row.stream, version: row.version, type: row.type,
            record: row.record,
            causeIndex: seal.causeIndex, causeDigest: row.causeDigest)
        let link = ChainLink(after: chain, header: header, payload: row.payload)
        if row.position.sequence != next {
            finding = .hole(at: next)
        } else if link.digest.bytes != seal.digest {
            finding = .payloadChanged(at: next)
        } else if link.chain.bytes != seal.chain {
            finding = .chainBroken(at: next)
        } else if next == head.sequence, seal.chain != head.chain {
            finding = .headWrong(head: head.sequence, last: next)
        } else {
            sequence = next
            chain = seal.chain
        }
    }
}
