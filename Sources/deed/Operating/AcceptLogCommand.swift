import Assembly
import Commands
import Core
import Evidence
import JSON
import Ledger
import Service
import Telemetry
import Wording

let acceptLogCommand = CommandSpec(
    path: ["accept-log"],
    summary: "Accepts the log as it is, although it lacks events that instances have seen.",
    options: [
        .flag("dry-run", "only show what this machine knows to be missing; takes no --reason"),
        .value("reason", "TEXT", "the reason, stored with the event"),
        .value("ticket", "ID", "the support case"), .testClock,
    ] + Option.database,
    example: "deed accept-log --reason \"the backup of 3 a.m. was restored\""
) { invocation throws(CommandEnd) in
    let isDryRun = invocation.has("dry-run")
    let reason = isDryRun ? nil : try invocation.adminReason()
    let sender = try invocation.sender()
    try invocation.withDatabase { database throws(CommandEnd) in
        let (lacking, isRemembered) = try database.impediment()
        let sentence =
            lacking?.withRemedy
            ?? (isRemembered
                ? "The log has everything that this machine has seen."
                : "This machine has no record of the log, so it cannot tell what is missing.")
        guard let reason else {
            invocation.show(
                ["lacking": .optional(lacking?.withRemedy), "remembered": .bool(isRemembered)],
                text: sentence)
            return
        }
        let accepted = try invocation.acceptLog(of: database, reason, by: sender)
        if accepted.projects.isEmpty {
            throw .refused(
                code: "project_unknown",
                sentence: "The log has no project in which to record this; create one first, with: "
                    + "deed project create")
        }
        let names = accepted.projects.map(\.text)
        for (project, error) in accepted.failed {
            printError(
                "The acceptance was not recorded in \(project): \(CommandEnd(error).sentence)")
        }
        invocation.show(
            [
                "acceptance": .string(accepted.acceptance.text),
                "projects": .array(names.map(JSON.string)),
                "lacking": .optional(lacking?.withRemedy), "remembered": .bool(isRemembered),
            ],
            text:
                "\(sentence)\nThe log is accepted as it is (\(accepted.acceptance)), and instances continue with "
                + "it. Recorded in: \(names.joined(separator: ", "))")
    }
}

extension Database {
    /// Returns why this machine's memory of the log forbids the use of the database, and whether the machine remembers
    /// the log.
    func impediment() throws(CommandEnd) -> (Impediment?, isRemembered: Bool) {
        let ledger = Ledger(modestSettings(clock: systemClock), log: .silent, metrics: Metrics())
        defer { ledger.close() }
        do throws(Fault) {
            _ = try ledger.look()
            return (nil, ledger.known.isRemembered)
        } catch {
            if case .impeded(let impediment) = error {
                return (impediment, ledger.known.isRemembered)
            }
            throw CommandEnd(error)
        }
    }
}

extension Invocation {
    fileprivate func acceptLog(
        of database: Database, _ reason: AdminReason, by sender: Sender
    ) throws(CommandEnd) -> AcceptedLog {
        var settings = database.modestSettings(
            clock: try clock(over: database, onlyReads: false))
        // Starts without a memory of the log, because this command abandons what was seen.
        settings.memory = .none
        let live = Live(
            settings, Outside(verifier: Verifier(extraRoots: []), keys: secretKeyFile.ring))
        defer { live.ledger.close() }
        let accepted = try obey(live.useCases.acceptance.accept(reason, by: sender))
        // The lost ends are forgotten only after the acceptance has been recorded.
        if !accepted.projects.isEmpty { try ask(live.ledger.forgetLostEnds()) }
        return accepted
    }
}
