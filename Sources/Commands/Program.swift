import Foundation
import Glibc
import JSON

/// A command-line program. It turns arguments into an exit code.
package struct Program: Sendable {
    let name: String
    let purpose: String
    /// Notes that apply to all commands.
    let notes: String
    var version: String { "\(name) \(Build.text)" }
    let commands: [CommandSpec]

    package init(
        name: String, purpose: String, notes: String = "", commands: [CommandSpec]
    ) {
        self.name = name
        self.purpose = purpose
        self.notes = notes
        self.commands = commands
    }

    /// Runs the command given by the arguments. Calls `whenRead` after parsing.
    package func run(_ words: [String], whenRead: () -> Void = {}) -> Int32 {
        // The program that reads the output may stop early, as `head` does in `deed status | head
        // -1`.
        signal(SIGPIPE, SIG_IGN)
        let arguments = words.first == "help" ? words.dropFirst() + ["--help"] : words
        var isJSON = arguments.contains("--json")
        do throws(CommandEnd) {
            if !Program.areArgumentsText {
                throw .usage(
                    "an argument contains bytes that are not UTF-8; write the argument in UTF-8")
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

    /// Whether the arguments are valid UTF-8. Swift replaces all invalid bytes with the same
    /// character, which could make different names equal.
    private static var areArgumentsText: Bool {
        (0..<Int(CommandLine.argc)).allSatisfy { place in
            CommandLine.unsafeArgv[place].map { String(validatingCString: $0) != nil } ?? true
        }
    }

    /// Answers a question about the program itself, for example about its version.
    private func answer(_ arguments: [String]) throws(CommandEnd) -> String? {
        switch (arguments.first, arguments.count) {
        case ("--version", 1): return version
        case ("manual", 1): return manual
        case ("completion", _):
            let shell = arguments.count == 2 ? Shell(rawValue: arguments[1]) : nil
            guard let shell else {
                throw .usage("name a shell: \(name) completion bash, zsh or fish")
            }
            return completion(for: shell)
        default: return nil
        }
    }

    /// Returns the command that the first words name; `nil` if the arguments ask about the program
    /// and have been answered.
    private func find(_ arguments: [String]) throws(CommandEnd) -> CommandSpec? {
        if let answer = try answer(arguments) {
            printText(answer)
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
            throw .usage("a command is missing; see: \(name) --help")
        }
        if words.count > 1,
            let near = nearest(
                words.prefix(2).joined(separator: " "),
                of: (family.isEmpty ? commands : family).map(\.name))
        {
            throw .usage(
                "there is no command \"\(words[0]) \(words[1])\"; did you mean \(name) \(near)? See: "
                    + "\(name) --help")
        }
        if !family.isEmpty {
            let names = family.map { "\(name) \($0.name)" }.joined(separator: ", ")
            throw .usage("\"\(words[0])\" needs one more word: \(names)")
        }
        let near =
            commands.first { $0.path.last == words[0] }?.name
            ?? nearest(words[0], of: commands.map { $0.path[0] })
        throw .usage(
            "there is no command \"\(words[0])\""
                + (near.map { "; did you mean \(name) \($0)? See: " } ?? "; see: ")
                + "\(name) --help")
    }

    private func report(_ end: CommandEnd, isJSON: Bool) {
        let details: JSON = [
            "error": ["code": .string(end.code), "detail": .string(end.sentence)]
        ]
        printError(isJSON ? details.text : "error: \(end.sentence)")
    }
}
