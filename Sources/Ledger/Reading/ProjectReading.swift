package import Core
import Postgres
import SQL

extension Ledger {
    package func projects() throws(Fault) -> [ListedProject] {
        try list(Statement.listProjects()) { rows, row throws(LedgerError) in
            ListedProject(
                project: try rows.identifier(row, 0),
                createdAt: Instant(milliseconds: rows.int8(row, 1)))
        }
    }

    /// Every app of every project, by the project's own events: a row alone assigns it to no
    /// project.
    package func apps() throws(Fault) -> [ListedApp] {
        let rows = try list(Statement.listApps(), over: watching) {
            rows, row throws(LedgerError) -> (key: AppKey, project: ProjectID) in
            guard let store = Store(rawValue: rows.text(row, 0)) else {
                throw .unreadable("the store of an app")
            }
            return (
                AppKey(store: store, id: try rows.identifier(row, 1)),
                try rows.identifier(row, 2)
            )
        }
        let states = try states(forWatching: Set(rows.map(\.project)))
        return rows.compactMap { row in
            states[row.project]?.app(row.key).map { app in
                ListedApp(
                    app: app.key, project: row.project, appleID: app.appleID,
                    receipts: app.receipts, countsSandbox: app.sandboxAccess != .none)
            }
        }
    }

    /// The projects' states, read outside the queue: cached ones brought up to date.
    private func states(
        forWatching projects: Set<ProjectID>
    ) throws(Fault) -> [ProjectID: ProjectState] {
        let streams = projects.map { Stream.ofProject($0) }
        let folds = try faulting { () throws(LedgerError) in
            try watching.settled { connection throws(LedgerError) in
                try connection.folds(of: streams, cache: cache, known: known).0
            }
        }
        return Dictionary(
            uniqueKeysWithValues: zip(projects, folds.map { $0.state.project ?? ProjectState() }))
    }

    /// Every live key that its project's own stream records.
    package func liveKeys() throws(Fault) -> [LiveKey] {
        let keys = try list(Statement.listKeys(), over: watching) {
            rows, row throws(LedgerError) -> LiveKey? in
            // A key with a newer release's role does nothing here, and does not hide other keys.
            guard let role = Role(rawValue: rows.text(row, 3)) else { return nil }
            return LiveKey(
                digest: rows.bytes(row, 0), project: try rows.identifier(row, 1),
                key: try rows.identifier(row, 2), role: role)
        }
        let live = keys.compactMap(\.self)
        let states = try states(forWatching: Set(live.map(\.project)))
        known.know(states.values.flatMap(\.acceptances))
        return knownKeys.filter(live, by: states)
    }
}

extension Rows {
    func identifier<Kind>(
        _ row: Int, _ column: Int
    ) throws(LedgerError) -> Identifier<Kind> {
        do {
            return try Identifier(text(row, column))
        } catch {
            throw .unreadable("an identifier that \(error)")
        }
    }
}
