package import JSON

/// Writes messages for operators, one JSON object per line. They never contain evidence, keys or
/// payloads.
package struct Log: Sendable {
    /// Who must act: no one, an operator at some point, or an operator now.
    package enum Level: String, Sendable { case info, warning, error }

    private let write: @Sendable (String) -> Void

    /// A log that passes each line to `write`, without its line break.
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
