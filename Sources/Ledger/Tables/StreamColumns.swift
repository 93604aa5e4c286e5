import Core
import Postgres

/// The first four columns of every table that is keyed by a customer.
func streamColumns(_ streams: [Stream]) -> [Bind] {
    [
        .int2s(streams.map(\.shard.number)), .texts(streams.map(\.project.text)),
        .texts(streams.map(\.environment.rawValue)), .texts(streams.map(\.customer.text)),
    ]
}

extension Statement {
    /// A call whose rows are keyed by a customer.
    func callAsFunction(_ streams: [Stream], _ columns: Bind...) -> Call {
        Call(statement: self, binds: streamColumns(streams) + columns)
    }
}
