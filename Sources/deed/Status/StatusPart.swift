import Commands
import Core
import JSON
import Ledger
import Wording

struct StatusLine {
    let text: String
    /// A command that helps; `nil` if the line requires no action.
    var remedy: String?

    init(_ text: String, remedy: String? = nil) {
        self.text = text
        self.remedy = remedy
    }
}

struct StatusPart {
    /// The maximum number of lines of one kind on the screen.
    static let room = 5

    let name: String
    let lines: [StatusLine]
    let members: [(name: String, value: JSON)]

    init(_ name: String, _ lines: [StatusLine], _ members: [(name: String, value: JSON)]) {
        self.name = name
        self.lines = lines
        self.members = members
    }

    /// The lines of this part. Lines that require action come first and are never left out.
    var text: String {
        let alarms = lines.filter { $0.remedy != nil }
        let sorted = alarms + lines.filter { $0.remedy == nil }
        let shown = sorted.prefix(StatusPart.room)
        var rows = shown.enumerated().map { place, line in
            let mark = line.remedy == nil ? " " : "!"
            let head = "\(mark) \((place == 0 ? name : "").padded(to: 11))"
            return head + line.text + (line.remedy.map { ": \($0)" } ?? "")
        }
        let rest = sorted.count - shown.count
        if rest > 0 { rows.append("             and \(rest) more; see: deed status --json") }
        return rows.joined(separator: "\n")
    }
}

extension StatusPart {
    static func database(isPrivate: Bool, _ condition: DatabaseCondition?) -> StatusPart {
        let impediments = condition?.impediments ?? []
        return StatusPart(
            "database",
            [StatusLine("reachable\(isPrivate ? ", private" : "")")]
                + impediments.map { StatusLine($0.withRemedy, remedy: "deed doctor") },
            [
                (
                    "database",
                    [
                        "private": .bool(isPrivate), "reachable": true,
                        "impediments": .array(impediments.map(\.json)),
                    ]
                )
            ])
    }

    static func schema(_ standing: SchemaStanding) -> StatusPart {
        let found = standing.migration
        let isCurrent = found == Schema.needed
        let fits = standing.demand.map { found >= Schema.needed && $0.isMet } ?? false
        return StatusPart(
            "schema",
            [
                StatusLine(
                    "at migration \(found) of \(Schema.needed)",
                    remedy: fits
                        ? nil
                        : standing.isNewer ? "install a newer release" : "deed migrate")
            ],
            [
                (
                    "schema",
                    [
                        "migration": .integer(found), "needed": .integer(Schema.needed),
                        "current": .bool(isCurrent),
                    ]
                )
            ])
    }

    /// Returns the log's format, which only an operator can raise, or `nil` if the schema is older than log formats.
    static func format(_ standing: SchemaStanding) -> StatusPart? {
        let own = LogFormat.own.number
        guard let demand = standing.demand else { return nil }
        let remedy =
            demand.format > .own
            ? "install deed \(demand.program ?? "in a newer release")"
            : standing.pendingFormat == nil ? nil : "deed migrate --format"
        return StatusPart(
            "format", [StatusLine("\(demand.format.number) of \(own)", remedy: remedy)],
            [
                (
                    "format",
                    [
                        "number": .integer(demand.format.number), "known": .integer(own),
                        "raised_by": .optional(demand.program),
                        "pending": .bool(standing.pendingFormat != nil),
                    ]
                )
            ])
    }

    static func clock(_ testClock: Instant?) -> StatusPart {
        StatusPart(
            "clock",
            [StatusLine(testClock.map { "a test clock, at \($0.text)" } ?? "the machine's")],
            [("test_clock", .optional(testClock?.text))])
    }

    static func intake(_ queue: IntakeCounts?) -> StatusPart {
        let stuck = (queue?.alarming ?? 0) > 0
        return StatusPart(
            "intake",
            [StatusLine(queue?.line ?? "unknown", remedy: stuck ? "deed intake list" : nil)],
            [("intake", queue?.json ?? .null)])
    }

    static func server(_ door: ServerDoor) -> StatusPart {
        let state = door.ask()
        return StatusPart(
            "server",
            [
                StatusLine(
                    "\(state.sentence) on \(door.address)",
                    remedy: door.isExpected && state != .ready ? "deed doctor" : nil)
            ],
            [("server", .string(state.word)), ("server_address", .string(door.address))])
    }
}

extension IntakeCounts {
    fileprivate var json: JSON {
        [
            "waiting": .integer(waiting), "stuck": .integer(alarming),
            "oldest_added_at": .optional(oldest?.text),
        ]
    }

    fileprivate var line: String {
        let since = oldest.map { ", the oldest since \($0.text)" } ?? ""
        let alarm =
            alarming == 0
            ? "" : "; ALARM: \(alarming) tried \(IntakeItem.alarmTries) times or more, see"
        return "\(waiting) waiting\(since)\(alarm)"
    }
}

extension Impediment {
    var json: JSON { ["code": .string(kind.rawValue), "detail": .string(withRemedy)] }
}

/// Returns a duration in a suitable unit, such as "3 h".
func span(_ milliseconds: Int64) -> String {
    let seconds = max(0, milliseconds / 1000)
    switch seconds {
    case ..<120: return "\(seconds) s"
    case ..<7200: return "\(seconds / 60) min"
    case ..<172_800: return "\(seconds / 3600) h"
    default: return "\(seconds / 86_400) days"
    }
}

func bytesText(_ bytes: Int64) -> String {
    switch bytes {
    case ..<10_000: "\(bytes) bytes"
    case ..<10_000_000: "\(bytes / 1000) kB"
    case ..<10_000_000_000: "\(bytes / 1_000_000) MB"
    default: "\(bytes / 1_000_000_000) GB"
    }
}
