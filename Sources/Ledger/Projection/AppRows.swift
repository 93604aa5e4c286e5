import Core
import Postgres
import SQL

/// Rows of `deed.apps`.
struct AppRows {
    private struct Key: Hashable {
        let app: AppKey
        let project: ProjectID
    }
    /// The app as the project has it; `nil` when it has it no more.
    private var keyed = KeyedRows<Key, (key: Key, app: App?)>()

    /// Notes an app that was set or removed; the project's state tells what came of it.
    mutating func add(_ app: AppKey, of project: ProjectID, _ state: ProjectState) {
        let key = Key(app: app, project: project)
        keyed.set(key, (key, state.app(app)))
    }

    /// Removing comes first: another project may set the same app in the same commit.
    var calls: [Call] {
        let gone = keyed.rows.filter { $0.app == nil }.map(\.key)
        let there = keyed.rows.compactMap { row in row.app.map { (row.key, $0) } }
        return (gone.isEmpty ? [] : [removal(gone)]) + (there.isEmpty ? [] : [claim(there)])
    }

    private func removal(_ rows: [Key]) -> Call {
        Statement.unprojectApps(
            .texts(rows.map(\.app.store.rawValue)), .texts(rows.map(\.app.id.text)),
            .texts(rows.map(\.project.text)))
    }

    private func claim(_ rows: [(key: Key, app: App)]) -> Call {
        Statement.projectApps(
            .texts(rows.map(\.key.app.store.rawValue)), .texts(rows.map(\.key.app.id.text)),
            .texts(rows.map(\.key.project.text)), .optionalInt8s(rows.map(\.app.appleID)),
            .texts(rows.map(\.app.receipts.rawValue)),
            .bools(rows.map { $0.app.sandboxAccess != .none }))
    }
}
