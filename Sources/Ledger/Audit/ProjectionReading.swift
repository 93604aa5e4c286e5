import Auditing
import Core
import Postgres
import SQL

/// A table's rows by key.
typealias RowTexts = [[String]: RowText]

/// The log and the tables of some customers, read at one moment.
struct ProjectionPage {
    let states: [Stream: StreamState]
    /// The rows that should exist according to the events.
    fileprivate(set) var expected: [Stream: [Table: RowTexts]] = [:]
    fileprivate(set) var found: [Stream: [Table: RowTexts]] = [:]
    /// For each project, the catalog version that the rows of all its customers follow.
    fileprivate(set) var projected: [ProjectID: Int64] = [:]
    /// The kept states, each with the state that results from the events at the same version.
    fileprivate(set) var kept: [Stream: (found: FoundState, state: CustomerState?)] = [:]
    /// Credits that are waiting or may be waiting, according to the streams' events.
    fileprivate(set) var credits: [Stream: ExpectedCredits] = [:]
    /// Customers who cannot be compared, because a catalog is missing or damaged.
    fileprivate(set) var lost: [Stream: AuditFinding] = [:]
    /// Tokens whose purchases already have a customer, according to the rows. Such tokens need no waiting rows.
    fileprivate(set) var owned: Set<TokenKey> = []

    fileprivate init(_ states: [Stream: StreamState]) { self.states = states }

    func project(of stream: Stream) -> ProjectState {
        states[.ofProject(stream.project)]?.project ?? ProjectState()
    }

    /// Returns whether the customer's rows may still be based on an older catalog.
    func isWaiting(_ stream: Stream) -> Bool {
        let table = Table.customers
        guard let row = found[stream]?[table]?.values.first,
            let version = table["catalog_version", row].flatMap(Int64.init)
        else { return false }
        let newest = project(of: stream).catalogVersion
        return version < newest && (projected[stream.project] ?? 0) < newest
    }

    /// Returns the rows that a table must contain. A token that already has a customer needs no waiting row.
    func needed(of table: Table, _ stream: Stream) -> RowTexts {
        let expected = expected[stream]?[table] ?? [:]
        if table != .unclaimedTokens, table != .carriedTokens { return expected }
        return expected.filter { key, row in
            let token = TokenKey(table["token", row] ?? "", in: stream)
            return found[stream]?[table]?[key] != nil || !owned.contains(token)
        }
    }
}

/// The customer that a row names. The name may be invalid.
struct CustomerName {
    let project: String
    let environment: String
    let customer: String

    init(_ rows: borrowing Rows, _ row: Int, from column: Int = 0) {
        project = rows.text(row, column)
        environment = rows.text(row, column + 1)
        customer = rows.text(row, column + 2)
    }

    init(_ stream: Stream) {
        project = stream.project.text
        environment = stream.environment.rawValue
        customer = stream.customer.text
    }

    var stream: Stream? {
        try? Stream(project: project, environment: environment, customer: customer)
    }
}

extension Auditor {
    private static let namesPage = 500

    /// Returns up to `limit` customers after `last` that have a row in the shard.
    func customers(
        in shard: Shard, of project: ProjectID? = nil, after last: CustomerName?, _ limit: Int
    ) throws(LedgerError) -> [CustomerName] {
        let last = last.map {
            RowText(["", $0.project, $0.environment, $0.customer], of: .customers)
        }
        let call = Table.customers.walk(in: shard, of: project, after: last, limit)
        return try link.list(call) { rows, row in CustomerName(rows, row, from: 1) }
    }

    func sampleOfCustomers(_ count: Int) throws(LedgerError) -> [CustomerName] {
        try link.list(Table.customers.sample(count)) { rows, row in
            CustomerName(rows, row, from: 1)
        }
    }

    func sampleOfCustomers(
        _ count: Int, in shard: Shard, of project: ProjectID
    ) throws(LedgerError) -> [CustomerName] {
        let call = Statement.sampleProjectCustomers(
            .int2(shard.number), .text(project.text), .int8(Int64(count)))
        return try link.list(call) { rows, row in CustomerName(rows, row) }
    }

    /// Returns customers that have events but no row in the projections.
    func unlistedCustomers(
        in shard: Shard, of project: ProjectID?, _ limit: Int
    ) throws(LedgerError) -> [CustomerName] {
        let call = Statement.auditUnlisted(
            .int2(shard.number), .text(project?.text), .int8(Int64(limit)))
        return try link.list(call) { rows, row in CustomerName(rows, row) }
    }

    /// Adds rows whose customers are missing from the `customers` table.
    func addOrphans(
        in shard: Shard, of project: ProjectID? = nil, to findings: inout AuditFindings
    ) throws(LedgerError) {
        for table in Table.ofCustomers where table != .customers {
            let call = table.statements.listOrphans(.int2(shard.number), .text(project?.text))
            try add(call, total: 1, to: &findings) { rows, row in
                AuditFinding(
                    table.title, rows.text(row, 0), shard: shard, column: "row",
                    expected: "none: the log has no events of this customer", found: "a row")
            }
        }
    }

    /// Returns the states of these customers and of their projects, together with the customers' rows.
    func snapshot(of streams: [Stream]) throws(LedgerError) -> ProjectionPage {
        try link.settled { connection throws(LedgerError) in
            try connection.execute([Statement.beginSnapshot()])
            let wanted = Set(streams).union(streams.map { .ofProject($0.project) })
            var recorded: [Stream: [RecordedEvent]] = [:]
            let kept = try connection.foundStates(of: streams)
            var passed: [Stream: CustomerState] = [:]
            var states = try connection.states(
                of: Array(wanted), noting: kept.mapValues(\.version), in: &passed
            ) { event in
                if event.event.isErasure { recorded[event.stream] = nil }
                if event.event.mayAwaitProduct {
                    recorded[event.stream, default: []].append(event)
                }
            }
            let read = states.map { ($0.key, $0.value) }
            var lost: [ProjectID: AuditFinding] = [:]
            for (stream, catalog) in try connection.lackedCatalogs(of: read, catalogs) {
                switch catalog {
                case .success(let catalog): states[stream]?.supply(catalog)
                case .failure(let error):
                    lost[stream.project] = try AuditFinding(
                        lost: states[stream]?.lackedEdition, of: stream.project, error)
                }
            }
            var page = ProjectionPage(states)
            for stream in streams { page.lost[stream] = lost[stream.project] }
            for (stream, found) in kept { page.kept[stream] = (found, passed[stream]) }
            let readable = streams.filter { page.lost[$0] == nil }
            try connection.readRows(of: readable, into: &page)
            recorded = recorded.filter { lost[$0.key.project] == nil }
            let needs = recorded.compactMap { stream, events in
                PastNeed(after: events, of: stream, in: page.project(of: stream))
            }
            let past = try connection.pastCatalogs(for: needs, catalogs)
            try connection.execute([Statement.commit()])
            for need in needs {
                guard let failure = past.failure(of: need) else { continue }
                page.lost[need.stream] = try AuditFinding(
                    lost: failure.edition, of: need.stream.project, failure.error)
            }
            for (stream, events) in recorded {
                page.credits[stream] = ExpectedCredits(
                    after: events, of: stream, in: page.project(of: stream),
                    by: past)
            }
            return page
        }
    }

    /// Returns the expected and the found rows of one project or of all projects.
    func projectRows(
        of wanted: ProjectID? = nil
    ) throws(LedgerError) -> (expected: [Table: RowTexts], found: [Table: RowTexts]) {
        try link.settled { connection throws(LedgerError) in
            try connection.execute([Statement.beginSnapshot()])
            var projects = wanted.map { [$0] } ?? []
            if wanted == nil {
                projects = try connection.list(Statement.auditProjectStreams()) {
                    rows, row throws(LedgerError) in try rows.identifier(row, 0)
                }
            }
            let states = try connection.states(of: projects.map { .ofProject($0) })
            var (expected, found): ([Table: RowTexts], [Table: RowTexts]) = ([:], [:])
            for table in Table.ofProjects {
                for project in projects {
                    let state = states[.ofProject(project)]?.project ?? ProjectState()
                    for row in table.rows(of: Origin(project, state)) {
                        let row = RowText(row, of: table)
                        expected[table, default: [:]][row.key] = row
                    }
                }
                var last: RowText?
                repeat {
                    let page = try connection.rows(
                        of: table, table.walk(of: wanted, after: last, Auditor.namesPage))
                    for row in page { found[table, default: [:]][row.key] = row }
                    last = page.last
                } while last != nil
            }
            try connection.execute([Statement.commit()])
            return (expected, found)
        }
    }

    /// Returns the next page of rows of a name table, or roughly `sample` random rows. Also returns the named
    /// customers' states at the same moment.
    func names(
        of table: Table, in project: ProjectID? = nil, after last: RowText?, sample: Int?
    ) throws(LedgerError) -> (rows: [RowText], states: [Stream: StreamState]) {
        try link.settled { connection throws(LedgerError) in
            try connection.execute([Statement.beginSnapshot()])
            let rows = try connection.rows(
                of: table,
                sample.map(table.sample) ?? table.walk(of: project, after: last, Auditor.namesPage))
            let streams = Set(rows.compactMap { try? table.stream(of: $0) })
            var unreadable: Set<Stream> = []
            let states = try connection.states(of: Array(streams), unreadable: &unreadable)
            try connection.execute([Statement.commit()])
            // The comparison of the customers' own rows reports unreadable streams.
            return (rows, states.filter { !unreadable.contains($0.key) })
        }
    }
}

extension Connection {
    fileprivate mutating func rows(
        of table: Table, _ call: Call
    ) throws(LedgerError) -> [RowText] {
        var found: [RowText] = []
        try read([call]) { _, rows in
            for row in 0..<rows.count { found.append(RowText(rows, row, of: table)) }
        }
        return found
    }

    /// Reads the customers' existing rows and adds the expected ones.
    fileprivate mutating func readRows(
        of streams: [Stream], into page: inout ProjectionPage
    ) throws(LedgerError) {
        let tokens = Set(
            page.states.flatMap { stream, state in state.tokensOfPurchases(in: stream) })
        var owned: Set<TokenKey> = []
        var projected: [ProjectID: Int64] = [:]
        try read([TokenKey.lookUp(tokens), Statement.listProjected()]) {
            index, rows throws(LedgerError) in
            for row in 0..<rows.count {
                if index == 0 {
                    owned.insert(try TokenKey(rows, row))
                } else {
                    projected[try rows.identifier(row, 0)] = rows.int8(row, 1)
                }
            }
        }
        (page.owned, page.projected) = (owned, projected)
        let tables = Table.ofCustomers + Table.ofNames
        var keys: [Table: [Row]] = [:]
        // The rightful customer for each row key.
        var owners: [Table: [[String]: Stream]] = [:]
        for stream in streams {
            guard let customer = page.states[stream]?.customer, customer.version > 0 else {
                continue
            }
            let origin = Origin(stream, customer, by: page.project(of: stream))
            for table in tables {
                for row in table.rows(of: origin) {
                    let text = RowText(row, of: table)
                    page.expected[stream, default: [:]][table, default: [:]][text.key] = text
                    if table.shape.path != nil { continue }
                    keys[table, default: []].append(row)
                    owners[table, default: [:]][text.key] = stream
                }
            }
        }
        var found: [(Table, Stream, RowText)] = []
        try read(tables.map { $0.read(streams, keys: keys[$0] ?? []) }) { index, rows in
            let table = tables[index]
            for row in 0..<rows.count {
                let text = RowText(rows, row, of: table)
                guard let stream = owners[table]?[text.key] ?? (try? table.stream(of: text)) else {
                    continue
                }
                found.append((table, stream, text))
            }
        }
        for (table, stream, text) in found {
            page.found[stream, default: [:]][table, default: [:]][text.key] = text
        }
    }

    /// Folds all events of each stream and passes every event to `seen`.
    mutating func states(
        of streams: [Stream], seen: (RecordedEvent) -> Void = { _ in }
    ) throws(LedgerError) -> [Stream: StreamState] {
        var passed: [Stream: CustomerState] = [:]
        return try states(of: streams, noting: [:], in: &passed, seen: seen)
    }

    /// Folds the streams in the same way, and also passes the states at these versions to `passed`.
    mutating func states(
        of streams: [Stream], noting versions: [Stream: Int64],
        in passed: inout [Stream: CustomerState], seen: (RecordedEvent) -> Void
    ) throws(LedgerError) -> [Stream: StreamState] {
        var unreadable: Set<Stream> = []
        let states = try states(
            of: streams, unreadable: &unreadable, noting: versions, in: &passed, seen: seen)
        if let stream = unreadable.first {
            throw .unreadable("an event of \(quoted(stream.customer.text))")
        }
        return states
    }

    /// Folds the streams. Leaves out every stream that this release cannot read.
    mutating func states(
        of streams: [Stream], unreadable: inout Set<Stream>
    ) throws(LedgerError) -> [Stream: StreamState] {
        var passed: [Stream: CustomerState] = [:]
        return try states(
            of: streams, unreadable: &unreadable, noting: [:], in: &passed, seen: { _ in })
    }

    private mutating func states(
        of streams: [Stream], unreadable: inout Set<Stream>, noting versions: [Stream: Int64],
        in passed: inout [Stream: CustomerState], seen: (RecordedEvent) -> Void
    ) throws(LedgerError) -> [Stream: StreamState] {
        var unread: Set<Stream> = []
        var states = Dictionary(
            uniqueKeysWithValues: streams.map { ($0, StreamState(emptyFor: $0)) })
        let call = Statement.loadStreams(
            of: streams, after: [Int64](repeating: 0, count: streams.count),
            seenHeads: StateCache.noHeads, limit: nil)
        try read([call]) { _, rows throws(LedgerError) in
            for row in 0..<rows.count {
                let event = try EventRow(rows, row)
                do throws(LedgerError) {
                    let recorded = try event.recorded()
                    states[event.stream]?.apply(recorded)
                    if versions[event.stream] == event.version {
                        passed[event.stream] = states[event.stream]?.customer
                    }
                    seen(recorded)
                } catch {
                    unread.insert(event.stream)
                }
            }
        }
        for (stream, state) in states where state.customer?.lacksErasure == true {
            unread.insert(stream)
        }
        unreadable = unread
        return states
    }
}
