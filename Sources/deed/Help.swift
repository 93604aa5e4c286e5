/// What this program calls itself.
let versionText = "deed 0.1.0-dev"

/// The list of commands.
func overview(_ commands: [CommandSpec]) -> String {
    let width = commands.map(\.name.count).max() ?? 0
    let lines = commands.map { "  deed \($0.name.padded(to: width))   \($0.summary)" }
    return """
        Deed keeps who may use what, until when, and why.

        usage: deed <command> [--flags]

        \(lines.joined(separator: "\n"))

        Each command explains itself: deed <command> --help
        After "--" nothing is a flag: deed customer show -- -x
        This is \(versionText), as deed --version says.
        Exit codes: 0 done, 1 refused, 2 wrong usage, 3 fault.
        """
}

/// Everything about one command.
func help(of spec: CommandSpec) -> String {
    let positionals = spec.positionals.map { positional in
        (positional.isRequired ? " \(positional.name)" : " [\(positional.name)]")
            + (positional.isRepeated ? "..." : "")
    }
    var text = """
        \(spec.summary)

        usage: deed \(spec.name)\(positionals.joined()) [--flags]

        """
    let options = spec.options + [.help]
    let rows =
        spec.positionals.map { ($0.name, $0.help) } + options.map { (flag($0), details(of: $0)) }
    let width = rows.map(\.0.count).max() ?? 0
    for (name, help) in rows { text += "\n  \(name.padded(to: width))   \(help)" }
    return text + "\n\nexample: \(spec.example)"
}

private func flag(_ option: Option) -> String {
    "--\(option.name)" + (option.valueName.map { " \($0)" } ?? "")
}

private func details(of option: Option) -> String {
    var details = option.help
    if option.isRequired { details += " (required)" }
    if let fallback = option.fallback { details += " [default: \(fallback)]" }
    if option.isSetting { details += " [\(option.variable)]" }
    return details
}
