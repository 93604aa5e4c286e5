package import Core
package import JSON

/// A command to run, with its parsed arguments.
package struct Invocation: Sendable {
    package let spec: CommandSpec
    private let program: String
    private var values: [String: String] = [:]
    private var flags: Set<String> = []
    /// The flags given on the command line, without those from variables.
    private var writtenFlags: Set<String> = []
    private var positionals: [String] = []
    /// The first mistake. Parsing continues after it, because later arguments may ask for help or for JSON.
    private var mistake: CommandEnd?

    /// Parses the arguments after the command. Variables supply missing settings.
    package init(
        _ spec: CommandSpec, _ arguments: [String], of program: String = "deed",
        variables: [String: String]
    ) {
        self.spec = spec
        self.program = program
        var rest = arguments[...]
        // After a separate `--`, all words are arguments.
        var isPlain = false
        while let argument = rest.popFirst() {
            do throws(CommandEnd) {
                if isPlain {
                    try take(argument)
                } else if argument == "--" {
                    isPlain = true
                } else {
                    try read(argument, before: &rest)
                }
            } catch {
                mistake = mistake ?? error
            }
        }
        for option in spec.options where option.isSetting && values[option.name] == nil {
            readFormer(option, variables)
            let variable = variables[option.variable(of: program)].flatMap { $0.isEmpty ? nil : $0 }
            if option.valueName == nil {
                readSwitch(option, variable)
            } else {
                values[option.name] = variable ?? option.fallback
            }
        }
    }

    /// Rejects a variable with a former name, which would otherwise be ignored silently.
    private mutating func readFormer(_ option: Option, _ variables: [String: String]) {
        guard let former = option.formerly.map({ Option.variable($0, of: program) }),
            variables[former]?.isEmpty == false
        else { return }
        mistake = mistake ?? usage("\(former) is now called \(option.variable(of: program))")
    }

    private mutating func readSwitch(_ option: Option, _ variable: String?) {
        switch variable {
        case "1", "true": flags.insert(option.name)
        case nil, "0", "false": break
        default:
            let name = option.variable(of: program)
            mistake = mistake ?? usage("\(name) must be 1, 0, true or false")
        }
    }

    package func validate() throws(CommandEnd) {
        if let mistake { throw mistake }
        for option in spec.options where option.isRequired && values[option.name] == nil {
            throw usage("--\(option.name) is missing")
        }
        for (index, positional) in spec.positionals.enumerated()
        where positional.isRequired && index >= positionals.count {
            throw usage("\(positional.name) is missing")
        }
    }

    private mutating func read(
        _ argument: String, before rest: inout ArraySlice<String>
    ) throws(CommandEnd) {
        guard argument.hasPrefix("-"), argument.count > 1 else { return try take(argument) }
        if argument == "-h" {
            flags.insert("help")
            return
        }
        guard argument.hasPrefix("--"), argument.count > 2 else {
            throw usage("\(argument) is not a known flag; flags begin with two dashes")
        }
        let parts = argument.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = (spec.options + [.help]).first(where: { $0.name == name }) else {
            let known = (spec.options + [.help])
            if let option = known.first(where: { $0.formerly == name }) {
                throw usage("--\(name) is now called --\(option.name)")
            }
            let near = nearest(name, of: known.map(\.name)).map { "; did you mean --\($0)?" }
            throw usage("--\(name) is not known" + (near ?? ""))
        }
        try take(option, parts.count > 1 ? String(parts[1]) : nil, from: &rest)
    }

    private mutating func take(_ positional: String) throws(CommandEnd) {
        if positionals.count >= spec.positionals.count,
            spec.positionals.last?.isRepeated != true
        {
            throw usage("unexpected argument: \(positional)")
        }
        positionals.append(positional)
    }

    private mutating func take(
        _ option: Option, _ attached: String?, from rest: inout ArraySlice<String>
    ) throws(CommandEnd) {
        writtenFlags.insert(option.name)
        if option.valueName == nil {
            if attached != nil { throw usage("--\(option.name) takes no value") }
            flags.insert(option.name)
            return
        }
        guard let value = attached ?? rest.popFirst() else {
            throw usage("--\(option.name) needs a value")
        }
        if values.updateValue(value, forKey: option.name) != nil {
            throw usage("--\(option.name) is given twice")
        }
    }

    /// Returns a usage error that refers to the help.
    package func usage(_ sentence: String) -> CommandEnd {
        .usage(
            sentence + (sentence.hasSuffix("?") ? " See: " : "; see: ")
                + "\(program) \(spec.name) --help")
    }
}

extension Invocation {
    package var isJSON: Bool { has("json") }

    package func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// Returns whether the flag is on the command line itself. A value from a variable may be left
    /// over from an earlier session.
    package func isWritten(_ flag: String) -> Bool { writtenFlags.contains(flag) }

    package subscript(name: String) -> String? { values[name] }

    package var allPositionals: [String] { positionals }

    package func positional(_ index: Int) -> String? {
        index < positionals.count ? positionals[index] : nil
    }

    package func id<Kind>(_ name: String) throws(CommandEnd) -> Identifier<Kind>? {
        guard let text = values[name] else { return nil }
        return try id(text, named: "--\(name)")
    }

    package func requiredID<Kind>(_ name: String) throws(CommandEnd) -> Identifier<Kind> {
        guard let id: Identifier<Kind> = try id(name) else { throw usage("--\(name) is missing") }
        return id
    }

    package func id<Kind>(_ text: String, named name: String) throws(CommandEnd) -> Identifier<Kind>
    {
        do {
            return try Identifier(text)
        } catch {
            throw usage("\(name) \(error)")
        }
    }

    package func instant(_ name: String) throws(CommandEnd) -> Instant? {
        guard let text = values[name] else { return nil }
        guard let instant = Instant(text: text) else {
            throw usage("--\(name) must be an instant like 2026-11-20T19:21:00Z")
        }
        return instant
    }

    package func duration(_ name: String) throws(CommandEnd) -> CalendarDuration? {
        guard let text = values[name] else { return nil }
        guard let duration = CalendarDuration(text) else {
            throw usage(
                "--\(name) must be an ISO 8601 duration longer than zero, like P30D or P1M")
        }
        return duration
    }

    /// Returns the value of a flag as a case of an enumeration.
    package func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String
    ) throws(CommandEnd) -> Word? {
        guard let text = values[name] else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw usage("--\(name) must be one of \(words)")
        }
        return word
    }

    package func integer(_ name: String, in range: ClosedRange<Int>) throws(CommandEnd) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw usage(
                "--\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Prints the answer, as JSON if that was requested and otherwise as text.
    package func show(_ json: JSON, text: String) {
        printText(isJSON ? json.text : text.withVisibleControls)
    }
}
