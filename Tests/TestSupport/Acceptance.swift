import Core
import Ledger

extension ScratchDatabase {
    /// Accepts the log as it is, through a ledger that has seen nothing of the log's lost end.
    package func acceptLog() throws {
        let ledger = ledger()
        defer { ledger.close() }
        let project = try ProjectID("told")
        let accepted = LogAccepted(
            acceptance: try AcceptanceID("ac_1"), reason: try Reason("restored"), ticket: nil)
        let cause = Cause(text: "command:1", digest: [UInt8](repeating: 0, count: 32))
        _ = try ledger.append(
            .project(project, actor: try Actor("test"), cause: cause) { _, _ in
                [.projectCreated(ProjectCreated(project: project)), .logAccepted(accepted)]
            })
    }
}
