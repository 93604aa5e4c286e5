extension Program {
    func overview(_ commands: [CommandSpec]) -> String {
        let width = commands.map(\.name.count).max() ?? 0
        let lines = commands.map { "  \(name) \($0.name.padded(to: width))   \($0.summary)" }
        return """
            \(purpose)

            usage: \(name) <command> [--flags]

            \(lines.joined(separator: "\n"))

            Help for one command: \(name) <command> --help
            \(notes)Version: \(version)
            Manual page: \(name) manual. Shell completion: \(name) completion bash
            Exit codes: 0 done, 1 refused, 2 wrong usage, 3 fault.
            """
    }

    func help(of spec: CommandSpec) -> String {
        let rows = rows(of: spec)
        let width = rows.map(\.name.count).max() ?? 0
        let lines = rows.map { "  \($0.name.padded(to: width))   \($0.help)" }
        return """
            \(spec.summary)

            usage: \(synopsis(of: spec))

            \(lines.joined(separator: "\n"))

            example: \(spec.example)
            """
    }

    /// For example `deed key revoke ID [--flags]`.
    func synopsis(of spec: CommandSpec) -> String {
        let values = spec.positionals.map { value in
            (value.isRequired ? " \(value.name)" : " [\(value.name)]")
                + (value.isRepeated ? "..." : "")
        }
        return "\(name) \(spec.name)\(values.joined()) [--flags]"
    }

    /// Returns a command's arguments and their meanings.
    func rows(of spec: CommandSpec) -> [(name: String, help: String)] {
        spec.positionals.map { ($0.name, $0.help) }
            + (spec.options + [.help]).map { ($0.usage, details(of: $0)) }
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
    /// For example `--for LENGTH`.
    fileprivate var usage: String { "--\(name)" + (valueName.map { " \($0)" } ?? "") }
}
