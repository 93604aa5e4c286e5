package import Core
import Synchronization

/// The apps of all projects in memory: evidence names an app, and the store's news name no project.
///
/// The instance's own changes are there before they are answered. An app that is not there, or is not
/// as evidence says, may have been changed by another instance a moment ago: then all are read again, but only so
/// many times a second.
package final class AppRing: Sendable {
    private struct State {
        var apps: [AppKey: ListedApp] = [:]
        var projects: [ProjectID: [ListedApp]] = [:]
    }
    private let state = Mutex(State())
    private let refreshing = Refreshing()
    /// Held while the apps are read: of two reads the later one is kept.
    private let reading = Mutex(())
    private let ports: Ports

    package init(_ ports: Ports) {
        self.ports = ports
    }

    /// The app, and which project has it; `nil` when none does.
    func find(_ app: AppKey) throws(Fault) -> ListedApp? {
        try refreshing.find(at: ports.machineClock(), { known(app) }) { () throws(Fault) in
            try reload()
        }
    }

    /// Reads every app again, unless that happened too often lately.
    func refresh() throws(Fault) {
        try refreshing.refresh(at: ports.machineClock()) { () throws(Fault) in try reload() }
    }

    /// Takes in a change that this instance just made, before the change is answered. What cannot be read
    /// now is read when the database is next looked at; the change itself is durable.
    package func learnChange() { try? reload() }

    /// The apps of the project, as far as they are known in memory.
    func apps(of project: ProjectID) -> [ListedApp] {
        state.withLock { $0.projects[project] ?? [] }
    }

    /// The app, as far as it is known in memory.
    func known(_ app: AppKey) -> ListedApp? {
        state.withLock { $0.apps[app] }
    }

    /// Reads every app.
    package func reload() throws(Fault) {
        try reading.withLock { _ throws(Fault) in
            let listed = try ports.directory.apps()
            let apps = Dictionary(listed.map { ($0.app, $0) }) { first, _ in first }
            let projects = Dictionary(grouping: listed, by: \.project)
            state.withLock {
                $0.apps = apps
                $0.projects = projects
            }
        }
    }
}
