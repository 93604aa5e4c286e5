package import Core

/// How an operator accepted the log, and which projects have recorded it.
package struct AcceptedLog: Hashable, Sendable {
    package let acceptance: AcceptanceID
    package let projects: [ProjectID]
    /// The projects in which the acceptance could not be recorded, with the reasons.
    package var failed: [ProjectID: CommandError] = [:]
}

/// Records in every project that the operator accepts the log as it is, even though it may lack
/// events that instances have seen.
package struct LogAcceptance: Sendable {
    let ledger: any EventLog
    let directory: any Directory
    let secrets: Secrets

    package func accept(
        _ reason: AdminReason, by sender: Sender
    ) throws(CommandError) -> AcceptedLog {
        let accepted = LogAccepted(
            acceptance: secrets.newID(prefix: "ac_"), reason: reason.reason, ticket: reason.ticket)
        let projects = try obtain(directory.projects()).map(\.project)
        var failed: [ProjectID: CommandError] = [:]
        for project in projects {
            let cause = secrets.cause(of: sender, "accept_log", [accepted.acceptance.text])
            let command = Command.project(project, actor: sender.actor, cause: cause) {
                state, _ throws(Refusal) in
                try state.accept(accepted, of: project)
            }
            do throws(CommandError) {
                _ = try ledger.append(command)
            } catch {
                // An unreadable project does not prevent the acceptance from being recorded in the
                // others.
                guard case .fault(.unreadable) = error else { throw error }
                failed[project] = error
            }
        }
        return AcceptedLog(
            acceptance: accepted.acceptance, projects: projects.filter { failed[$0] == nil },
            failed: failed)
    }
}
