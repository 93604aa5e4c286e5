import Auditing
import Core
import Postgres
import SQL

/// What the log and the projections say of some customers at one moment.
struct ProjectionPage {
    let states: [Stream: StreamState]
    /// By the name of the table.
    let rows: [String: [Stream: [[String]: ProjectedRow]]]
    /// The catalog under which all customers of a project are known to be projected.
    let projected: [ProjectID: Int64]
    /// The credits that wait, and may wait, by the streams' events.
    let credits: [Stream: ExpectedCredits]
    /// The tokens of purchases that rows give to customers: under these nothing has to be found.
    let owned: Set<TokenKey>

    /// Whether the customer's rows are by an older catalog, and that is not amiss yet.
    func isWaiting(_ stream: Stream, for project: ProjectState) -> Bool {
        let column = ProjectedTable.customers.columns.firstIndex(of: "catalog_version") ?? 0
        let row = rows[ProjectedTable.customers.name]?[stream]?.values.first
        guard let version = row?.values[column].flatMap(Int64.init) else { return false }
        return version < project.catalogVersion
            && (projected[stream.project] ?? 0) < project.catalogVersion
    }

    /// The expected rows of a table without those that need not be there: nothing has to be found under a token
    /// that a customer has.
    func needed(
        _ expected: [[String]: ProjectedRow], _ found: [[String]: ProjectedRow],
        of table: ProjectedTable, _ stream: Stream
    ) -> [[String]: ProjectedRow] {
        let free = [ProjectedTable.unclaimedTokens.name, ProjectedTable.carriedTokens.name]
        if !free.contains(table.name) { return expected }
        return expected.filter { key, _ in
            found[key] != nil || !owned.contains(TokenKey(key[2], in: stream))
        }
    }
}

/// What a row says whose it is, whether or not that can be a name.
struct CustomerName {
    let project: String
    let environment: String
    let customer: String

    init(_ rows: borrowing Rows, _ row: Int) {
        project = rows.text(row, 0)
        environment = rows.text(row, 1)
        customer = rows.text(row, 2)
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
    static let tablesOfCustomers: [ProjectedTable] = [
        .customers, .purchases, .balances, .orders, .orderOwners, .tokens, .holders, .unclaimed,
        .unclaimedTokens, .carriedTokens, .waitingCredits,
    ]

    func customers(
        in shard: Shard, of project: ProjectID? = nil, after last: CustomerName?, _ limit: Int
    ) throws(LedgerError) -> [CustomerName] {
        let call = Statement.auditStreams(
            .int2(shard.number), .text(last?.customer ?? ""), .text(last?.project ?? ""),
            .text(last?.environment ?? ""), .int8(Int64(limit)), .text(project?.text))
        return try all(call) { rows, row in CustomerName(rows, row) }
    }

    func sampleOfCustomers(_ count: Int) throws(LedgerError) -> [CustomerName] {
        try all(Statement.sampleCustomers(.int8(Int64(count)))) { rows, row in
            CustomerName(rows, row)
        }
    }

    func sampleOfCustomers(
        _ count: Int, in shard: Shard, of project: ProjectID
    ) throws(LedgerError) -> [CustomerName] {
        let call = Statement.sampleProjectCustomers(
            .int2(shard.number), .text(project.text), .int8(Int64(count)))
        return try all(call) { rows, row in CustomerName(rows, row) }
    }

    /// Customers of whom the log has events, and the projections no row.
    func unlistedCustomers(
        in shard: Shard, of project: ProjectID?, _ limit: Int
    ) throws(LedgerError) -> [CustomerName] {
        let call = Statement.auditUnlisted(
            .int2(shard.number), .text(project?.text), .int8(Int64(limit)))
        return try all(call) { rows, row in CustomerName(rows, row) }
    }

    /// Adds rows of customers who have none of their own.
    func addOrphans(
        in shard: Shard, of project: ProjectID? = nil, to findings: inout AuditFindings
    ) throws(LedgerError) {
        let call = Statement.auditOrphans(.int2(shard.number), .text(project?.text))
        try add(call, total: 2, to: &findings) { rows, row in
            AuditFinding(
                rows.text(row, 0), rows.text(row, 1), shard: shard, column: "row",
                expected: "none: the log has no event of this customer", found: "a row")
        }
    }

    /// The customers' and their projects' states, and the rows of the customers.
    func snapshot(of streams: [Stream]) throws(LedgerError) -> ProjectionPage {
        try link.settled { connection throws(LedgerError) in
            try connection.execute([Statement.beginSnapshot()])
            let wanted = Set(streams).union(streams.map { .ofProject($0.project) })
            var recorded: [Stream: [RecordedEvent]] = [:]
            let states = try connection.states(of: Array(wanted)) { event in
                if event.event.mayAwaitProduct { recorded[event.stream, default: []].append(event) }
            }
            let tokens = Set(
                states.flatMap { stream, state in state.tokensOfPurchases(in: stream) })
            var owned: Set<TokenKey> = []
            try connection.read([TokenKey.lookUp(tokens)]) { _, found throws(LedgerError) in
                for row in 0..<found.count { owned.insert(try TokenKey(found, row)) }
            }
            var rows: [String: [Stream: [[String]: ProjectedRow]]] = [:]
            let tables = Auditor.tablesOfCustomers
            let held = held(by: states)
            let calls = tables.map { table in
                Call(
                    statement: table.reading,
                    binds: table.name == ProjectedTable.holders.name
                        ? HolderKey.columns(Array(held.keys)) : streamColumns(streams))
            }
            try connection.read(calls) { index, found throws(LedgerError) in
                let table = tables[index]
                for row in 0..<found.count {
                    let read = ProjectedRow(found, row, of: table)
                    // For a purchase, the customer who should hold it is asked.
                    let stream =
                        table.name == ProjectedTable.holders.name
                        ? (try? Holders.key(found, row)).flatMap { held[$0] }
                        : try? table.stream(of: read)
                    guard let stream else { continue }
                    rows[table.name, default: [:]][stream, default: [:]][read.key] = read
                }
            }
            var projected: [ProjectID: Int64] = [:]
            try connection.read([Statement.listProjected()]) { _, found throws(LedgerError) in
                for row in 0..<found.count {
                    projected[try found.identifier(row, 0)] = found.int8(row, 1)
                }
            }
            try connection.execute([Statement.commit()])
            let credits = recorded.map { stream, events in
                let project = states[.ofProject(stream.project)]?.project ?? ProjectState()
                return (stream, ExpectedCredits(after: events, of: stream, in: project))
            }
            return ProjectionPage(
                states: states, rows: rows, projected: projected,
                credits: Dictionary(credits) { first, _ in first }, owned: owned)
        }
    }

    /// The rows of projects, or of one of them, and the calls that would write them by the projects' own
    /// events.
    func projectRows(of wanted: ProjectID? = nil) throws(LedgerError) -> (
        calls: [Call], rows: [String: [[String]: ProjectedRow]]
    ) {
        try link.settled { connection throws(LedgerError) in
            try connection.execute([Statement.beginSnapshot()])
            var projects = wanted.map { [$0] } ?? []
            if wanted == nil {
                try connection.read([Statement.auditProjectStreams()]) {
                    _, rows throws(LedgerError) in
                    for row in 0..<rows.count { projects.append(try rows.identifier(row, 0)) }
                }
            }
            let states = try connection.states(of: projects.map { .ofProject($0) })
            let calls = projects.flatMap { project in
                states[.ofProject(project)]?.project.map {
                    $0.exists ? ProjectedRows.all(of: project, $0) : []
                } ?? []
            }
            var rows: [String: [[String]: ProjectedRow]] = [:]
            let tables = [ProjectedTable.projects, .keys, .apps]
            let ofWanted = Bind.text(wanted?.text)
            try connection.read(tables.map { $0.reading(ofWanted) }) { index, found in
                for row in 0..<found.count {
                    let read = ProjectedRow(found, row, of: tables[index])
                    rows[tables[index].name, default: [:]][read.key] = read
                }
            }
            try connection.execute([Statement.commit()])
            return (calls, rows)
        }
    }

    /// Some rows of a table of names after a key, or about that many at random, and what the log says of
    /// the customers that they name at the same moment.
    func names(
        of table: ProjectedTable, in project: ProjectID? = nil, after last: [String]?, sample: Int?
    ) throws(LedgerError) -> (rows: [ProjectedRow], states: [Stream: StreamState]) {
        guard let walking = table.walking, let sampling = table.sampling else { return ([], [:]) }
        let nothing = [String](repeating: "", count: table.keys)
        let call =
            sample.map { sampling(.int8(Int64($0))) }
            ?? Call(
                statement: walking,
                binds: (last ?? nothing).map { .text($0) } + [.text(project?.text)])
        return try link.settled { connection throws(LedgerError) in
            var rows: [ProjectedRow] = []
            try connection.execute([Statement.beginSnapshot()])
            try connection.read([call]) { _, found in
                for row in 0..<found.count { rows.append(ProjectedRow(found, row, of: table)) }
            }
            let streams = Set(rows.compactMap { try? table.stream(of: $0) })
            var unreadable: Set<Stream> = []
            let states = try connection.states(of: Array(streams), unreadable: &unreadable)
            try connection.execute([Statement.commit()])
            // Their customers' own rows name what cannot be read.
            return (rows, states.filter { !unreadable.contains($0.key) })
        }
    }
}

/// By what the purchases are found that these customers hold.
private func held(by states: [Stream: StreamState]) -> [HolderKey: Stream] {
    var held: [HolderKey: Stream] = [:]
    for (stream, state) in states {
        for purchase in state.customer?.purchases ?? [] {
            for app in purchase.allApps {
                held[HolderKey(HeldPurchase(app: app, purchase: purchase.id), in: stream)] = stream
            }
        }
    }
    return held
}

extension Purchase {
    /// The apps that its facts name: one, unless the evidence is odd.
    var allApps: Set<AppID> { Set(evidence.map(\.effective.app) + renewals.map(\.app)) }
}

extension Connection {
    /// The fold of all that the log has of each stream; `seen` gets every event.
    mutating func states(
        of streams: [Stream], seen: (RecordedEvent) -> Void = { _ in }
    ) throws(LedgerError) -> [Stream: StreamState] {
        var unreadable: Set<Stream> = []
        let states = try states(of: streams, unreadable: &unreadable, seen: seen)
        if let stream = unreadable.first {
            throw .unreadable("an event of \(quoted(stream.customer.text))")
        }
        return states
    }

    /// The same of those whose events this release can read.
    mutating func states(
        of streams: [Stream], unreadable: inout Set<Stream>,
        seen: (RecordedEvent) -> Void = { _ in }
    ) throws(LedgerError) -> [Stream: StreamState] {
        var unread: Set<Stream> = []
        var states = Dictionary(
            uniqueKeysWithValues: streams.map { ($0, StreamState(emptyFor: $0)) })
        let call = Statement.loadStreams(
            of: streams, after: [Int64](repeating: 0, count: streams.count),
            seenHeads: StateCache.noHeads)
        try read([call]) { _, rows throws(LedgerError) in
            for row in 0..<rows.count {
                let event = try EventRow(rows, row)
                do throws(LedgerError) {
                    let recorded = try event.recorded()
                    states[event.stream]?.apply(recorded)
                    seen(recorded)
                } catch {
                    unread.insert(event.stream)
                }
            }
        }
        unreadable = unread
        return states
    }
}
