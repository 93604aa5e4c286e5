package import Auditing
package import Core
import Postgres
import SQL

/// Compares the projections with the log, row by row. Each page is read from a single snapshot.
package struct ProjectionAudit {
    private static let page = 200

    /// The number of customers whose rows were compared.
    package private(set) var customers = 0
    package private(set) var findings = AuditFindings()
    /// Rows that are missing from name tables. Another customer may now hold them.
    private var missing: [Table: RowTexts] = [:]
    /// Streams whose rows differ from the log, in the order in which they were found.
    package private(set) var differing: [Stream] = []
    /// Rows without events, and missing rows that a rewrite of the customer's rows would not restore.
    private(set) var strays = StrayRows()
    /// The number of customers with unreadable events or catalogs, which the log cannot repair.
    package private(set) var unreadable = 0
    /// Projects whose own rows, keys or apps differ from the log.
    private(set) var differingProjects: [ProjectID] = []

    /// The number of customers, projects and rows that need repair.
    package var found: Int {
        differing.count + strays.count + unreadable + differingProjects.count
    }

    package init() {}

    /// Compares everything, including missing and superfluous rows.
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

    /// Compares every row in a name table with the events of the customer that the row names.
    private mutating func compareNames(
        of project: ProjectID?, _ auditor: Auditor
    ) throws(LedgerError) {
        for table in Table.ofNames {
            var last: RowText?
            repeat {
                let page = try auditor.names(of: table, in: project, after: last, sample: nil)
                compare(names: page.rows, of: table, page.states)
                last = page.rows.last
            } while last != nil
        }
    }

    /// Compares the project's own rows and all of its name rows.
    package mutating func compareNames(
        in project: ProjectID, _ auditor: Auditor
    ) throws(LedgerError) {
        try compareProjects(auditor, project)
        try compareNames(of: project, auditor)
        addMissing()
    }

    /// Compares projects, keys and apps, and a sample of roughly the given number of customers and names.
    package mutating func compareSample(
        of count: Int, _ auditor: Auditor
    ) throws(LedgerError) {
        try compareProjects(auditor)
        let names = try auditor.sampleOfCustomers(count)
        for page in names.pages(of: ProjectionAudit.page) { try compare(page, auditor) }
        for table in Table.ofNames {
            let page = try auditor.names(of: table, after: nil, sample: count)
            compare(names: page.rows, of: table, page.states)
        }
        addMissing()
    }

    private mutating func addMissing() {
        for table in Table.ofNames {
            for row in (missing[table] ?? [:]).inOrder {
                add(row, of: table, "row", "a row", "none")
            }
        }
        missing = [:]
    }

    /// Compares the rows of a project's customers in one shard, and reports customers whose rows are missing.
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

    /// Compares the rows of a sample of a project's customers. In a large project, only a few shards are read.
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
        for page in streams.pages(of: ProjectionAudit.page) {
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
        let rows = try auditor.projectRows(of: project)
        for table in Table.ofProjects {
            compare(rows.expected[table] ?? [:], rows.found[table] ?? [:], of: table)
        }
    }

    /// Compares the rows of these customers. If the shard is known, all of the rows must be in that shard.
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
                        found: "a value that no release writes"))
            }
        }
        customers += streams.count
        do throws(LedgerError) {
            compare(streams, try auditor.snapshot(of: streams))
        } catch {
            guard case .unreadable(let what) = error.fault else { throw error }
            // Compares the streams one at a time, to identify the faulty one and still compare the others.
            if let stream = streams.first, streams.count == 1 {
                unreadable += 1
                findings.add(
                    AuditFinding(
                        "deed.events",
                        named(stream), shard: stream.shard, column: "payload",
                        expected: "events that can be read",
                        found: what.what))
                return
            }
            for stream in streams {
                customers -= 1
                try compare([CustomerName(stream)], auditor)
            }
        }
    }

    private mutating func compare(_ streams: [Stream], _ page: ProjectionPage) {
        // The log is read after the rows, so no row can be newer than the log.
        for stream in streams {
            if let finding = page.lost[stream] {
                unreadable += 1
                findings.add(finding)
                continue
            }
            guard let customer = page.states[stream]?.customer else { continue }
            if customer.version == 0 {
                if page.found[stream]?[.customers] == nil { continue }
                strays.names.append(StrayRows.Name(CustomerName(stream), in: stream.shard))
                findings.add(
                    AuditFinding(
                        "deed.customers", named(stream), shard: stream.shard, column: "row",
                        expected: "none: the log has no events of this customer", found: "a row"))
                continue
            }
            compareCredits(of: stream, page)
            let (count, missed) = (findings.count, missingCount)
            let isWaiting = page.isWaiting(stream)
            if let (found, state) = page.kept[stream],
                let finding = found.finding(stream, named(stream), by: state)
            {
                findings.add(finding)
            }
            for table in Table.ofCustomers + Table.ofNames where table.followsFromState {
                compare(
                    page.needed(of: table, stream), page.found[stream]?[table] ?? [:], of: table,
                    isWaiting: isWaiting)
            }
            // A row may have moved to another customer in the meantime. The rightful holder's rows are then rewritten.
            if findings.count > count || missingCount > missed { differing.append(stream) }
        }
    }

    /// Compares rows in a name table with their customers' events.
    private mutating func compare(
        names rows: [RowText], of table: Table, _ states: [Stream: StreamState]
    ) {
        var known: [Stream: RowTexts] = [:]
        for row in rows {
            let stream = try? table.stream(of: row)
            if let stream, states[stream] == nil { continue }
            if let stream, known[stream] == nil {
                let customer = states[stream]?.customer ?? CustomerState()
                known[stream] = RowTexts(
                    table.rows(of: Origin(stream, customer, by: ProjectState())), of: table)
            }
            let expected = stream.flatMap { known[$0]?[row.key] }
            let owner = missing[table]?.removeValue(forKey: row.key)
            if findings.listed.contains(where: { $0.names(row, of: table) }) { continue }
            if expected == nil { strays.rows.append(StrayRows.Row(table, row, stream)) }
            compare(expected ?? owner, row, of: table)
        }
    }

    private var missingCount: Int { missing.values.reduce(0) { $0 + $1.count } }

    /// Compares the credits that are waiting for a catalog that contains their product.
    private mutating func compareCredits(of stream: Stream, _ page: ProjectionPage) {
        let table = Table.waitingCredits
        let found = page.found[stream]?[table] ?? [:]
        let needed = page.credits[stream]?.needed ?? [:]
        let possible = page.credits[stream]?.possible ?? []
        for (key, row) in found where needed[key] == nil && !possible.contains(key) {
            strays.rows.append(StrayRows.Row(table, row, stream))
            add(row, of: table, "row", "none: the log has no event for it", "a row")
        }
        for (key, row) in needed where found[key]?.values != row.values {
            if found[key] != nil, possible.contains(key) { continue }
            if found[key] != nil { strays.rows.append(StrayRows.Row(table, row, stream)) }
            strays.missingCredits.append(row)
            add(row, of: table, "row", table["product", row] ?? "", "none, or another")
        }
    }

    private mutating func compare(
        _ expected: RowTexts, _ found: RowTexts, of table: Table, isWaiting: Bool = false
    ) {
        for row in expected.merging(found, uniquingKeysWith: { row, _ in row }).inOrder {
            compare(expected[row.key], found[row.key], of: table, isWaiting: isWaiting)
        }
    }

    /// Compares rows. Skips columns that depend on the catalog while the rows wait to be rewritten for a new catalog.
    private mutating func compare(
        _ expected: RowText?, _ found: RowText?, of table: Table, isWaiting: Bool = false
    ) {
        guard let expected else {
            if let found {
                add(found, of: table, "row", "none: the log has no event for it", "a row")
            }
            return
        }
        guard let found else {
            if table.shape.kind == .ofNames {
                missing[table, default: [:]][expected.key] = expected
            } else {
                add(expected, of: table, "row", "a row", "none")
            }
            return
        }
        for (column, (wanted, there)) in zip(table.columns, zip(expected.values, found.values))
        where column.isCompared && !(isWaiting && column.isByCatalog) {
            if column.isSame(wanted, there) { continue }
            add(expected, of: table, column.name, column.shown(wanted), column.shown(there))
        }
    }

    private mutating func add(
        _ row: RowText, of table: Table, _ column: String, _ expected: String, _ found: String
    ) {
        findings.add(
            AuditFinding(
                table.title, table.title(of: row), column: column, expected: expected,
                found: found))
    }
}

/// Returns the rows' owner in readable form.
private func named(_ stream: Stream) -> String {
    "\(stream.project), \(stream.environment), \(stream.customer)"
}

extension AuditFinding {
    /// Returns whether a finding about that row already exists.
    fileprivate func names(_ row: RowText, of table: Table) -> Bool {
        self.table == table.title && self.row == table.title(of: row)
    }
}

extension RowTexts {
    fileprivate init(_ rows: [Row], of table: Table) {
        self = [:]
        for row in rows.map({ RowText($0, of: table) }) { self[row.key] = row }
    }

    fileprivate var inOrder: [RowText] {
        values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }
}
