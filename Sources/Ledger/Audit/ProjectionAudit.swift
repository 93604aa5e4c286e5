package import Core
import Postgres
import SQL

/// Compares what is projected with the fold of the log, row by row, as of one moment for each page.
package struct ProjectionAudit {
    private static let page = 200

    /// Customers whose rows were compared.
    package private(set) var customers = 0
    package private(set) var findings = AuditFindings()
    /// Rows of tables of names that were not found where their customers have them: another customer
    /// may have them now.
    private var missing: [String: [[String]: ProjectedRow]] = [:]
    /// Whose rows differ, in the order in which they were found.
    package private(set) var differing: [Stream] = []
    private let now: () -> Instant

    /// `now` decides which changes still lie ahead.
    package init(now: @escaping () -> Instant) {
        self.now = now
    }

    /// Compares everything: rows that should be there, and rows that should not.
    package mutating func compareAll(
        _ auditor: Auditor, progress: (_ customers: Int) -> Void
    ) throws(LedgerError) {
        try compareProjects(auditor)
        for shard in Shard.all {
            var last: CustomerName?
            while true {
                let names = try auditor.customers(in: shard, after: last, ProjectionAudit.page)
                guard let end = names.last else { break }
                try compare(names, auditor)
                last = end
                progress(customers)
            }
            try auditor.addOrphans(in: shard, to: &findings)
        }
        for table in ProjectedTable.ofNames {
            var last: [String]?
            while true {
                let page = try auditor.names(of: table, after: last, sample: nil)
                guard let end = page.rows.last else { break }
                compare(names: page.rows, of: table, page.states)
                last = end.key
            }
        }
        addMissing()
    }

    /// Compares projects, keys and apps, and the rows of about so many customers and names.
    package mutating func compareSample(
        of count: Int, _ auditor: Auditor
    ) throws(LedgerError) {
        try compareProjects(auditor)
        let names = try auditor.sampleOfCustomers(count)
        for start in stride(from: 0, to: names.count, by: ProjectionAudit.page) {
            let end = min(start + ProjectionAudit.page, names.count)
            try compare(Array(names[start..<end]), auditor)
        }
        for table in ProjectedTable.ofNames {
            let page = try auditor.names(of: table, after: nil, sample: count)
            compare(names: page.rows, of: table, page.states)
        }
        addMissing()
    }

    private mutating func addMissing() {
        for table in ProjectedTable.ofNames {
            for row in (missing[table.name] ?? [:]).values.sorted(by: {
                $0.key.lexicographicallyPrecedes($1.key)
            }) {
                add(row, of: table, "row", "a row", "none")
                if let stream = try? table.stream(of: row), !differing.contains(stream) {
                    differing.append(stream)
                }
            }
        }
        missing = [:]
    }

    /// Compares the rows of a project's customers in one shard.
    package mutating func compare(
        _ project: ProjectID, in shard: Shard, _ auditor: Auditor
    ) throws(LedgerError) {
        var last: CustomerName?
        while true {
            let names = try auditor.customers(in: shard, after: last, ProjectionAudit.page)
            guard let end = names.last else { return addMissing() }
            try compare(names.filter { $0.project == project.text }, auditor)
            last = end
        }
    }

    /// Compares the rows of some of a project's customers.
    package mutating func compareSample(
        of count: Int, in project: ProjectID, _ auditor: Auditor
    ) throws(LedgerError) {
        let names = try auditor.sampleOfCustomers(count).filter { $0.project == project.text }
        for start in stride(from: 0, to: names.count, by: ProjectionAudit.page) {
            let end = min(start + ProjectionAudit.page, names.count)
            try compare(Array(names[start..<end]), auditor)
        }
        addMissing()
    }

    /// Compares the rows of the customers of these streams.
    package mutating func compare(
        _ streams: [Stream], _ auditor: Auditor
    ) throws(LedgerError) {
        for start in stride(from: 0, to: streams.count, by: ProjectionAudit.page) {
            let page = Array(streams[start..<min(start + ProjectionAudit.page, streams.count)])
            compare(page, try auditor.snapshot(of: page))
        }
        addMissing()
    }

    private mutating func compareProjects(_ auditor: Auditor) throws(LedgerError) {
        let found = try auditor.projectRows()
        let expected = ProjectedTable.rows(of: found.calls)
        for table in [ProjectedTable.projects, .keys, .apps] {
            compare(expected[table.name] ?? [:], found.rows[table.name] ?? [:], of: table)
        }
    }

    private mutating func compare(
        _ names: [CustomerName], _ auditor: Auditor
    ) throws(LedgerError) {
        var streams: [Stream] = []
        for name in names {
            if let stream = name.stream {
                streams.append(stream)
            } else {
                findings.add(
                    AuditFinding(
                        "deed.customers", "\(name.project), \(name.environment), \(name.customer)",
                        column: "environment", expected: "a customer's names",
                        found: "what no release writes"))
            }
        }
        customers += streams.count
        do throws(LedgerError) {
            compare(streams, try auditor.snapshot(of: streams))
        } catch .unreadable(let what) {
            // One by one, so that the stream to blame is named and the others are compared.
            if let stream = streams.first, streams.count == 1 {
                findings.add(
                    AuditFinding(
                        "deed.events",
                        named(stream), shard: stream.shard, column: "payload",
                        expected: "events that can be read",
                        found: what))
                return
            }
            for name in names where name.stream != nil {
                customers -= 1
                try compare([name], auditor)
            }
        }
    }

    private mutating func compare(_ streams: [Stream], _ page: ProjectionPage) {
        // After the rows were read: none of them was written later.
        let now = now()
        for stream in streams {
            guard let customer = page.states[stream]?.customer else { continue }
            if customer.version == 0 {
                findings.add(
                    AuditFinding(
                        "deed.customers", named(stream), shard: stream.shard, column: "row",
                        expected: "none: the log has no event of this customer", found: "a row"))
                continue
            }
            let count = findings.count
            defer { if findings.count > count { differing.append(stream) } }
            let project = page.states[.ofProject(stream.project)]?.project ?? ProjectState()
            let calls = ProjectedRows.all(of: customer, stream, by: project, now: now)
            let expected = ProjectedTable.rows(of: calls)
            let isWaiting = page.isWaiting(stream, for: project)
            for table in Auditor.tablesOfCustomers {
                let found = page.rows[table.name]?[stream] ?? [:]
                compare(
                    expected[table.name] ?? [:], found, of: table,
                    except: isWaiting
                        ? [
                            "catalog_version", "runs", "kind", "next_change_at", "transactions",
                            "next_boundary_at", "inquiry_at",
                        ] : []
                ) { column, instant in
                    column == "next_boundary_at"
                        ? customer.isUnpublished(instant, in: project)
                        : customer.hasPassed(instant, by: project.catalog, now)
                }
            }
        }
    }

    /// Compares rows of a table of names with what their customers' events tell.
    private mutating func compare(
        names rows: [ProjectedRow], of table: ProjectedTable, _ states: [Stream: StreamState]
    ) {
        let now = now()
        for row in rows {
            let stream = try? table.stream(of: row)
            if let stream, states[stream] == nil { continue }
            let customer = stream.flatMap { states[$0]?.customer } ?? CustomerState()
            if customer.isErased { continue }
            let calls = stream.map {
                ProjectedRows.all(of: customer, $0, by: ProjectState(), now: now)
            }
            let expected = ProjectedTable.rows(of: calls ?? [])[table.name]?[row.key]
            let owner = missing[table.name]?.removeValue(forKey: row.key)
            if findings.listed.contains(where: { $0.names(row, of: table) }) { continue }
            compare(expected ?? owner, row, of: table, except: []) { _, _ in false }
        }
    }

    private mutating func compare(
        _ expected: [[String]: ProjectedRow], _ found: [[String]: ProjectedRow],
        of table: ProjectedTable, except: Set<String> = [],
        allowing isAllowed: (String, Instant) -> Bool = { _, _ in false }
    ) {
        for key in Set(expected.keys).union(found.keys).sorted(by: {
            $0.lexicographicallyPrecedes($1)
        }) {
            compare(
                expected[key], found[key], of: table, except: except, allowing: isAllowed)
        }
    }

    private mutating func compare(
        _ expected: ProjectedRow?, _ found: ProjectedRow?, of table: ProjectedTable,
        except: Set<String>, allowing isAllowed: (String, Instant) -> Bool
    ) {
        guard let expected else {
            if let found {
                add(found, of: table, "row", "none: the log tells of no such thing", "a row")
            }
            return
        }
        guard let found else {
            if ProjectedTable.ofNames.contains(where: { $0.name == table.name }) {
                missing[table.name, default: [:]][expected.key] = expected
            } else {
                add(expected, of: table, "row", "a row", "none")
            }
            return
        }
        for (index, column) in table.columns.enumerated() where !except.contains(column) {
            let (wanted, there) = (expected.values[index], found.values[index])
            if wanted == there { continue }
            if ["next_change_at", "next_boundary_at"].contains(column) {
                let instant = there.flatMap(Int64.init).map(Instant.init(milliseconds:))
                if instant.map({ isAllowed(column, $0) }) == true { continue }
            }
            if ["runs", "app_transactions"].contains(column), inOrder(wanted) == inOrder(there) {
                continue
            }
            add(
                expected, of: table, column, table.text(wanted, of: column),
                table.text(there, of: column))
        }
    }

    private mutating func add(
        _ row: ProjectedRow, of table: ProjectedTable, _ column: String, _ expected: String,
        _ found: String
    ) {
        findings.add(
            AuditFinding(
                table.name, table.name(of: row), column: column, expected: expected, found: found))
    }
}

/// Whose rows they are, for people.
private func named(_ stream: Stream) -> String {
    "\(stream.project), \(stream.environment), \(stream.customer)"
}

extension AuditFinding {
    /// Whether it is about that row already.
    fileprivate func names(_ row: ProjectedRow, of table: ProjectedTable) -> Bool {
        self.table == table.name && self.row == table.name(of: row)
    }
}

extension CustomerState {
    /// By how much another machine's clock may run ahead of this one's.
    private static let skewMilliseconds: Int64 = 60_000

    /// Whether it was the next change when the row was written, and has passed since.
    fileprivate func hasPassed(_ instant: Instant, by catalog: Catalog, _ now: Instant) -> Bool {
        instant <= now.advanced(byMilliseconds: CustomerState.skewMilliseconds)
            && entitlements(at: instant.advanced(byMilliseconds: -1), catalog: catalog).nextChange
                == instant
    }

    /// Whether it is a boundary of the time before boundaries were published, at which the job did not
    /// look yet.
    fileprivate func isUnpublished(_ instant: Instant, in project: ProjectState) -> Bool {
        guard let since = project.publishesSince, instant <= since else { return false }
        let runs = runs(by: project.catalog)
        return nextBoundary(of: runs, in: project, isPublished: false) == instant
    }
}
