import Commands
import Machine

/// The program `deed`.
enum CommandLineTool {
    private static let program = Program(
        name: "deed", purpose: "Deed records who may use what, until when, and why.",
        notes: """
            After "--" nothing is a flag: deed customer show -- -x

            """, commands: commands)

    /// The commands, in the order of the help. A new command belongs in the list of its family.
    static let commands: [CommandSpec] =
        [setupCommand, serveCommand, migrateCommand, statusCommand, doctorCommand]
        + projectCommands
        + appCommands
        + keyCommands
        + personCommands
        + [trailCommand]
        + catalogCommands
        + grantCommands
        + [adjustCommand, transferCommand, mergeCommand]
        + blockCommands
        + noteCommands
        + orderCommands
        + unclaimedCommands
        + refundCommands
        + [findCommand]
        + customerCommands
        + erasureCommands
        + [eventsCommand]
        + intakeCommands
        + storeCommands
        + storeChangeCommands
        + webhookCommands
        + secretCommands
        + reconcileCommands
        + [submitCommand, verifyCommand]
        + [auditCommand, checkpointCommand, acceptLogCommand]
        + backupCommands

    static func run(_ arguments: [String]) -> Int32 {
        keepMemoryToOneself()
        return program.run(arguments, whenRead: hidePasswords)
    }
}
