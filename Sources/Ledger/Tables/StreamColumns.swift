import Core
import Postgres

/// Returns the first four columns of every table that is keyed by customer.
func streamColumns(_ streams: [Stream]) -> [Bind] {
    [
        .int2s(streams.map(\.shard.number)), .texts(streams.map(\.project.text)),
        .texts(streams.map(\.environment.rawValue)), .texts(streams.map(\.customer.text)),
    ]
}

extension Statement {
    /// Calls the statement with rows keyed by customer.
    func callAsFunction(_ streams: [Stream], _ columns: Bind...) -> Call {
        Call(statement: self, binds: streamColumns(streams) + columns)
    }
}
