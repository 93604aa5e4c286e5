package import Core
import Postgres
import SQL
import Telemetry

extension Ledger {
    /// Returns the last position of each shard, by shard number.
    package func heads() throws(Fault) -> [Int64] {
        let epoch = known.epoch
        let marks = try list(Statement.listShards()) { rows, row in ShardMark(rows, row) }
        known.note(marks, askedIn: epoch)
        return marks.map(\.head)
    }

    /// Returns each shard's head, with its chain.
    func shardHeads() throws(Fault) -> [Shard: ShardHead] {
        let heads = try list(Statement.listShards()) { rows, row in
            (
                Shard(number: rows.int2(row, 0)),
                ShardHead(
                    sequence: rows.int8(row, 1), chain: rows.bytes(row, 2),
                    recordedAt: Instant(milliseconds: rows.int8(row, 3)))
            )
        }
        return Dictionary(heads) { first, _ in first }
    }

    /// Returns the current states of a project and of many of its customers, in one round trip.
    ///
    /// A customer with unreadable events does not affect the others. Cached states are not read again. New states are
    /// not cached, because a request for a thousand customers must not evict states that are in use.
    package func customers(
        _ streams: [Stream]
    ) throws(Fault) -> [Result<CustomerSnapshot, Fault>] {
        guard let project = streams.first?.project else { return [] }
        measures.bulkSizes.record(Int64(streams.count))
        do throws(LedgerError) {
            var epoch = 0
            let (snapshots, marks) = try pool.settled { connection throws(LedgerError) in
                epoch = known.epoch
                return try connection.snapshots(
                    of: streams, in: project, cache: cache, KeptState.number)
            }
            known.note(marks, askedIn: epoch)
            for case (let stream, .failure(let fault)) in zip(streams, snapshots) {
                unread.note(stream, fault)
            }
            return snapshots
        } catch {
            // If the project's own state is unreadable, none of its customers can be read.
            unread.note(.ofProject(project), error.fault)
            throw error.fault
        }
    }
}

extension Connection {
    fileprivate mutating func snapshots(
        of streams: [Stream], in project: ProjectID, cache: StateCache, _ number: Int16?
    ) throws(LedgerError) -> ([Result<CustomerSnapshot, Fault>], [ShardMark]) {
        let wanted = Array(Set(streams).union([.ofProject(project)]))
        let seenHeads = cache.seenHeads
        let known = wanted.map { cache[$0]?.state ?? StreamState(emptyFor: $0) }
        var states = Dictionary(uniqueKeysWithValues: zip(wanted, known))
        var unreadable: [Stream: Fault] = [:]
        var isDamaged = false
        let heads = try load(
            wanted, after: known.map(\.version), seenHeads: seenHeads, number,
            keeping: { place, state in
                if let state { states[wanted[place]] = .customer(state) } else { isDamaged = true }
            }
        ) { row throws(LedgerError) in
            if isDamaged { return }
            if unreadable[row.stream] != nil { return }
            do throws(LedgerError) {
                let recorded = try row.recorded(after: states[row.stream]?.version ?? 0)
                states[recorded.stream]?.apply(recorded)
            } catch {
                if row.stream.isOfProject { throw error }
                unreadable[row.stream] = error.fault
            }
        }
        if isDamaged { return try snapshots(of: streams, in: project, cache: cache, nil) }
        let own = Stream.ofProject(project)
        if let edition = states[own]?.lackedEdition {
            states[own]?.supply(try catalog(edition, of: project, cache.catalogs))
        }
        try cache.observe(heads.ends, askedAfter: seenHeads)
        let rules = states[.ofProject(project)]?.project ?? ProjectState()
        let snapshots = streams.map { stream -> Result<CustomerSnapshot, Fault> in
            if let fault = unreadable[stream] { return .failure(fault) }
            return .success(
                CustomerSnapshot(
                    customer: states[stream]?.customer ?? CustomerState(), project: rules,
                    position: Position(shard: stream.shard, sequence: heads[stream.shard])))
        }
        return (snapshots, heads.marks)
    }
}
