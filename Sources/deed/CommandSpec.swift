import Assembly
import Core
import Service

/// What the command line says of one command: enough to parse it, to run it and to explain it.
struct CommandSpec: Sendable {
    /// `["project", "create"]`
    let path: [String]
    let summary: String
    /// The values that stand without a flag, in their order.
    var positionals: [Positional] = []
    var options: [Option] = []
    /// Whether it changes nothing in the database: then it follows a test clock unasked.
    var onlyReads = false
    let example: String
    let run: @Sendable (Invocation) throws(CommandEnd) -> Void

    var name: String { path.joined(separator: " ") }
}

struct Positional: Sendable {
    let name: String
    let help: String
    var isRequired = true
    /// Whether it may stand there more than once; only the last one can.
    var isRepeated = false
}

/// A flag with a value, or without one when it names none.
struct Option: Sendable {
    let name: String
    let valueName: String?
    let help: String
    var isRequired = false
    /// Whether the variable `DEED_NAME` gives its value where the flag does not.
    var isSetting = false
    var fallback: String?

    var variable: String {
        "DEED_" + name.uppercased().replacing("-", with: "_")
    }

    static func flag(_ name: String, _ help: String) -> Option {
        Option(name: name, valueName: nil, help: help)
    }

    /// A flag that the variable sets, too: with 1 or true.
    static func switchSetting(_ name: String, _ help: String) -> Option {
        Option(name: name, valueName: nil, help: help, isSetting: true)
    }

    static func value(
        _ name: String, _ valueName: String, _ help: String, isRequired: Bool = false
    ) -> Option {
        Option(name: name, valueName: valueName, help: help, isRequired: isRequired)
    }

    static func setting(
        _ name: String, _ valueName: String, _ help: String, fallback: String? = nil
    ) -> Option {
        Option(
            name: name, valueName: valueName, help: help, isSetting: true, fallback: fallback)
    }
}

extension Option {
    static let help = flag("help", "print this")
    static let json = flag("json", "print JSON instead of text")
    static let project = setting("project", "NAME", "the project", fallback: "default")
    static let databaseURL = setting(
        "database-url", "URL",
        "the PostgreSQL to use; without it, a private one in the data folder")
    static let dataDir = setting(
        "data-dir", "FOLDER", "where the private PostgreSQL lives",
        fallback: Settings.defaultDataFolder)
    static let allowUnknown = flag(
        "allow-unknown", "accept a name that the catalog does not know")
    static let environment = setting(
        "environment", "NAME", "production (the default) or sandbox")
    static let idempotencyKey = value(
        "idempotency-key", "KEY", "do it once, however often the command is run with this key")

    /// What every command that needs the database takes.
    static let database = [databaseURL, dataDir, testClock, json]
}

/// How a command ended that did not do what it was asked, by its exit code.
enum CommandEnd: Error {
    case refused(code: String, sentence: String)
    case usage(String)
    case fault(String)

    var exitCode: Int32 {
        switch self {
        case .refused: 1
        case .usage: 2
        case .fault: 3
        }
    }

    var code: String {
        switch self {
        case .refused(let code, _): code
        case .usage: "usage"
        case .fault: "fault"
        }
    }

    var sentence: String {
        switch self {
        case .refused(_, let sentence), .usage(let sentence), .fault(let sentence): sentence
        }
    }

    init(_ error: CommandError) {
        switch error {
        case .refused(let refusal):
            self = .refused(code: refusal.code, sentence: refusal.sentence)
        case .fault(let fault): self.init(fault)
        }
    }

    init(_ fault: Fault) { self = .fault(fault.sentence) }
}

/// Runs a use case; what it throws becomes the command's end.
func obey<Answer>(
    _ answer: @autoclosure () throws(CommandError) -> Answer
) throws(CommandEnd) -> Answer {
    try rethrowing(as: CommandEnd.init, answer)
}

/// Asks the ledger; a fault becomes the command's end.
func ask<Answer>(_ answer: @autoclosure () throws(Fault) -> Answer) throws(CommandEnd) -> Answer {
    try rethrowing(as: CommandEnd.init, answer)
}

extension UseCases {
    /// Has the wish fulfilled, as `obey` does.
    func fulfil<Answer>(_ wish: Wish<Answer>) throws(CommandEnd) -> Answer {
        try obey(ledger.perform(wish))
    }
}
