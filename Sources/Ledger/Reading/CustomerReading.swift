package import Core
import Postgres
import SQL

extension Ledger {
    /// Up to `limit` customers of a project after a stream, with their states: shard by shard, in a
    /// stable order. An empty result is the end.
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
            // A row that no release writes names no customer; an audit reports it.
            streams += try list(call) { rows, row in try? rows.stream(row, of: project) }
                .compactMap(\.self)
        }
        return try read(streams)
    }

    func read(_ streams: [Stream]) throws(Fault) -> [ListedCustomer] {
        if streams.isEmpty { return [] }
        return zip(streams, try customers(streams)).map { stream, snapshot in
            ListedCustomer(stream: stream, state: try? snapshot.get().customer)
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
