import Core
import Postgres

extension Table {
    /// Writes rows in the same way as a commit.
    func write(_ rows: [Row]) -> Call { call(statements.write, columns, rows) }

    /// Writes rows over existing ones.
    func rewrite(_ rows: [Row]) -> Call { call(statements.rewrite, columns, rows) }

    /// Removes the rows with these keys and owners.
    func remove(_ rows: [Row]) -> Call { call(statements.remove, shape.identity, rows) }

    /// Removes all rows of these customers; `nil` if no index finds them.
    func clear(_ streams: [Stream]) -> Call? { clear(streams.compactMap(shape.path)) }

    /// Removes all rows of customers with these names.
    func clear(_ names: [Row]) -> Call? {
        guard let path = shape.path, let statement = statements.clear, !names.isEmpty else {
            return nil
        }
        return call(statement, path, names)
    }

    /// Reads the rows of these customers. If no index finds customers' rows, reads rows by key.
    func read(_ streams: [Stream], keys: [Row]) -> Call {
        guard let path = shape.path else { return call(statements.read, shape.key, keys) }
        return call(statements.read, path, streams.compactMap(shape.path))
    }

    /// Lists up to `limit` rows after `last` in key order, from one shard if the table has shards.
    func walk(
        in shard: Shard? = nil, of project: ProjectID?, after last: RowText?, _ limit: Int
    ) -> Call {
        let after = shape.order.map { column in
            column.name == "shard"
                ? .int2(shard?.number) : column.bind(last.flatMap { self[column.name, $0] })
        }
        return Call(
            statement: statements.walk,
            binds: after + [.text(project?.text), .int8(Int64(limit))])
    }

    /// Lists roughly `count` random rows.
    func sample(_ count: Int) -> Call { statements.sample(.int8(Int64(count))) }

    private func call(_ statement: Statement, _ columns: [Column], _ rows: [Row]) -> Call {
        Call(
            statement: statement, binds: columns.enumerated().map { $1.bind(rows, at: $0) })
    }
}

/// A row with every column as text. A row read from the database may be damaged.
struct RowText {
    let key: [String]
    let values: [String?]

    init(_ values: [String?], of table: Table) {
        key = values.prefix(table.shape.order.count).map { $0 ?? "" }
        self.values = values
    }

    init(_ row: Row, of table: Table) { self.init(row.map(\.text), of: table) }

    init(_ rows: borrowing Rows, _ row: Int, of table: Table) {
        var values: [String?] = []
        for column in 0..<rows.columnCount { values.append(rows.optionalText(row, column)) }
        self.init(values, of: table)
    }
}

extension Table {
    subscript(column: String, row: RowText) -> String? {
        columns.firstIndex { $0.name == column }.flatMap { row.values[$0] }
    }

    /// Returns the row in the form in which a commit would write it.
    func row(_ text: RowText) -> Row { zip(columns, text.values).map { $0.cell($1) } }

    /// Names the row by its key columns, for people to read. Also shows the id of an API key, as
    /// lists do.
    func title(of row: RowText) -> String {
        let shown = columns.prefix(self == .keys ? 3 : shape.order.count)
        return shown.map { "\($0.name) \(self[$0.name, row] ?? "null")" }.joined(separator: ", ")
    }

    func stream(of row: RowText) throws(LedgerError) -> Stream {
        let keeper = "\(self["store", row] ?? ""):\(self["original", row] ?? "")"
        return try Stream(
            project: self["project", row] ?? "", environment: self["environment", row] ?? "",
            customer: self["customer", row] ?? "\(CustomerID.noCustomer)\(keeper)")
    }
}
