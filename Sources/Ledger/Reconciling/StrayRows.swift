import Core
import Postgres
import SQL

/// Rows without events, and waiting credits without a row: rewriting a customer's rows does not repair
/// these.
struct StrayRows {
    /// The names under which rows are kept, whether or not a customer can have them.
    struct Name {
        let name: CustomerName
        /// `nil` if only a sample found it.
        let shard: Shard?

        init(_ name: CustomerName, in shard: Shard?) {
            self.name = name
            self.shard = shard
        }

        /// The stream in whose place the rows are; `nil` if no stream can be there.
        var stream: Stream? { name.stream.flatMap { $0.shard == shard ? $0 : nil } }
    }
    /// A row of a table to which no customer's page leads.
    struct Row {
        let table: Table
        let row: RowText
        /// The stream from whose events it should follow; `nil` if its name cannot be a customer's.
        let stream: Stream?

        init(_ table: Table, _ row: RowText, _ stream: Stream?) {
            self.table = table
            self.row = row
            self.stream = stream
        }

        /// Removes exactly this row.
        var removal: Call { table.remove([table.row(row)]) }
    }
    var names: [Name] = []
    var rows: [Row] = []
    /// Rows of customers without a row of their own, by table and customer.
    var orphans = 0
    var missingCredits: [RowText] = []

    var count: Int { names.count + rows.count + orphans + missingCredits.count }
}

extension [StrayRows.Name] {
    /// Removes all rows under these names in those shards.
    var clearing: [Call] {
        let names = compactMap { known in
            known.shard.map { shard in
                [
                    .number(Int64(shard.number)), .text(known.name.project),
                    .text(known.name.environment), .text(known.name.customer),
                ] as Row
            }
        }
        return Table.ofCustomers.filter(\.followsFromState).compactMap { $0.clear(names) }
    }
}
