/// How a command ended that did not do what it was asked.
enum ToolEnd: Error {
    case refused(String)
    case usage(String)
    case fault(String)

    var exitCode: Int32 {
        switch self {
        case .refused: 1
        case .usage: 2
        case .fault: 3
        }
    }

    var sentence: String {
        switch self {
        case .refused(let text), .usage(let text), .fault(let text): text
        }
    }
}

/// The words behind a command's name.
struct Arguments {
    private(set) var values: [String: String] = [:]
    private(set) var flags: Set<String> = []
    private(set) var positionals: [String] = []

    /// Reads flags with a value, those without one that are named here, and other words up to a limit.
    init(
        _ words: [String], valued: Set<String>, bare: Set<String>, positionals limit: Int = 0
    ) throws(ToolEnd) {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--"), word.count > 2 else {
                if positionals.count == limit {
                    throw .usage(
                        "\"\(word)\" is one argument too many; see: deed-practice --help")
                }
                positionals.append(word)
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1).map(String.init)
            let name = parts[0]
            if bare.contains(name), parts.count == 1 {
                flags.insert(name)
                continue
            }
            guard valued.contains(name) else {
                throw .usage("--\(name) is unknown; see: deed-practice --help")
            }
            guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
                throw .usage("--\(name) needs a value; see: deed-practice --help")
            }
            if values.updateValue(value, forKey: name) != nil {
                throw .usage("--\(name) is given twice")
            }
        }
    }

    subscript(name: String) -> String? { values[name] }
}
