package import Core
import Postgres
import SQL

extension Ledger {
    /// Up to `limit` customers of a project after a stream, with their states: shard by shard, in an
    /// order that stays the same. There are no more when none comes.
    ///
    /// The states are read from the log and not kept: a walk through all customers must not push those
    /// out of memory who are in use.
    package func customers(
        of project: ProjectID, after stream: Stream?, limit: Int
    ) throws(Fault) -> [ListedCustomer] {
        var streams: [Stream] = []
        for shard in Shard.all where shard >= stream?.shard ?? shard && streams.count < limit {
            let last = stream.flatMap { $0.shard == shard ? $0 : nil }
            let call = Statement.listCustomers(
                .int2(shard.number), .text(project.text),
                .text(last?.environment.rawValue ?? ""), .text(last?.customer.text ?? ""),
                .int8(Int64(limit - streams.count)))
            // What no release writes is nobody: an audit names the row.
            streams += try list(call) { rows, row in try? rows.stream(row, of: project) }
                .compactMap(\.self)
        }
        return try read(streams)
    }

    func read(_ streams: [Stream]) throws(Fault) -> [ListedCustomer] {
        if streams.isEmpty { return [] }
        let unread = [Int64](repeating: 0, count: streams.count)
        let call = Statement.loadStreams(
            of: streams, after: unread, seenHeads: StateCache.noHeads)
        let rows = try list(call) { rows, row throws(LedgerError) in try EventRow(rows, row) }
        var (states, unreadable) = ([Stream: CustomerState](), Set<Stream>())
        for row in rows where !unreadable.contains(row.stream) {
            do throws(LedgerError) {
                states[row.stream, default: CustomerState()].apply(try row.recorded())
            } catch {
                unreadable.insert(row.stream)
            }
        }
        return streams.map { stream in
            let state = states[stream] ?? CustomerState()
            return ListedCustomer(
                stream: stream, state: unreadable.contains(stream) ? nil : state)
        }
    }
}

extension Rows {
    fileprivate func stream(_ row: Int, of project: ProjectID) throws(LedgerError) -> Stream {
        guard let environment = Environment(rawValue: text(row, 0)) else {
            throw .unreadable("the environment of a customer")
        }
        return Stream(
            project: project, environment: environment, customer: try identifier(row, 1))
    }
}
