package import Auditing
package import Core
package import Following
import Postgres
import SQL

/// Erased customers, and the data stored about a customer.
extension Ledger {
    /// How many events one transaction empties. Other writers of the same evidence wait for that transaction.
    private static let emptiedPage: Int64 = 1000

    package func erasures(
        in project: ProjectID, of customer: CustomerID?, after last: RecordedEvent?, limit: Int
    ) throws(Fault) -> [RecordedEvent] {
        let place: [Bind] = [
            .int8(last?.recordedAt.milliseconds ?? .min),
            .int2(last?.position.shard.number ?? -1), .int8(last?.position.sequence ?? 0),
        ]
        let listed = RowList { place, limit in
            let binds = [.text(project.text)] + place + [limit]
            return customer.map {
                Call(statement: .listErasuresOfOne, binds: binds + [.text($0.text)])
            } ?? Call(statement: .listErasuresOfAll, binds: binds)
        } place: {
            EventRow.place($0, $1)
        } subject: {
            EventRow.subject($0, $1)
        } item: { rows, row throws(LedgerError) -> RecordedEvent in
            try EventRow(rows, row).recorded()
        }
        return try page(after: place, limit: limit, listed)
    }

    package func kept(
        of stream: Stream, before version: Int64?
    ) throws(Fault) -> KeptCounts {
        let call = Call(
            statement: .countKept, binds: stream.binds + [.int8(version)])
        return KeptCounts(try list(call) { rows, row in (rows.text(row, 1), rows.int8(row, 2)) })
    }

    package func empty(_ stream: Stream) throws(Fault) {
        try requireWritable()
        var reached: Int64? = 0
        while let last = reached {
            let call = Call(
                statement: .emptyErased,
                binds: stream.binds + [.int8(last), .int8(Ledger.emptiedPage)])
            reached = try list(call) { rows, row in rows.optionalInt8(row, 0) }
                .compactMap(\.self).first
        }
    }

    package func unemptied(limit: Int) throws(Fault) -> [Stream] {
        try unfinished(limit: limit).map(\.stream)
    }

    /// Returns the streams that an erasure has not emptied yet, with the erasure's version.
    package func unfinishedErasures() throws(Fault) -> [Stream: Int64] {
        let found = try unfinished(limit: .max)
        return Dictionary(found.map { ($0.stream, $0.version) }) { max($0, $1) }
    }

    private func unfinished(limit: Int) throws(Fault) -> [(stream: Stream, version: Int64)] {
        try readable(
            Statement.listEmptying(.int8(Int64(limit))),
            of: { rows, row in
                UnreadSubject(
                    rows.text(row, 0), rows.text(row, 1), rows.text(row, 2), row: "emptying")
            }
        ) { rows, row throws(LedgerError) -> (stream: Stream, version: Int64) in
            let stream = try Stream(
                project: rows.text(row, 0), environment: rows.text(row, 1),
                customer: rows.text(row, 2))
            return (stream, rows.int8(row, 3))
        }
    }

    package func evidence(of stream: Stream) throws(Fault) -> [[UInt8]] {
        try list(Call(statement: .listCustomerEvidence, binds: stream.binds)) { rows, row in
            rows.bytes(row, 0)
        }
    }

    package func evidence(
        behind version: Int64, of stream: Stream
    ) throws(Fault) -> [UInt8]? {
        let call = Call(
            statement: .findEventEvidence, binds: stream.binds + [.int8(version)])
        return try list(call) { rows, row in rows.bytes(row, 0) }.first
    }

    package func filed(_ digests: [[UInt8]]) throws(Fault) -> [FiledEvidence] {
        let found = try list(Statement.listEvidence(.byteas(digests))) { rows, row in
            EvidenceRow(rows, row)
        }
        let wanted = Array(Set(found.flatMap(\.certificates)))
        let certificates = try list(Statement.listCertificates(.byteas(wanted))) { rows, row in
            (digest: rows.bytes(row, 0), der: rows.bytes(row, 1))
        }
        let der = Dictionary(certificates.map { ($0.digest, $0.der) }) { first, _ in first }
        return found.map { $0.filed(with: der) }
    }

    package func queued(of stream: Stream) throws(Fault) -> [TakenIntake] {
        let call = Statement.listCustomerIntake(
            .text(stream.project.text), .text(stream.customer.text),
            .text(stream.environment.rawValue))
        return try list(call) { rows, row throws(LedgerError) in try IntakeRow.taken(rows, row) }
    }

    /// Evicts erased customers from memory.
    package func forget(_ erased: [LoggedEvent]) {
        for event in erased { cache.forget(event.stream, before: event.version) }
    }
}

extension Statement {
    fileprivate static let listErasuresOfAll = Statement.listErasures.filled([
        "whose": "not starts_with(e.customer, '$unclaimed/')"
    ])
    fileprivate static let listErasuresOfOne = Statement.listErasures.filled([
        "whose": "e.customer = $6::text"
    ])
}

extension Stream {
    fileprivate var binds: [Bind] {
        [
            .int2(shard.number), .text(project.text), .text(environment.rawValue),
            .text(customer.text),
        ]
    }
}
