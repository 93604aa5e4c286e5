package import Core
import Postgres
import SQL

extension Ledger {
    package func projects() throws(Fault) -> [ListedProject] {
        try readable(
            Statement.listProjects(),
            of: { rows, row in UnreadSubject(rows.text(row, 0), "", "", row: "projects") }
        ) { rows, row throws(LedgerError) -> ListedProject in
            ListedProject(
                project: try rows.identifier(row, 0),
                createdAt: Instant(milliseconds: rows.int8(row, 1)))
        }
    }

    /// Returns the apps of every project according to the project's events. A row alone does not assign an app to a
    /// project. Unreadable projects and unknown stores are omitted.
    package func apps() throws(Fault) -> [ListedApp] {
        let rows = try list(Statement.listApps(), over: watching) {
            rows, row throws(LedgerError) -> (key: AppKey, project: ProjectID)? in
            guard let store = Store(rawValue: rows.text(row, 0)),
                let id: AppID = try? rows.identifier(row, 1),
                let project: ProjectID = try? rows.identifier(row, 2)
            else { return nil }
            return (AppKey(store: store, id: id), project)
        }.compactMap(\.self)
        let states = try states(forWatching: Set(rows.map(\.project)))
        return rows.compactMap { row in
            states[row.project]?.app(row.key).map { app in
                ListedApp(
                    app: app.key, project: row.project, appleID: app.appleID,
                    receipts: app.receipts, countsSandbox: app.sandboxAccess != .none)
            }
        }
    }

    /// Returns the states of the readable projects. They are read outside the queue. Cached states are brought up to
    /// date.
    private func states(
        forWatching projects: Set<ProjectID>
    ) throws(Fault) -> [ProjectID: ProjectState] {
        let streams = projects.map { Stream.ofProject($0) }
        let folds = try faulting { () throws(LedgerError) in
            try watching.settled { connection throws(LedgerError) in
                try connection.folds(of: streams, cache: cache, known: known).0
            }
        }
        return zip(projects, folds).reduce(into: [:]) { states, read in
            switch read.1 {
            case .success(let fold): states[read.0] = fold.state.project ?? ProjectState()
            case .failure(let error): unread.note(.ofProject(read.0), error.fault)
            }
        }
    }

    /// Returns every key in its project's own stream, except keys that were revoked or expired long ago. If a project
    /// cannot be read, all of its keys are omitted, because any of them may have been revoked.
    package func liveKeys() throws(Fault) -> [LiveKey] {
        let since = settings.clock().advanced(byMilliseconds: -Key.expiredFor)
        let keys = try list(Statement.listKeys(.int8(since.milliseconds)), over: watching) {
            rows, row throws(LedgerError) -> LiveKey? in
            // A key with a role that only a newer release knows cannot be used here, and must not hide other keys.
            guard let role = Role(rawValue: rows.text(row, 3)),
                let project: ProjectID = try? rows.identifier(row, 1),
                let key: KeyID = try? rows.identifier(row, 2)
            else { return nil }
            return LiveKey(digest: rows.bytes(row, 0), project: project, key: key, role: role)
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
