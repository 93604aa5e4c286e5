import Core
import Crypto
import JSON
import Postgres

/// A column in a table derived from the log.
struct Column: Sendable {
    enum Kind: String, Sendable {
        case smallint, text, bigint, instant, boolean, bytea, json, jsonb
    }
    let name: String
    let kind: Kind
    /// Whether the column also depends on the project's catalog. If so, a job keeps it up to date.
    private(set) var isByCatalog = false
    /// Whether the column names the row's owner.
    private(set) var isOwner = false
    /// Whether rows can be found by an index on the column.
    private(set) var isIndexed = false
    /// Whether the column must match the log. Other columns are for people only and keep their first value.
    private(set) var isCompared = true
    /// Whether the table contains the column. A statement that writes rows may take further columns.
    private(set) var isKept = true
    /// How a commit combines a new value of the column with an existing one.
    private(set) var joined: String?

    private init(_ name: StaticString, _ kind: Kind) {
        self.name = "\(name)"
        self.kind = kind
    }

    static func smallint(_ name: StaticString) -> Column { Column(name, .smallint) }
    static func text(_ name: StaticString) -> Column { Column(name, .text) }
    static func number(_ name: StaticString) -> Column { Column(name, .bigint) }
    /// Returns a column that stores an instant in milliseconds.
    static func instant(_ name: StaticString) -> Column { Column(name, .instant) }
    static func flag(_ name: StaticString) -> Column { Column(name, .boolean) }
    static func bytes(_ name: StaticString) -> Column { Column(name, .bytea) }
    static func json(_ name: StaticString) -> Column { Column(name, .json) }
    static func jsonb(_ name: StaticString) -> Column { Column(name, .jsonb) }

    private func with(_ change: (inout Column) -> Void) -> Column {
        var column = self
        change(&column)
        return column
    }

    var byCatalog: Column { with { $0.isByCatalog = true } }
    var owner: Column { with { $0.isOwner = true } }
    var indexed: Column { with { $0.isIndexed = true } }
    var forPeople: Column { with { $0.isCompared = false } }
    var told: Column { with { $0.isKept = false } }
    func joined(by expression: StaticString) -> Column { with { $0.joined = "\(expression)" } }
}

extension Column {
    var boundType: String {
        switch kind {
        case .smallint, .text, .bigint, .boolean, .bytea: kind.rawValue
        case .instant: "bigint"
        case .json, .jsonb: "text"
        }
    }

    /// A cast for values bound as text.
    var cast: String { kind == .json || kind == .jsonb ? "::\(kind.rawValue)" : "" }

    /// Returns the column's cells in all rows, as one array.
    func bind(_ rows: [Row], at place: Int) -> Bind {
        switch kind {
        case .smallint: .int2s(rows.map { Int16(clamping: $0[place].number ?? 0) })
        case .text, .json, .jsonb: .texts(rows.map { $0[place].string })
        case .bigint, .instant: .optionalInt8s(rows.map { $0[place].number })
        case .boolean: .bools(rows.map { $0[place].flag })
        case .bytea: .byteas(rows.map { $0[place].bytes })
        }
    }

    /// Binds a cell that gives a place in a list, where `nil` comes before all other values.
    func bind(_ text: String?) -> Bind {
        switch cell(text) {
        case .text(let text): .text(text ?? "")
        case .number(let number): .int8(number ?? .min)
        case .flag(let flag): .bool(flag ?? false)
        case .bytes(let bytes): .bytea(bytes ?? [])
        }
    }

    /// Returns the cell for a string that PostgreSQL returned.
    func cell(_ text: String?) -> Cell {
        switch kind {
        case .text, .json, .jsonb: .text(text)
        case .smallint, .bigint, .instant: .number(text.flatMap(Int64.init))
        case .boolean: .flag(text.map { $0 == "true" })
        case .bytea: .bytes(text.flatMap { [UInt8](hex: String($0.dropFirst(2))) })
        }
    }

    /// Returns the value in readable form.
    func shown(_ text: String?) -> String {
        guard let text else { return "null" }
        guard kind == .instant, let milliseconds = Int64(text) else { return text }
        return Instant(milliseconds: milliseconds).text
    }

    /// Returns whether two strings represent the same value.
    func isSame(_ one: String?, _ other: String?) -> Bool {
        one == other || kind == .jsonb && inOrder(one) == inOrder(other)
    }
}

/// A value in a row.
enum Cell: Hashable, Sendable {
    case text(String?)
    case number(Int64?)
    case flag(Bool?)
    case bytes([UInt8]?)

    static func instant(_ instant: Instant?) -> Cell { .number(instant?.milliseconds) }

    /// The text that PostgreSQL would return.
    var text: String? {
        switch self {
        case .text(let text): text
        case .number(let number): number.map { String($0) }
        case .flag(let flag): flag.map { String($0) }
        case .bytes(let bytes): bytes.map { "\\x" + $0.hex }
        }
    }

    fileprivate var string: String? { if case .text(let text) = self { text } else { nil } }
    fileprivate var number: Int64? { if case .number(let number) = self { number } else { nil } }
    fileprivate var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    fileprivate var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}

/// Returns the text of a JSON object with its members sorted, or of a JSON list, so that values stored as `jsonb` can
/// be compared.
private func inOrder(_ text: String?) -> String? {
    guard let text, let json = try? JSON.read(text) else { return text }
    if case .array = json { return json.text }
    guard case .object(let object) = json else { return text }
    let members = object.members.sorted { $0.name < $1.name }.map { ($0.name, $0.value) }
    return members.map { "\($0): \($1.text)" }.joined(separator: ", ")
}
