import Commands
import JSON

/// Something that an installation needs, and how to create it.
struct SetupStep {
    /// The step's name, such as `database`.
    let name: String
    /// A description of the step's work, or of what already exists.
    let text: String
    /// The work that creates the part; `nil` if the part already exists.
    let work: (() throws(CommandEnd) -> Void)?

    static func isThere(_ name: String, _ text: String) -> SetupStep {
        SetupStep(name: name, text: text, work: nil)
    }
}

extension [SetupStep] {
    var hasWork: Bool { contains { $0.work != nil } }

    /// The plan, which is printed before anything changes.
    var text: String {
        func lines(_ steps: [SetupStep]) -> String {
            steps.map { "  \($0.name.padded(to: 11)) \($0.text)" }.joined(separator: "\n")
        }
        let (there, missing) = (filter { $0.work == nil }, filter { $0.work != nil })
        var parts: [String] = []
        if !there.isEmpty {
            parts.append("This already exists and stays as it is:\n\(lines(there))")
        }
        parts.append(
            missing.isEmpty
                ? "Nothing needs to be done." : "This will be done:\n\(lines(missing))")
        return parts.joined(separator: "\n")
    }
}
