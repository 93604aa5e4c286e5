import Foundation
import Glibc
import JSON
import Machine

/// From the words on the command line to an exit code.
enum CommandLineTool {
    static let commands: [CommandSpec] =
        [serveCommand, migrateCommand, statusCommand] + projectCommands + appCommands + keyCommands
        + catalogCommands + grantCommands + [adjustCommand, transferCommand] + orderCommands
        + unclaimedCommands + refundCommands + customerCommands + intakeCommands + storeCommands
        + storeChangeCommands + secretCommands + reconcileCommands + [
            submitCommand, verifyCommand, auditCommand, checkpointCommand, acceptLogCommand,
        ]

    static func run(_ arguments: [String]) -> Int32 {
        // A reader that goes away, as in `deed status | head -1`, is not a reason to die noisily.
        signal(SIGPIPE, SIG_IGN)
        keepMemoryToOneself()
        var isJSON = arguments.contains("--json")
        do throws(CommandEnd) {
            if !areArgumentsText {
                throw .usage("an argument holds bytes that are not UTF-8; write it in UTF-8")
            }
            guard let spec = try find(arguments) else { return 0 }
            let invocation = Invocation(
                spec, Array(arguments.dropFirst(spec.path.count)),
                variables: ProcessInfo.processInfo.environment)
            isJSON = invocation.isJSON
            if invocation.has("help") {
                printText(help(of: spec))
                return 0
            }
            try invocation.validate()
            hidePasswords()
            try spec.run(invocation)
            return 0
        } catch {
            report(error, isJSON: isJSON)
            return error.exitCode
        }
    }

    /// Swift puts the same sign in place of all bytes that are none: two names would be one.
    private static var areArgumentsText: Bool {
        (0..<Int(CommandLine.argc)).allSatisfy { place in
            CommandLine.unsafeArgv[place].map { String(validatingCString: $0) != nil } ?? true
        }
    }

    /// The command that the first words name; `nil` when help or the version was wanted and given.
    private static func find(_ arguments: [String]) throws(CommandEnd) -> CommandSpec? {
        if arguments == ["--version"] {
            printText(versionText)
            return nil
        }
        let words = Array(arguments.prefix { !$0.hasPrefix("-") })
        if let spec = commands.first(where: { words.starts(with: $0.path) }) { return spec }
        let isHelp = arguments.contains("--help") || arguments.contains("-h") || words == ["help"]
        let family = words.first.map { word in commands.filter { $0.path[0] == word } } ?? []
        if isHelp, words.isEmpty || words == ["help"] || !family.isEmpty {
            printText(overview(family.isEmpty ? commands : family))
            return nil
        }
        if words.isEmpty {
            throw .usage("no command is given; see: deed --help")
        }
        if !family.isEmpty {
            let names = family.map { "deed \($0.name)" }.joined(separator: ", ")
            throw .usage("\"\(words[0])\" needs one more word: \(names)")
        }
        throw .usage("there is no command \"\(words[0])\"; see: deed --help")
    }

    private static func report(_ end: CommandEnd, isJSON: Bool) {
        let details: JSON = [
            "error": ["code": .string(end.code), "detail": .string(end.sentence)]
        ]
        let text = isJSON ? details.text : "error: \(end.sentence)"
        printError(text)
    }
}
