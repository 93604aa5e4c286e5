import Foundation
import Glibc
import JSON

/// A program of commands: from the words on its command line to an exit code.
package struct Program: Sendable {
    let name: String
    let purpose: String
    /// What one should know of all commands.
    let notes: String
    let version: String
    let commands: [CommandSpec]

    package init(
        name: String, purpose: String, notes: String = "", version: String,
        commands: [CommandSpec]
    ) {
        self.name = name
        self.purpose = purpose
        self.notes = notes
        self.version = version
        self.commands = commands
    }

    /// Runs the command that the arguments call; `whenRead` comes between reading them and that.
    package func run(_ words: [String], whenRead: () -> Void = {}) -> Int32 {
        // A reader that goes away, as in `deed status | head -1`, is not a reason to die noisily.
        signal(SIGPIPE, SIG_IGN)
        let arguments = words.first == "help" ? words.dropFirst() + ["--help"] : words
        var isJSON = arguments.contains("--json")
        do throws(CommandEnd) {
            if !Program.areArgumentsText {
                throw .usage("an argument holds bytes that are not UTF-8; write it in UTF-8")
            }
            guard let spec = try find(arguments) else { return 0 }
            let invocation = Invocation(
                spec, Array(arguments.dropFirst(spec.path.count)), of: name,
                variables: ProcessInfo.processInfo.environment)
            isJSON = invocation.isJSON
            if invocation.has("help") {
                printText(help(of: spec))
                return 0
            }
            try invocation.validate()
            whenRead()
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
    private func find(_ arguments: [String]) throws(CommandEnd) -> CommandSpec? {
        if arguments == ["--version"] {
            printText(version)
            return nil
        }
        let words = Array(arguments.prefix { !$0.hasPrefix("-") })
        if let spec = commands.first(where: { words.starts(with: $0.path) }) { return spec }
        let isHelp = arguments.contains("--help") || arguments.contains("-h")
        let family = words.first.map { word in commands.filter { $0.path[0] == word } } ?? []
        if isHelp, words.isEmpty || !family.isEmpty {
            printText(overview(family.isEmpty ? commands : family))
            return nil
        }
        if words.isEmpty {
            throw .usage("no command is given; see: \(name) --help")
        }
        if !family.isEmpty {
            let names = family.map { "\(name) \($0.name)" }.joined(separator: ", ")
            throw .usage("\"\(words[0])\" needs one more word: \(names)")
        }
        throw .usage("there is no command \"\(words[0])\"; see: \(name) --help")
    }

    private func report(_ end: CommandEnd, isJSON: Bool) {
        let details: JSON = [
            "error": ["code": .string(end.code), "detail": .string(end.sentence)]
        ]
        printError(isJSON ? details.text : "error: \(end.sentence)")
    }
}

extension Program {
    /// The list of commands.
    private func overview(_ commands: [CommandSpec]) -> String {
        let width = commands.map(\.name.count).max() ?? 0
        let lines = commands.map { "  \(name) \($0.name.padded(to: width))   \($0.summary)" }
        return """
            \(purpose)

            usage: \(name) <command> [--flags]

            \(lines.joined(separator: "\n"))

            Each command explains itself: \(name) <command> --help
            \(notes)Exit codes: 0 done, 1 refused, 2 wrong usage, 3 fault.
            """
    }

    /// Everything about one command.
    private func help(of spec: CommandSpec) -> String {
        let positionals = spec.positionals.map { positional in
            (positional.isRequired ? " \(positional.name)" : " [\(positional.name)]")
                + (positional.isRepeated ? "..." : "")
        }
        var text = """
            \(spec.summary)

            usage: \(name) \(spec.name)\(positionals.joined()) [--flags]

            """
        let options = spec.options + [.help]
        let rows =
            spec.positionals.map { ($0.name, $0.help) }
            + options.map { ($0.flag, details(of: $0)) }
        let width = rows.map(\.0.count).max() ?? 0
        for (name, help) in rows { text += "\n  \(name.padded(to: width))   \(help)" }
        return text + "\n\nexample: \(spec.example)"
    }

    private func details(of option: Option) -> String {
        var details = option.help
        if option.isRequired { details += " (required)" }
        if let fallback = option.fallback { details += " [default: \(fallback)]" }
        if option.isSetting { details += " [\(option.variable(of: name))]" }
        return details
    }
}

extension Option {
    fileprivate var flag: String { "--\(name)" + (valueName.map { " \($0)" } ?? "") }
}
