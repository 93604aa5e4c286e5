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
        let table: ProjectedTable
        let row: ProjectedRow
        /// Of whose events it should follow; `nil` where that cannot be a customer.
        let stream: Stream?

        init(_ table: ProjectedTable, _ row: ProjectedRow, _ stream: Stream?) {
            self.table = table
            self.row = row
            self.stream = stream
        }
    }
    var names: [Name] = []
    var rows: [Row] = []
    /// Rows of customers without a row of their own, by table and customer.
    var orphans = 0
    var missingCredits: [ProjectedRow] = []

    var count: Int { names.count + rows.count + orphans + missingCredits.count }
}

extension StrayRows.Row {
    /// Takes exactly this row away.
    var clearing: Call {
        func text(_ column: Int) -> Bind { .texts([row.values[column]]) }
        let texts = row.values.indices.map(text)
        switch table.name {
        case ProjectedTable.holders.name: return Call(statement: .clearHolders, binds: texts)
        case ProjectedTable.orderOwners.name:
            return Call(statement: .clearOrderOwners, binds: texts)
        case ProjectedTable.tokens.name: return Call(statement: .clearTokens, binds: texts)
        case ProjectedTable.unclaimed.name:
            return Call(statement: .unprojectUnclaimed, binds: Array(texts.prefix(4)))
        case ProjectedTable.unclaimedTokens.name:
            return Call(statement: .unprojectUnclaimedTokens, binds: Array(texts.prefix(5)))
        case ProjectedTable.carriedTokens.name:
            return Call(
                statement: .forgetCarriedTokens, binds: Array(texts.prefix(5)) + [.texts([nil])])
        default:
            let shard = row.values[0].flatMap { $0 }.flatMap(Int16.init) ?? 0
            return Call(
                statement: .unprojectWaitingCredits,
                binds: [.int2s([shard])] + Array(texts[1..<7]))
        }
    }
}

extension [StrayRows.Name] {
    /// Takes all rows away that are kept under these names in those shards.
    var clearing: [Call] {
        let known = filter { $0.shard != nil }
        if known.isEmpty { return [] }
        return [
            Statement.clearCustomers(
                .int2s(known.map { $0.shard?.number ?? 0 }), .texts(known.map(\.name.project)),
                .texts(known.map(\.name.environment)), .texts(known.map(\.name.customer)))
        ]
    }
}

extension [ProjectedRow] {
    /// Writes credits that wait.
    var writingCredits: Call {
        func texts(_ column: Int) -> Bind { .texts(map { $0.values[column] }) }
        let shards = map { Int16($0.values[0] ?? "") ?? 0 }
        return Call(
            statement: .projectWaitingCredits, binds: [.int2s(shards)] + (1..<8).map(texts))
    }
}

extension Batch {
    /// The calls that write every row of these streams anew, whatever is there, and commit that.
    func rewriting(_ streams: [Stream]) -> [Call] {
        let customers = streams.filter { folds[$0]?.version ?? 0 > 0 }
        let rows = customers.flatMap { stream in
            folds[stream]?.state.customer.map {
                ProjectedRows.all(of: $0, stream, by: project(of: stream))
            } ?? []
        }
        let tokens = Call(statement: .clearTokensOf, binds: nameColumns(streams))
        let carried = Call(statement: .clearCarriedTokensOf, binds: nameColumns(streams))
        return insertions + [Statement.clearCustomers(streams), tokens, carried]
            + rows.flatMap(\.inPlaceOfOthers)
            + [Statement.commit()]
    }
}

extension Call {
    /// The same where rows of other customers may stand under the same names.
    fileprivate var inPlaceOfOthers: [Call] {
        func cleared(by statement: Statement, _ keys: Int) -> [Call] {
            let others = Bind.texts([String?](repeating: nil, count: rows.count))
            return [Call(statement: statement, binds: binds.prefix(keys) + [others]), self]
        }
        switch statement.name {
        case Statement.claimPurchases.name: return cleared(by: .clearHolders, 5)
        case Statement.projectOrderOwners.name: return cleared(by: .clearOrderOwners, 3)
        case Statement.projectTokens.name: return [Call(statement: .restoreTokens, binds: binds)]
        case Statement.projectUnclaimed.name:
            return [Call(statement: .unprojectUnclaimed, binds: Array(binds.prefix(4))), self]
        default: return [self]
        }
    }
}
