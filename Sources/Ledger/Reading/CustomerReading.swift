package import Core
import Postgres
import SQL

extension Ledger {
    /// Returns up to `limit` of a project's customers after a stream, with their states, shard by shard in a stable
    /// order. An empty result means the end.
    package func customers(
        of project: ProjectID, after stream: Stream?, limit: Int
    ) throws(Fault) -> [ListedCustomer] {
        var streams: [Stream] = []
        for shard in Shard.all where shard >= stream?.shard ?? shard && streams.count < limit {
            let last = stream.flatMap { $0.shard == shard ? $0 : nil }
            let place: [Bind] = [
                .text(last?.environment.rawValue ?? ""), .text(last?.customer.text ?? ""),
            ]
            let listed = RowList { place, limit in
                let binds: [Bind] = [.int2(shard.number), .text(project.text)]
                return Call(statement: .listCustomers, binds: binds + place + [limit])
            } place: { rows, row in
                [.text(rows.text(row, 0)), .text(rows.text(row, 1))]
            } subject: { rows, row in
                UnreadSubject(
                    project.text, rows.text(row, 0), rows.text(row, 1), row: "customers")
            } item: { rows, row throws(LedgerError) -> Stream in
                try rows.stream(row, of: project)
            }
            streams += try page(after: place, limit: limit - streams.count, listed)
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
