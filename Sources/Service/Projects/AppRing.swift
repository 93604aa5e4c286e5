package import Core

/// The apps of all projects, kept in memory. Evidence names an app but not a project.
///
/// This instance's own changes take effect here before their senders get answers. Another instance may have just
/// changed an app, so all apps are read again if an app is missing or does not match the evidence. The number of reads
/// per second is limited.
package final class AppRing: Sendable {
    private struct Listed {
        var apps: [AppKey: ListedApp] = [:]
        var projects: [ProjectID: [ListedApp]] = [:]
    }
    private let listed: Refreshing<Listed>
    private let machineClock: @Sendable () -> Instant

    package init(
        _ directory: any Directory, machineClock: @escaping @Sendable () -> Instant
    ) {
        self.machineClock = machineClock
        listed = Refreshing(Listed()) { () throws(Fault) in
            let all = try directory.apps()
            return Listed(
                apps: Dictionary(all.map { ($0.app, $0) }) { first, _ in first },
                projects: Dictionary(grouping: all, by: \.project))
        }
    }

    /// Returns the app with its project; `nil` if no project has the app.
    func find(_ app: AppKey) throws(Fault) -> ListedApp? {
        try listed.find(at: machineClock()) { $0.apps[app] }
    }

    /// Reads all apps again, unless they have been read too often recently.
    func refresh() throws(Fault) { try listed.refresh(at: machineClock()) }

    /// Applies a change that this instance has just made, before its sender gets an answer. If the
    /// read fails now, the next query picks up the change, which is already durable.
    package func learnChange() { try? reload() }

    func apps(of project: ProjectID) -> [ListedApp] {
        listed.known { $0.projects[project] }?.found ?? []
    }

    /// Returns the app, if it is in memory.
    func known(_ app: AppKey) -> ListedApp? { listed.known { $0.apps[app] }?.found }

    package func reload() throws(Fault) { try listed.reload() }
}
