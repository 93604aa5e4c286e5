import Core
import Crypto
import Postgres
import SQL

extension Batch {
    /// Returns calls that write the decisions and the rows for their evidence, and then commit.
    func writes(with evidence: EvidenceRows) -> [Call] {
        insertions + (entries.isEmpty ? [] : holders.calls)
            + (entries.isEmpty && upkeep.isEmpty && !tokens.hasForgotten ? [] : projections)
            + upkeepCalls + evidence.calls + [Statement.commit()]
    }

    private var insertions: [Call] {
        entries.isEmpty ? [] : catalogs.calls + [insertEvents, advanceShards]
    }

    private var insertEvents: Call {
        let headers = entries.map(\.header)
        let records = headers.map(\.record)
        return Statement.insertEvents(
            .int2s(headers.map(\.position.shard.number)),
            .int8s(headers.map(\.position.sequence)),
            .texts(headers.map(\.stream.project.text)),
            .texts(headers.map(\.stream.environment.rawValue)),
            .texts(headers.map(\.stream.customer.text)),
            .int8s(headers.map(\.version)),
            .texts(headers.map(\.type)),
            .texts(entries.map(\.payload)),
            .byteas(entries.map(\.link.digest.bytes)),
            .byteas(entries.map(\.link.chain.bytes)),
            .int8s(records.map(\.occurredAt.milliseconds)),
            .int8s(records.map(\.recordedAt.milliseconds)),
            .texts(records.map(\.actor.text)),
            .texts(records.map(\.cause)),
            .int2s(headers.map(\.causeIndex)),
            .byteas(headers.map(\.causeDigest)),
            .int8s(records.map(\.catalogVersion)),
            .byteas(headers.map(\.evidence)),
            .int2s(headers.map(\.format)))
    }

    private var advanceShards: Call {
        let firsts = Dictionary(
            entries.map(\.header.position).map { ($0.shard, $0.sequence) }
        ) { first, _ in first }
        let heads = heads.filter { firsts[$0.key] != nil }.sorted { $0.key < $1.key }
        return Statement.advanceShards(
            .int2s(heads.map(\.key.number)),
            .int8s(heads.map { (firsts[$0.key] ?? 0) - 1 }),
            .int8s(heads.map(\.value.sequence)),
            .byteas(heads.map(\.value.chain)),
            .int8s(heads.map(\.value.recordedAt.milliseconds)))
    }

    private var projections: [Call] {
        var rows = ProjectedRows(
            waitingCredits: waitingCredits, strays: strays, tokens: tokens,
            erased: erased.map { Origin($0, $1, by: project(of: $0)) })
        let events = Dictionary(grouping: entries, by: \.header.stream)
        for stream in writtenStreams {
            if let events = events[stream] {
                rows.add(events.map(\.event), of: origin(stream))
            } else {
                rows.add(origin(stream))
            }
        }
        return rows.calls
    }

    /// Returns the source of a stream's rows.
    func origin(_ stream: Stream) -> Origin {
        Origin(
            stream, folds[stream]?.state.customer ?? CustomerState(), by: project(of: stream))
    }
}
