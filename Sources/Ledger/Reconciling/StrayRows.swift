import Core
import Postgres
import SQL

/// Rows without events, and waiting credits without a row. Rewriting a customer's rows does not repair these.
struct StrayRows {
    /// The names in a row, valid or not.
    struct Name {
        let name: CustomerName
        /// The row's shard; `nil` if only a sample was compared.
        let shard: Shard?

        init(_ name: CustomerName, in shard: Shard?) {
            self.name = name
            self.shard = shard
        }

        /// The stream to which the row belongs; `nil` if no stream can have a row there.
        var stream: Stream? { name.stream.flatMap { $0.shard == shard ? $0 : nil } }
    }
    /// A row that does not appear among any customer's rows.
    struct Row {
        let table: Table
        let row: RowText
        /// The stream that should support the row; `nil` if its name cannot be a customer's.
        let stream: Stream?

        init(_ table: Table, _ row: RowText, _ stream: Stream?) {
            self.table = table
            self.row = row
            self.stream = stream
        }

        /// The call that removes exactly this row.
        var removal: Call { table.remove([table.row(row)]) }
    }
    var names: [Name] = []
    var rows: [Row] = []
    /// The number of rows whose customers are missing from the `customers` table.
    var orphans = 0
    var missingCredits: [RowText] = []

    var count: Int { names.count + rows.count + orphans + missingCredits.count }
}

extension [StrayRows.Name] {
    /// Calls that remove all rows under these names in those shards.
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
