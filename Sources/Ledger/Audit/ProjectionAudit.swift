package import Core
import Postgres
import SQL

/// Compares what is projected with the fold of the log, row by row, as of one moment for each page.
package struct ProjectionAudit {
    private static let page = 200

    /// Customers whose rows were compared.
    package private(set) var customers = 0
    package private(set) var findings = AuditFindings()
    private let now: Instant

    /// `now` decides which changes still lie ahead.
    package init(now: Instant) {
        self.now = now
    }

    /// Compares everything: rows that should be there, and rows that should not.
    package mutating func compareAll(
        _ auditor: Auditor, progress: (_ customers: Int) -> Void
    ) throws(LedgerError) {
        try compareProjects(auditor)
        for shard in Shard.all {
            var last: Stream?
            while true {
                let streams = try auditor.customers(in: shard, after: last, ProjectionAudit.page)
                guard let end = streams.last else { break }
                try compare(streams, auditor)
                last = end
                progress(customers)
            }
            for orphan in try auditor.orphans(in: shard) { findings.add(orphan) }
        }
        for table in ProjectedTable.ofNames {
            try auditor.forNames(of: table, sample: nil) { rows, connection throws(LedgerError) in
                try compare(names: rows, of: table, &connection)
            }
        }
    }

    /// Compares projects, keys and apps, and the rows of about so many customers and names.
    package mutating func compareSample(
        of count: Int, _ auditor: Auditor
    ) throws(LedgerError) {
        try compareProjects(auditor)
        let streams = try auditor.sampleOfCustomers(count)
        for start in stride(from: 0, to: streams.count, by: ProjectionAudit.page) {
            try compare(
                Array(streams[start..<min(start + ProjectionAudit.page, streams.count)]), auditor)
        }
        for table in ProjectedTable.ofNames {
            try auditor.forNames(of: table, sample: count) { rows, connection throws(LedgerError) in
                try compare(names: rows, of: table, &connection)
            }
        }
    }

    private mutating func compareProjects(_ auditor: Auditor) throws(LedgerError) {
        let found = try auditor.projectRows()
        let expected = ProjectedTable.rows(of: found.calls)
        for table in [ProjectedTable.projects, .keys, .apps] {
            compare(expected[table.name] ?? [:], found.rows[table.name] ?? [:], of: table)
        }
    }

    private mutating func compare(
        _ streams: [Stream], _ auditor: Auditor
    ) throws(LedgerError) {
        let page = try auditor.snapshot(of: streams)
        customers += streams.count
        for stream in streams {
            guard let customer = page.states[stream]?.customer else { continue }
            let project = page.states[.ofProject(stream.project)]?.project ?? ProjectState()
            let calls = ProjectedRows.all(of: customer, stream, by: project, now: now)
            let expected = ProjectedTable.rows(of: calls)
            let isWaiting = page.isWaiting(stream, for: project)
            for table in Auditor.tablesOfCustomers {
                let found = page.rows[table.name]?[stream] ?? [:]
                compare(
                    expected[table.name] ?? [:], found, of: table,
                    except: isWaiting ? ["catalog_version", "runs", "kind"] : [])
            }
        }
    }

    /// Compares rows of a table of names with what their customers' events tell.
    private mutating func compare(
        names rows: [ProjectedRow], of table: ProjectedTable, _ connection: inout Connection
    ) throws(LedgerError) {
        let streams = try rows.map { row throws(LedgerError) in try table.stream(of: row) }
        let states = try connection.states(of: Array(Set(streams)))
        for (row, stream) in zip(rows, streams) {
            let customer = states[stream]?.customer ?? CustomerState()
            if customer.isErased { continue }
            let calls = ProjectedRows.all(of: customer, stream, by: ProjectState(), now: now)
            let expected = ProjectedTable.rows(of: calls)[table.name]?[row.key]
            compare(expected, row, of: table, except: [])
        }
    }

    private mutating func compare(
        _ expected: [[String]: ProjectedRow], _ found: [[String]: ProjectedRow],
        of table: ProjectedTable, except: Set<String> = []
    ) {
        for key in Set(expected.keys).union(found.keys).sorted(by: {
            $0.lexicographicallyPrecedes($1)
        }) {
            compare(expected[key], found[key], of: table, except: except)
        }
    }

    private mutating func compare(
        _ expected: ProjectedRow?, _ found: ProjectedRow?, of table: ProjectedTable,
        except: Set<String>
    ) {
        guard let key = expected?.key ?? found?.key else { return }
        func add(_ column: String, _ expected: String, _ found: String) {
            findings.add(
                AuditFinding(
                    table.name, key.joined(separator: ", "), column: column, expected: expected,
                    found: found))
        }
        guard let expected else {
            return add("row", "none: the log tells of no such thing", "a row")
        }
        guard let found else { return add("row", "a row", "none") }
        for (index, column) in table.columns.enumerated() where !except.contains(column) {
            let (wanted, there) = (expected.values[index], found.values[index])
            if column == "next_change_at" {
                if !isNextChange(there, wanted) { add(column, wanted ?? "null", there ?? "null") }
            } else if column == "runs" {
                if inOrder(wanted) != inOrder(there) {
                    add(column, wanted ?? "null", there ?? "null")
                }
            } else if wanted != there {
                add(column, wanted ?? "null", there ?? "null")
            }
        }
    }

    /// It was the next change when the row was written, which no column tells: one that has passed
    /// since may stand there still.
    private func isNextChange(_ found: String?, _ expected: String?) -> Bool {
        if found == expected { return true }
        guard let found = found.flatMap(Int64.init) else { return false }
        return found <= now.milliseconds
    }
}
