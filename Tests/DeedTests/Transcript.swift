import Foundation
import JSON
import TestSupport

/// Calls and commands with their answers, as readable text: a part of Fixtures/transcript. Every
/// part but start.txt begins after start.txt, at 2026-11-20T19:21:00.000Z by a test clock.
///
/// A line that begins with `>` is part of a call: first its caller, the method and the target,
/// then headers, then the body. `$` marks a command, `@` a file for commands, and `~` a change to the
/// database without Deed. `&` names something in the following answer for later calls. Each
/// `{name}` in later calls stands for it, and every answer shows the name in its place. Lines of
/// answers begin with `<`, a command's output with `|`, its errors with `!`, and its exit code with `=`.
struct Transcript {
    struct Step {
        enum Deed {
            case call(actor: String, method: String, target: String, lines: [String])
            case bytes(String)
            case command(String)
            case file(name: String, content: String)
            case statement(String)
        }
        let line: Int
        let deed: Deed
        /// Names for parts of the answer, with their places.
        var captures: [(name: String, place: String)] = []
    }
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// The lines that are not answers, some followed by a step to perform.
    private(set) var parts: [(text: String, step: Step?)] = []

    init(_ text: String) throws {
        var step: [String] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            switch line.first {
            case "<", "|", "!", "=": continue
            case ">", "$", "@", "~", "&": step.append(String(line))
            default:
                if !step.isEmpty { parts.append(try Transcript.part(step, before: index + 1)) }
                step = []
                parts.append((String(line), nil))
            }
        }
    }

    private static func part(
        _ lines: [String], before number: Int
    ) throws -> (text: String, step: Step?) {
        let contents = lines.map { (mark: $0.first, text: String($0.dropFirst(2))) }
        let call = contents.filter { $0.mark != "&" }.map(\.text)
        let words = (call.first ?? "").split(separator: " ", maxSplits: 2).map(String.init)
        let deed: Step.Deed
        switch contents[0].mark {
        case "$": deed = .command(call[0])
        case "@": deed = .file(name: words[0], content: words.dropFirst().joined(separator: " "))
        case "~": deed = .statement(call[0])
        case ">" where words.first == "bytes": deed = .bytes(String(call[0].dropFirst(6)))
        case ">" where words.count == 3:
            deed = .call(
                actor: words[0], method: words[1], target: words[2],
                lines: Array(call.dropFirst()))
        default: throw Unreadable(description: "line \(number): what is \(lines[0])?")
        }
        var step = Step(line: number, deed: deed)
        for content in contents where content.mark == "&" {
            let sides = content.text.components(separatedBy: " = ")
            if sides.count != 2 { throw Unreadable(description: "line \(number): \(content.text)") }
            step.captures.append((sides[0], sides[1]))
        }
        return (lines.joined(separator: "\n"), step)
    }

    var steps: [Step] { parts.compactMap(\.step) }
}

/// The meaning of each `{name}`, and the rules for hiding random values.
struct Names {
    private var values: [(name: String, value: String, isHidden: Bool)] = []
    /// Tags of answers with random content.
    private var tags: Set<String> = []

    mutating func set(_ name: String, _ value: String, isHidden: Bool = true) {
        values.removeAll { $0.name == name }
        values.append((name, value, isHidden))
        values.sort { $0.value.utf8.count > $1.value.utf8.count }
    }

    subscript(name: String) -> String? { values.first { $0.name == name }?.value }

    func filled(_ text: String) -> String {
        values.reduce(text) { $0.replacingOccurrences(of: "{\($1.name)}", with: $1.value) }
    }

    func hidden(_ text: String) -> String {
        var text = text
        for (name, value, isHidden) in values where isHidden {
            text = text.replacingOccurrences(of: value, with: "{\(name)}")
        }
        for (pattern, replacement) in Names.chance {
            text = text.replacingOccurrences(
                of: pattern, with: replacement, options: .regularExpression)
        }
        return text
    }

    /// Random or changing values, and their replacements.
    private static let chance = [
        ("command:[0-9a-z]+", "command:{chance}"), ("[0-9a-f]{64}(/[0-9a-z]+)?", "{digest}"),
        ("\\b(g|i|k|n|o|wh|rp|pe)_[0-9a-z]{15,}", "$1_{chance}"),
        ("/console/link/[0-9a-z]{40}", "/console/link/{chance}"),
        // A link's end follows the machine's clock.
        ("works once, until [^ ,]+", "works once, until {soon}"),
        ("\\b(whsec|whpk)_[A-Za-z0-9+/=]{44}", "$1_{chance}"),
        // A webhook's lag, and its receiver's response time.
        (#""lag":[0-9]+"#, #""lag":{soon}"#), ("   lag [0-9]+ ", "   lag {soon} "),
        (#""message":"test-[0-9a-v]+""#, #""message":"test-{chance}""#),
        (#""milliseconds":[0-9]+"#, #""milliseconds":{soon}"#),
        ("deed_(reader|support|backend|admin)_[0-9a-z]{30,}", "deed_$1_{chance}"),
        // Deed records the use of a key some seconds later.
        (#""last_used_at":(null|"[^"]+")"#, #""last_used_at":{soon}"#),
        // A feed's cursor contains hash chains, which differ in each run.
        (#"\bB[A-Za-z0-9_-]{80,}"#, "{place}"),
        // A worker may have tried the item meanwhile.
        (#"("tries":)[0-9]+"#, "$1{tries}"),
        (#"("next_try_at":)"[^"]+""#, #"$1"{soon}""#), (#"cli:[^" ]+"#, "cli:{login}"),
        // The rest of the answer names this machine and shows times.
        (#"("server":"ready"),"server_address".*"#, "$1,{screen}}"),
        // The number of migrations.
        (#""(migration|needed)":[0-9]+"#, #""$1":{newest}"#),
    ]

    /// Returns an answer's tag, or a placeholder if the body contains something hidden.
    mutating func shown(tag: String, of body: String?) -> String {
        if let body, hidden(body) != body { tags.insert(tag) }
        return tags.contains(tag) ? "{tag}" : tag
    }
}
