package import Core

/// The apps of all projects in memory: evidence names an app, and a store's news names no project.
///
/// The instance's own changes take effect before they are answered. Another instance may have changed an app
/// a moment ago: if an app is missing, or differs from what evidence says, all apps are read again, a limited
/// number of times per second.
package final class AppRing: Sendable {
    private struct Listed {
        var apps: [AppKey: ListedApp] = [:]
        var projects: [ProjectID: [ListedApp]] = [:]
    }
    private let listed: Refreshing<Listed>
    private let ports: Ports

    package init(_ ports: Ports) {
        self.ports = ports
        listed = Refreshing(Listed()) { () throws(Fault) in
            let all = try ports.directory.apps()
            return Listed(
                apps: Dictionary(all.map { ($0.app, $0) }) { first, _ in first },
                projects: Dictionary(grouping: all, by: \.project))
        }
    }

    /// The app with its project; `nil` if no project has it.
    func find(_ app: AppKey) throws(Fault) -> ListedApp? {
        try listed.find(at: ports.machineClock()) { $0.apps[app] }
    }

    /// Reads every app again, unless that happened too often recently.
    func refresh() throws(Fault) { try listed.refresh(at: ports.machineClock()) }

    /// Learns a change that this instance just made, before the change is answered. If reading fails now,
    /// the next look at the database does it; the change itself is durable.
    package func learnChange() { try? reload() }

    /// The apps of the project that memory knows.
    func apps(of project: ProjectID) -> [ListedApp] {
        listed.known { $0.projects[project] }?.found ?? []
    }

    /// The app, if memory knows it.
    func known(_ app: AppKey) -> ListedApp? { listed.known { $0.apps[app] }?.found }

    /// Reads every app.
    package func reload() throws(Fault) { try listed.reload() }
}
