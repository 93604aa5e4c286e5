package import JSON

/// A writer of messages for operators, as one JSON object per line. The messages never contain evidence, keys or
/// payloads.
package struct Log: Sendable {
    /// Whether an operator has to act: never, at some point, or immediately.
    package enum Level: String, Sendable { case info, warning, error }

    private let write: @Sendable (String) -> Void

    /// Creates a log that passes each line, without its line break, to `write`.
    package init(write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    package static let silent = Log { _ in }

    package func info(_ event: String, _ details: JSON = [:]) { line(.info, event, details) }
    package func warning(_ event: String, _ details: JSON = [:]) { line(.warning, event, details) }
    package func error(_ event: String, _ details: JSON = [:]) { line(.error, event, details) }

    private func line(_ level: Level, _ event: String, _ details: JSON) {
        var object = JSONObject()
        object.append("level", .string(level.rawValue))
        object.append("event", .string(event))
        for member in details.object?.members ?? [] { object.append(member.name, member.value) }
        write(JSON.object(object).text)
    }
}
