package import Core
import Synchronization

/// The apps of all projects in memory: evidence names an app, and the store's news name no project.
///
/// An app that is not there may have been set a moment ago: then all are read anew, but only so many
/// times a second. Another instance's change of an app is seen when the ring is next reloaded.
package final class AppRing: Sendable {
    private struct State {
        var apps: [AppKey: ListedApp] = [:]
        var projects: [ProjectID: [ListedApp]] = [:]
    }
    private let state = Mutex(State())
    private let refreshing = Refreshing()
    private let ports: Ports

    package init(_ ports: Ports) {
        self.ports = ports
    }

    /// The app, and which project has it; `nil` when none does.
    func find(_ app: AppKey) throws(Fault) -> ListedApp? {
        try refreshing.find(at: ports.now(), { known(app) }) { () throws(Fault) in try reload() }
    }

    /// The apps of the project, as far as they are known in memory.
    func apps(of project: ProjectID) -> [ListedApp] {
        state.withLock { $0.projects[project] ?? [] }
    }

    private func known(_ app: AppKey) -> ListedApp? {
        state.withLock { $0.apps[app] }
    }

    /// Reads every app.
    package func reload() throws(Fault) {
        let listed = try ports.directory.apps()
        let apps = Dictionary(listed.map { ($0.app, $0) }) { first, _ in first }
        let projects = Dictionary(grouping: listed, by: \.project)
        state.withLock {
            $0.apps = apps
            $0.projects = projects
        }
    }
}
