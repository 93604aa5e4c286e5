import Core
import Postgres
import SQL

/// Rows of `deed.apps`.
struct AppRows {
    private struct Row: Hashable {
        let app: AppKey
        let project: ProjectID
    }
    private var keyed = KeyedRows<Row, (row: Row, isThere: Bool)>()

    /// Notes an app that was set or removed; the project's state tells what came of it.
    mutating func add(_ app: AppKey, of project: ProjectID, _ state: ProjectState) {
        let row = Row(app: app, project: project)
        keyed.set(row, (row, state.app(app) != nil))
    }

    /// Removing comes first: another project may set the same app in the same commit.
    var calls: [Call] {
        let gone = keyed.rows.filter { !$0.isThere }.map(\.row)
        let there = keyed.rows.filter(\.isThere).map(\.row)
        return (gone.isEmpty ? [] : [call(Statement.unprojectApps, gone)])
            + (there.isEmpty ? [] : [call(Statement.projectApps, there)])
    }

    private func call(_ statement: Statement, _ rows: [Row]) -> Call {
        statement(
            .texts(rows.map(\.app.store.rawValue)), .texts(rows.map(\.app.id.text)),
            .texts(rows.map(\.project.text)))
    }
}
