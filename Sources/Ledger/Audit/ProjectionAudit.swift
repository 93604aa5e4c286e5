package import Auditing
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
    /// Rows of which no events tell, and rows that lack without being a customer's to write anew.
    private(set) var strays = StrayRows()
    /// Customers whose events cannot be read: what the log cannot put right.
    package private(set) var unreadable = 0
    /// Projects whose own rows, or those of their keys and apps, differ.
    private(set) var differingProjects: [ProjectID] = []

    /// How much there is to mend: customers, projects and rows.
    package var found: Int {
        differing.count + strays.count + unreadable + differingProjects.count
    }

    package init() {}

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
                try compare(names, in: shard, auditor)
                last = end
                progress(customers)
            }
            let unlisted = try auditor.unlistedCustomers(in: shard, of: nil, 10_000)
            for page in unlisted.pages(of: ProjectionAudit.page) {
                try compare(page, auditor)
                progress(customers)
            }
            try auditor.addOrphans(in: shard, to: &findings)
        }
        try compareNames(of: nil, auditor)
        addMissing()
    }

    /// Compares every row that names a customer beyond the shards with that customer's events.
    private mutating func compareNames(
        of project: ProjectID?, _ auditor: Auditor
    ) throws(LedgerError) {
        for table in ProjectedTable.ofNames {
            var last: [String]?
            while true {
                let page = try auditor.names(of: table, in: project, after: last, sample: nil)
                guard let end = page.rows.last else { break }
                compare(names: page.rows, of: table, page.states)
                last = end.key
            }
        }
    }

    /// Compares the rows of a project itself, and all of its names.
    package mutating func compareNames(
        in project: ProjectID, _ auditor: Auditor
    ) throws(LedgerError) {
        try compareProjects(auditor, project)
        try compareNames(of: project, auditor)
        addMissing()
    }

    /// Compares projects, keys and apps, and the rows of about that many customers and names.
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
            }
        }
        missing = [:]
    }

    /// Compares the rows of a project's customers in one shard, and of those who should have some there.
    package mutating func compare(
        _ project: ProjectID, in shard: Shard, _ walk: UnlistedWalk, _ auditor: Auditor
    ) throws(LedgerError) {
        var last: CustomerName?
        while true {
            let names = try auditor.customers(
                in: shard, of: project, after: last, ProjectionAudit.page)
            guard let end = names.last else { break }
            try compare(names, in: shard, auditor)
            last = end
        }
        let unlisted = try walk.customers(in: shard, of: project, auditor)
        for page in unlisted.pages(of: ProjectionAudit.page) { try compare(page, auditor) }
        let before = findings.count
        try auditor.addOrphans(in: shard, of: project, to: &findings)
        strays.orphans += findings.count - before
        addMissing()
    }

    /// Compares the rows of some of a project's customers, from a few shards where they have many.
    package mutating func compareSample(
        of count: Int, in project: ProjectID, _ auditor: Auditor
    ) throws(LedgerError) {
        try compareProjects(auditor, project)
        var left = count
        for shard in Shard.all.shuffled() where left > 0 {
            let names = try auditor.sampleOfCustomers(min(left, count / 4), in: shard, of: project)
            for page in names.pages(of: ProjectionAudit.page) {
                try compare(page, in: shard, auditor)
            }
            left -= names.count
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

    mutating func compareProjects(
        _ auditor: Auditor, _ project: ProjectID? = nil
    ) throws(LedgerError) {
        let before = findings.count
        defer {
            if let project, findings.count > before { differingProjects.append(project) }
        }
        let found = try auditor.projectRows(of: project)
        let expected = ProjectedTable.rows(of: found.calls)
        for table in [ProjectedTable.projects, .keys, .apps] {
            compare(expected[table.name] ?? [:], found.rows[table.name] ?? [:], of: table)
        }
    }

    /// Compares customers whose rows lie in that shard, where it is known.
    private mutating func compare(
        _ names: [CustomerName], in shard: Shard? = nil, _ auditor: Auditor
    ) throws(LedgerError) {
        var streams: [Stream] = []
        for name in names {
            let stream = name.stream
            if let stream, stream.shard == shard ?? stream.shard {
                streams.append(stream)
            } else if let stream, let shard {
                strays.names.append(StrayRows.Name(name, in: shard))
                findings.add(
                    AuditFinding(
                        "deed.customers", named(stream), shard: shard, column: "shard",
                        expected: "\(stream.shard.number)", found: "\(shard.number)"))
            } else {
                strays.names.append(StrayRows.Name(name, in: shard))
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
                unreadable += 1
                findings.add(
                    AuditFinding(
                        "deed.events",
                        named(stream), shard: stream.shard, column: "payload",
                        expected: "events that can be read",
                        found: what))
                return
            }
            for stream in streams {
                customers -= 1
                try compare([CustomerName(stream)], auditor)
            }
        }
    }

    private mutating func compare(_ streams: [Stream], _ page: ProjectionPage) {
        // After the rows were read: none of them was written later.
        for stream in streams {
            guard let customer = page.states[stream]?.customer else { continue }
            if customer.version == 0 {
                let row = page.rows[ProjectedTable.customers.name]?[stream]
                if row == nil { continue }
                strays.names.append(StrayRows.Name(CustomerName(stream), in: stream.shard))
                findings.add(
                    AuditFinding(
                        "deed.customers", named(stream), shard: stream.shard, column: "row",
                        expected: "none: the log has no event of this customer", found: "a row"))
                continue
            }
            compareCredits(of: stream, customer, page)
            let (count, missed) = (findings.count, missingCount)
            defer {
                // What names a customer may be another one's by now; whose it should be is written anew.
                if findings.count > count || missingCount > missed { differing.append(stream) }
            }
            let project = page.states[.ofProject(stream.project)]?.project ?? ProjectState()
            let calls = ProjectedRows.all(of: customer, stream, by: project)
            let expected = ProjectedTable.rows(of: calls)
            let isWaiting = page.isWaiting(stream, for: project)
            for table in Auditor.tablesOfCustomers
            where table.name != ProjectedTable.waitingCredits.name {
                let found = page.rows[table.name]?[stream] ?? [:]
                compare(
                    page.needed(expected[table.name] ?? [:], found, of: table, stream), found,
                    of: table,
                    except: isWaiting
                        ? [
                            "catalog_version", "runs", "kind", "transactions", "next_boundary_at",
                            "inquiry_at",
                        ] : []
                )
            }
        }
    }

    /// Compares rows of a table of names with what their customers' events tell.
    private mutating func compare(
        names rows: [ProjectedRow], of table: ProjectedTable, _ states: [Stream: StreamState]
    ) {
        for row in rows {
            let stream = try? table.stream(of: row)
            if let stream, states[stream] == nil { continue }
            let customer = stream.flatMap { states[$0]?.customer } ?? CustomerState()
            if customer.isErased { continue }
            let calls = stream.map {
                ProjectedRows.all(of: customer, $0, by: ProjectState())
            }
            let expected = ProjectedTable.rows(of: calls ?? [])[table.name]?[row.key]
            let owner = missing[table.name]?.removeValue(forKey: row.key)
            if findings.listed.contains(where: { $0.names(row, of: table) }) { continue }
            if expected == nil { strays.rows.append(StrayRows.Row(table, row, stream)) }
            compare(expected ?? owner, row, of: table, except: [])
        }
    }

    private var missingCount: Int { missing.values.reduce(0) { $0 + $1.count } }

    /// Compares what waits for a product of the catalog.
    private mutating func compareCredits(
        of stream: Stream, _ customer: CustomerState, _ page: ProjectionPage
    ) {
        if customer.isErased { return }
        let table = ProjectedTable.waitingCredits
        let found = page.rows[table.name]?[stream] ?? [:]
        let needed = page.credits[stream]?.needed ?? [:]
        let possible = page.credits[stream]?.possible ?? []
        for (key, row) in found where needed[key] == nil && !possible.contains(key) {
            strays.rows.append(StrayRows.Row(table, row, stream))
            add(row, of: table, "row", "none: the log has no event for it", "a row")
        }
        for (key, row) in needed where found[key]?.values != row.values {
            if found[key] != nil { strays.rows.append(StrayRows.Row(table, row, stream)) }
            strays.missingCredits.append(row)
            add(row, of: table, "row", row.values.last.flatMap(\.self) ?? "", "none, or another")
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
        guard let expected else {
            if let found {
                add(found, of: table, "row", "none: the log has no event for it", "a row")
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
