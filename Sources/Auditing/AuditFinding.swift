package import Core

/// A column that violates the log's rules or differs from what the log implies.
package struct AuditFinding: Hashable, Sendable, CustomStringConvertible {
    /// The name of the table, such as `deed.events`.
    package let table: String
    /// The identity of the row within its table, such as `17:48213` for an event.
    package let row: String
    package let shard: Shard?
    package let column: String
    package let expected: String
    package let found: String

    package init(
        _ table: String, _ row: String, shard: Shard? = nil, column: String, expected: String,
        found: String
    ) {
        self.table = table
        self.row = row
        self.shard = shard
        self.column = column
        self.expected = expected
        self.found = found
    }

    /// Creates a finding about an event.
    package init(at position: Position, column: String, expected: String, found: String) {
        self.init(
            "deed.events", "\(position)", shard: position.shard, column: column,
            expected: expected, found: found)
    }

    /// Creates a finding about the recorded head of a shard.
    package init(head shard: Shard, column: String, expected: String, found: String) {
        self.init(
            "deed.shards", "\(shard.number)", shard: shard, column: column, expected: expected,
            found: found)
    }

    /// Creates a finding about stored evidence.
    package init(evidence digest: [UInt8], column: String, expected: String, found: String) {
        self.init(
            "deed.evidence", digest.hexDigits, column: column, expected: expected, found: found)
    }

    package var description: String {
        escaped("\(table) \(row), column \(column): expected \(expected), found \(found)")
    }
}

/// The first findings of an audit, and the total number of findings.
package struct AuditFindings: Sendable {
    package static let listLimit = 100

    package private(set) var listed: [AuditFinding] = []
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package mutating func add(_ finding: AuditFinding) {
        if listed.contains(finding) { return }
        count += 1
        if listed.count < AuditFindings.listLimit { listed.append(finding) }
    }

    package mutating func add(_ others: AuditFindings) {
        for finding in others.listed { add(finding) }
        count += others.count - others.listed.count
    }

    /// Adds findings. Only the first ones are listed, and `total` is the number of all of them.
    package mutating func add(_ first: [AuditFinding], of total: Int) {
        for finding in first { add(finding) }
        count += max(0, total - first.count)
    }
}

/// Escapes text from a row, so that it cannot control the terminal on which it is shown.
private func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { shown, scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator:
            shown += "\\u{\(String(scalar.value, radix: 16))}"
        default: shown.unicodeScalars.append(scalar)
        }
    }
}
