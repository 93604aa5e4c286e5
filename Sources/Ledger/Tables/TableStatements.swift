import Postgres
import SQL

/// How a commit writes rows.
enum Writing {
    /// Replaces an existing row.
    case over
    /// Leaves an existing row as it is.
    case once
    /// Expects that the row does not exist yet. An existing row violates the key.
    case new
    /// Uses a statement that refuses rows of other owners.
    case claiming(Statement)
    /// Uses a statement that skips forbidden rows. Repairs also use it.
    case sifting(Statement)
}

/// The statements about one table, generated from the files in `sql/tables`.
struct TableStatements: Sendable {
    let write: Statement
    /// Writes rows over existing ones.
    let rewrite: Statement
    /// Removes rows by key and owner.
    let remove: Statement
    /// Removes the rows found by a customer's path.
    let clear: Statement?
    let read: Statement
    let walk: Statement
    let sample: Statement
    let listOrphans: Statement
    let clearOrphans: Statement

    init(_ shape: TableShape, _ writing: Writing) {
        let rewriting = shape.writing(shape.putting { _ in nil })
        rewrite = if case .sifting(let own) = writing { own } else { rewriting }
        write =
            switch writing {
            case .over: shape.writing(shape.putting(\.joined))
            case .once: shape.writing("on conflict (\(names(shape.key))) do nothing")
            case .new: shape.writing("")
            case .claiming(let own), .sifting(let own): own
            }
        remove = shape.removing(by: shape.identity)
        clear = shape.path.map(shape.removing)
        read = shape.reading(by: shape.path ?? shape.key)
        walk = shape.walking
        sample = shape.filled(.sampleRows, ["texts": texts(shape.listed)])
        listOrphans = shape.filled(.listOrphans, [:])
        clearOrphans = shape.filled(.clearOrphans, [:])
    }
}

extension TableShape {
    fileprivate func filled(_ template: Statement, _ words: [String: String]) -> Statement {
        template.filled(words.merging(["table": name]) { word, _ in word })
    }

    fileprivate func writing(_ conflict: String) -> Statement {
        let columns = columns.filter(\.isKept)
        let values = columns.enumerated().map { "unnest(\(array($0, of: $1)))\($1.cast)" }
        return filled(
            .writeRows,
            [
                "columns": names(columns), "values": values.joined(separator: ", "),
                "conflict": conflict,
            ])
    }

    fileprivate func putting(_ joined: (Column) -> String?) -> String {
        let changes = columns.dropFirst(order.count).filter { $0.isKept && $0.isCompared }.map {
            "\($0.name) = \(joined($0) ?? "excluded.\($0.name)")"
        }
        return "on conflict (\(names(key))) do update set \(changes.joined(separator: ", "))"
    }

    fileprivate func removing(by columns: [Column]) -> Statement {
        filled(
            .removeRows,
            [
                "arrays": arrays(columns), "by": names(columns), "match": names(columns, of: "t"),
                "gone": names(columns, of: "gone"),
            ])
    }

    fileprivate func reading(by columns: [Column]) -> Statement {
        filled(
            .readRows,
            [
                "texts": texts(self.columns.filter(\.isKept)), "arrays": arrays(columns),
                "by": names(columns), "match": names(columns, of: "t"),
                "wanted": names(columns, of: "wanted"),
            ])
    }

    fileprivate var walking: Statement {
        let places = order.enumerated().dropFirst(kind == .ofCustomers ? 1 : 0)
        return filled(
            .walkRows,
            [
                "texts": texts(listed),
                "shard": kind == .ofCustomers ? "t.shard = $1::smallint and " : "",
                "order": names(places.map(\.element), of: "t"),
                "after": places.map { "$\($0 + 1)::\($1.boundType)" }.joined(separator: ", "),
                "project": "$\(order.count + 1)", "limit": "$\(order.count + 2)",
            ])
    }

    /// The columns that a list returns. For tables in customers' shards, these are only the key's columns.
    fileprivate var listed: [Column] { kind == .ofCustomers ? key : columns.filter(\.isKept) }
}

private func names(_ columns: [Column], of alias: String? = nil) -> String {
    columns.map { (alias.map { "\($0)." } ?? "") + $0.name }.joined(separator: ", ")
}

private func texts(_ columns: [Column]) -> String {
    columns.map { "t.\($0.name)::text" }.joined(separator: ", ")
}

private func array(_ place: Int, of column: Column) -> String {
    "$\(place + 1)::\(column.boundType)[]"
}

private func arrays(_ columns: [Column]) -> String {
    columns.enumerated().map(array).joined(separator: ", ")
}
