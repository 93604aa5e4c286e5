/// A command, with everything needed to parse, run and explain it.
package struct CommandSpec: Sendable {
    /// For example `["project", "create"]`.
    package let path: [String]
    let summary: String
    /// The arguments that are not flags, in order.
    let positionals: [Positional]
    let options: [Option]
    /// Whether the command only reads the database. Such a command uses a test clock without being
    /// told to.
    package let onlyReads: Bool
    let example: String
    let run: @Sendable (Invocation) throws(CommandEnd) -> Void

    package init(
        path: [String], summary: String, positionals: [Positional] = [], options: [Option] = [],
        onlyReads: Bool = false, example: String,
        run: @escaping @Sendable (Invocation) throws(CommandEnd) -> Void
    ) {
        self.path = path
        self.summary = summary
        self.positionals = positionals
        self.options = options
        self.onlyReads = onlyReads
        self.example = example
        self.run = run
    }

    package var name: String { path.joined(separator: " ") }
}

package struct Positional: Sendable {
    let name: String
    let help: String
    let isRequired: Bool
    /// Whether the argument can be repeated. Only the last argument can.
    let isRepeated: Bool

    package init(name: String, help: String, isRequired: Bool = true, isRepeated: Bool = false) {
        self.name = name
        self.help = help
        self.isRequired = isRequired
        self.isRepeated = isRepeated
    }
}

/// A flag. It takes a value if `valueName` is given.
package struct Option: Sendable {
    package let name: String
    let valueName: String?
    let help: String
    var isRequired = false
    /// Whether an environment variable can supply a missing value. The variable is named after the
    /// program and the flag.
    var isSetting = false
    var fallback: String?
    /// The setting's former name. Its use is an error, and the message gives the current name.
    var formerly: String?

    /// Returns the name of the environment variable, such as `DEED_DATA_DIR`.
    func variable(of program: String) -> String { Option.variable(name, of: program) }

    static func variable(_ name: String, of program: String) -> String {
        "\(program)_\(name)".uppercased().replacing("-", with: "_")
    }

    package static func flag(_ name: String, _ help: String) -> Option {
        Option(name: name, valueName: nil, help: help)
    }

    /// Returns a flag that can also be set by its environment variable, with 1 or true.
    package static func switchSetting(_ name: String, _ help: String) -> Option {
        Option(name: name, valueName: nil, help: help, isSetting: true)
    }

    package static func value(
        _ name: String, _ valueName: String, _ help: String, isRequired: Bool = false
    ) -> Option {
        Option(name: name, valueName: valueName, help: help, isRequired: isRequired)
    }

    package static func setting(
        _ name: String, _ valueName: String, _ help: String, fallback: String? = nil,
        formerly: String? = nil
    ) -> Option {
        Option(
            name: name, valueName: valueName, help: help, isSetting: true, fallback: fallback,
            formerly: formerly)
    }
}

extension Option {
    static let help = flag("help", "print this")
    package static let json = flag("json", "print JSON instead of text")
}

/// How a failed command ends. Each case has a different exit code.
package enum CommandEnd: Error {
    case refused(code: String, sentence: String)
    case usage(String)
    case fault(String)

    package var exitCode: Int32 {
        switch self {
        case .refused: 1
        case .usage: 2
        case .fault: 3
        }
    }

    package var code: String {
        switch self {
        case .refused(let code, _): code
        case .usage: "usage"
        case .fault: "fault"
        }
    }

    package var sentence: String {
        switch self {
        case .refused(_, let sentence), .usage(let sentence), .fault(let sentence): sentence
        }
    }
}
