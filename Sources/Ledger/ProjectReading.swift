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

    /// Every app of every project.
    package func apps() throws(Fault) -> [ListedApp] {
        try list(Statement.listApps(), over: watching) { rows, row throws(LedgerError) in
            guard let store = Store(rawValue: rows.text(row, 0)),
                let receipts = ReceiptJudge(rawValue: rows.text(row, 4))
            else { throw .unreadable("the store of an app, or who judges its receipts") }
            return ListedApp(
                app: AppKey(store: store, id: try rows.identifier(row, 1)),
                project: try rows.identifier(row, 2),
                appleID: rows.optionalInt8(row, 3), receipts: receipts,
                countsSandbox: rows.bool(row, 5))
        }
    }

    /// A project's state, read past those who wait for readers.
    private func stateForWatching(of project: ProjectID) throws(Fault) -> ProjectState {
        let stream = Stream.ofProject(project)
        do throws(LedgerError) {
            return try watching.settled { connection throws(LedgerError) in
                try connection.states(of: [stream])[stream]?.project ?? ProjectState()
            }
        } catch {
            throw error.fault
        }
    }

    /// Every key that is not revoked and of which its project's own stream tells.
    package func liveKeys() throws(Fault) -> [LiveKey] {
        let keys = try list(Statement.listKeys(), over: watching) {
            rows, row throws(LedgerError) -> LiveKey? in
            // A role of a newer release opens nothing here, and keeps no other key from being seen.
            guard let role = Role(rawValue: rows.text(row, 3)) else { return nil }
            return LiveKey(
                digest: rows.bytes(row, 0), project: try rows.identifier(row, 1),
                key: try rows.identifier(row, 2), role: role)
        }
        return try knownKeys.filter(keys.compactMap(\.self)) { project throws(Fault) in
            try stateForWatching(of: project)
        }
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
