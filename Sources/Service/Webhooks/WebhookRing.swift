package import Core
import Synchronization

/// The webhooks of all projects, as the log records them, kept in memory.
package final class WebhookRing: Sendable {
    private let listed: Refreshing<[WebhookName: Webhook]>
    private let heard: Heard

    /// Projects whose webhooks became known before the webhooks' secrets were stored.
    private final class Heard: Sendable {
        let projects = Mutex<Set<ProjectID>>([])
    }

    /// `projects` returns every project that has or had webhooks.
    package init(
        _ ledger: any EventLog, projects: @escaping @Sendable () throws(Fault) -> Set<ProjectID>
    ) {
        let heard = Heard()
        self.heard = heard
        listed = Refreshing([:]) { () throws(Fault) in
            var found: [WebhookName: Webhook] = [:]
            for project in try projects().union(heard.projects.withLock { $0 }) {
                do throws(Fault) {
                    for webhook in try ledger.project(project).webhooks {
                        found[WebhookName(project, webhook.id)] = webhook
                    }
                } catch {
                    // An unreadable project does not affect the others.
                    if error.isOfWholeDatabase || error == .busy { throw error }
                }
            }
            return found
        }
    }

    package func webhook(_ name: WebhookName) -> Webhook? {
        listed.known { $0[name] }?.found
    }

    /// The webhooks that receive messages.
    package var active: [WebhookName] {
        listed.known { all in all.filter { !$0.value.isPaused }.map(\.key) }?.found ?? []
    }

    /// Records that these projects have set a webhook.
    package func hear(of projects: some Sequence<ProjectID>) {
        heard.projects.withLock { $0.formUnion(projects) }
    }

    package func reload() throws(Fault) { try listed.reload() }
}
