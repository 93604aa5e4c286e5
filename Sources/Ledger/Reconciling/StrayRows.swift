import Core
import Postgres
import SQL

/// Rows that no events tell of, and credits that wait and have no row: what is not mended by writing a
/// customer's rows anew.
struct StrayRows {
    /// Under which names rows are kept, whether or not these can be a customer's.
    struct Name {
        let name: CustomerName
        /// `nil` where only a sample met it.
        let shard: Shard?

        init(_ name: CustomerName, in shard: Shard?) {
            self.name = name
            self.shard = shard
        }

        /// The stream in whose place the rows are; `nil` where there can be none.
        var stream: Stream? { name.stream.flatMap { $0.shard == shard ? $0 : nil } }
    }
    /// A row of a table whose rows no customer's page leads to.
    struct Row {
        let table: Table
        let row: RowText
        /// Of whose events it should follow; `nil` where that cannot be a customer.
        let stream: Stream?

        init(_ table: Table, _ row: RowText, _ stream: Stream?) {
            self.table = table
            self.row = row
            self.stream = stream
        }

        /// Takes exactly this row away.
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
    /// Takes all rows away that are kept under these names in those shards.
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
