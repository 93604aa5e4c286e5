import Assembly
import Commands
import Core
import JSON
import Ledger

extension Invocation {
    func showStorage() throws(CommandEnd) {
        let database = try database()
        defer { database.leave() }
        var view = OperatorsView(database.serviceConnection)
        let growth = try attempt { () throws(LedgerError) in
            let (bytes, folder) = try view.storage()
            return StorageGrowth(
                bytes, try view.done(), free: freeBytes(in: database, folder))
        }
        let tables = try attempt { () throws(LedgerError) in
            StoredTable.all(try view.stored())
        }
        var object = JSONObject()
        for (name, value) in growth.members { object.append(name, value) }
        object.append("tables", .array(tables.map(\.json)))
        show(.object(object), text: ([growth.text] + tables.map(\.text)).joined(separator: "\n"))
    }
}

/// The database's size, its rate of growth, and how long the disk space will last.
struct StorageGrowth {
    private static let day: Int64 = 86_400_000

    let bytes: Int64
    let free: Int64?
    /// The growth in bytes during the past week; `nil` without a measurement from that time.
    let inWeek: Int64?
    let inMonth: Int64?

    init(_ bytes: Int64, _ done: [LastDone], free: Int64?) {
        self.bytes = bytes
        self.free = free
        let samples = StorageSample.all(in: done)
        let now = done.first { $0.what == StorageSample.what }
            .map { $0.doneAt.milliseconds + $0.ago }
        func growth(in days: Int64) -> Int64? {
            guard let now else { return nil }
            let since = now - days * StorageGrowth.day
            return samples.last { $0.at <= since }.map { bytes - $0.bytes }
        }
        inWeek = growth(in: 7)
        inMonth = growth(in: 30)
    }

    /// The estimated days until the disk is full, based on the longest measured period.
    var daysUntilFull: Int64? {
        let daily = inMonth.map { $0 / 30 } ?? inWeek.map { $0 / 7 }
        guard let free, let daily, daily > 0 else { return nil }
        return free / daily
    }

    var members: [(String, JSON)] {
        func number(_ number: Int64?) -> JSON { number.map { .integer($0) } ?? .null }
        return [
            ("bytes", .integer(bytes)), ("bytes_in_7_days", number(inWeek)),
            ("bytes_in_30_days", number(inMonth)), ("free_bytes", number(free)),
            ("days_until_full", number(daysUntilFull)),
        ]
    }

    var text: String {
        func change(_ bytes: Int64?, _ days: Int) -> String {
            guard let bytes else { return "growth in \(days) days is not known yet" }
            return "\(bytesText(abs(bytes))) \(bytes < 0 ? "less" : "more") in \(days) days"
        }
        let words = [
            bytesText(bytes), change(inWeek, 7), change(inMonth, 30),
            free.map { "\(bytesText($0)) free" }, daysUntilFull.map { "full in \($0) days" },
        ]
        return words.compactMap(\.self).joined(separator: ", ")
    }
}

/// A table with its indexes, largest first.
private struct StoredTable {
    let own: StoredRelation
    let indexes: [StoredRelation]

    var bytes: Int64 { indexes.reduce(own.bytes) { $0 + $1.bytes } }

    static func all(_ found: [StoredRelation]) -> [StoredTable] {
        let indexes = Dictionary(grouping: found.filter { $0.index != nil }, by: \.table)
        return found.filter { $0.index == nil }.map { table in
            StoredTable(
                own: table,
                indexes: (indexes[table.table] ?? []).sorted { $0.bytes > $1.bytes })
        }.sorted { ($1.bytes, $0.own.table) < ($0.bytes, $1.own.table) }
    }

    var json: JSON {
        func rows(_ one: StoredRelation) -> JSON { one.rows.map { .integer($0) } ?? .null }
        return [
            "table": .string(own.table), "bytes": .integer(own.bytes), "rows": rows(own),
            "indexes": .array(
                indexes.map { index in
                    [
                        "index": .string(index.index ?? ""), "bytes": .integer(index.bytes),
                        "rows": rows(index),
                    ]
                }),
        ]
    }

    var text: String {
        func line(_ name: String, _ one: StoredRelation) -> String {
            let rows = one.rows.map { "about \($0) rows" } ?? "rows not counted yet"
            return "\(name.padded(to: 40))\(bytesText(one.bytes).padded(to: 14))\(rows)"
        }
        let head = line(own.table, own)
        return ([head] + indexes.map { line("  \($0.index ?? "")", $0) }).joined(separator: "\n")
    }
}
