package import Core
package import Following
import Postgres
import SQL

/// Reads pages of the feed from a place given by the caller, in the same way as the follower.
extension Ledger {
    package func look(
        _ interest: Interest, after place: [Position]
    ) throws(Fault) -> FeedLook {
        try requireCertainty()
        var look = LogLook([(interest, place)])
        var epoch = 0
        try faulting { () throws(LedgerError) in
            try pool.settled { connection throws(LedgerError) in
                epoch = known.epoch
                try look.ask(&connection)
            }
        }
        known.note(look.marks, askedIn: epoch)
        look.note(in: unread)
        return FeedLook(
            look.news[0],
            heads: look.marks.map { Position(shard: $0.shard, sequence: $0.head) })
    }

    package func marks(of place: [Int64]) throws(Fault) -> [UInt64] {
        let call = Statement.findChains(.int2s(Shard.all.map(\.number)), .int8s(place))
        var marks = [UInt64](repeating: 0, count: Shard.count)
        let found = try list(call) { rows, row in
            (
                shard: Int(rows.int8(row, 0)) - 1,
                chain: rows.isNull(row, 1) ? [] : Array(rows.bytes(row, 1).prefix(8))
            )
        }
        for (shard, chain) in found where place[shard] > 0 {
            // The chain of an existing event is never empty, so the mark is never 0.
            marks[shard] = chain.reduce(1) { $0 << 8 | UInt64($1) }
        }
        return marks
    }

    package func places(before instant: Instant) throws(Fault) -> [Int64] {
        try requireCertainty()
        var places = [Int64](repeating: 0, count: Shard.count)
        let found = try list(Statement.findPlaces(.int8(instant.milliseconds))) { rows, row in
            (shard: Int(rows.int2(row, 0)), sequence: rows.int8(row, 1))
        }
        for place in found { places[place.shard] = place.sequence }
        return places
    }

    /// Takes one round trip. The states are not cached, because they are not current.
    package func recall(
        _ parts: [PartlyTold]
    ) throws(Fault) -> [Result<ToldAccess, Fault>] {
        var told: [Stream: Result<ToldAccess, Fault>] = [:]
        for part in parts { told[part.stream] = .success(part.told) }
        let call = Statement.recallStreams(
            parts.map(\.stream), .int8s(parts.map(\.told.version)), .int8s(parts.map(\.end)))
        try faulting { () throws(LedgerError) in
            try pool.settled { connection throws(LedgerError) in
                for part in parts { told[part.stream] = .success(part.told) }
                try connection.read([call]) { _, rows throws(LedgerError) in
                    for row in 0..<rows.count {
                        let event = try EventRow(rows, row)
                        guard case .success(var access) = told[event.stream] else { continue }
                        // Removing the state first avoids copying it.
                        told[event.stream] = nil
                        told[event.stream] = Result { () throws(Fault) in
                            let recorded = try faulting { () throws(LedgerError) in
                                try event.recorded(after: access.version)
                            }
                            access.pass(recorded)
                            return access
                        }
                    }
                }
            }
        }
        return parts.map { part in
            let result = told[part.stream] ?? .success(part.told)
            if case .failure(let fault) = result { unread.note(part.stream, fault) }
            return result
        }
    }

    /// Takes one round trip, to the server that accepts writes.
    package func later(_ wanted: [LaterEvents], limit: Int) throws(Fault) -> [[LoggedEvent]] {
        try requireCertainty()
        var found = [[LoggedEvent]](repeating: [], count: wanted.count)
        let call = Statement.readLaterEvents(
            wanted.map(\.stream), .int8s(wanted.map(\.version)), .int8s(wanted.map(\.end)),
            .int8(Int64(limit)))
        let rows = try list(call) { rows, row throws(LedgerError) in
            (number: Int(rows.int8(row, 3)), event: try LoggedEvent(rows, row))
        }
        for row in rows { found[row.number - 1].append(row.event) }
        return found
    }

    /// How many editions are read at once.
    private static let editionPage: Int64 = 16

    package func editions(
        of project: ProjectID, from wanted: WantedCatalog
    ) throws(Fault) -> [CatalogEdition] {
        var before = Instant.distantFuture
        if case .last(let instant, _) = wanted { before = instant }
        let call = Statement.listEditions(
            .int2(Stream.ofProject(project).shard.number), .text(project.text),
            .int8(wanted.newest), .int8(before.milliseconds), .int8(Ledger.editionPage))
        return try list(call) { rows, row throws(LedgerError) in try CatalogEdition(rows, row) }
    }

    package func recorded(_ event: LoggedEvent) throws(Fault) -> RecordedEvent {
        guard let content = event.content else {
            throw .broken("an event was read without its content")
        }
        do throws(LedgerError) {
            if let damage = content.damage { throw .unreadable(damage) }
            return RecordedEvent(
                stream: event.stream, version: event.version, position: event.position,
                event: try Event(
                    type: event.type, format: content.format, payload: content.payload),
                record: content.record)
        } catch {
            unread.note(event.stream, error.fault)
            throw error.fault
        }
    }
}
