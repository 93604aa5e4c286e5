import API
import Commands
import Core
import Glibc
import JSON
import Service

let timelineCommand = CommandSpec(
    path: ["customer", "timeline"],
    summary: "Draws a customer's rights and purchases as bars over time.",
    positionals: [customerPositional],
    options: [
        .value("at", "INSTANT", "the instant to mark (default: now)"),
        .value("from", "INSTANT", "where the drawing begins (default: at the first bar)"),
        .value("to", "INSTANT", "where it ends (default: after the last bar)"),
        .value("width", "COLUMNS", "the drawing's width (default: the terminal's width)"),
    ] + whom + Option.database,
    onlyReads: true, example: "deed customer timeline u1 --from 2026-01-01T00:00:00Z"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream()
    let at = try invocation.instant("at")
    let (from, to) = (try invocation.instant("from"), try invocation.instant("to"))
    let width = try invocation.integer("width", in: 40...1000) ?? terminalWidth()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let answer = try ask(useCases.customers.customer(stream, at: at, known: nil))
        let rows = answer.view.customer.timeline(by: answer.view.project.catalog)
        let span = TimelineSpan(
            rows, at: answer.entitlements.entitlements.at, from: from, to: to)
        guard span.start < span.end else { throw invocation.usage("--from must be before --to") }
        let drawing = TimelineDrawing(rows: rows, span: span, width: width)
        invocation.show(
            rows.json(of: stream, span),
            text: rows.isEmpty
                ? "The customer \"\(stream.customer)\" holds nothing in \(stream.environment)."
                : drawing.lines.joined(separator: "\n"))
    }
}

/// Returns the terminal's width, limited to the range of `--width`, or 80 if the width is unknown.
private func terminalWidth() -> Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return min(max(Int(size.ws_col), 40), 1000)
}

/// The period that the drawing shows, and the moment to mark in it.
struct TimelineSpan {
    let start: Instant
    let end: Instant
    let mark: Instant

    init(_ rows: [TimelineRow], at mark: Instant, from start: Instant?, to end: Instant?) {
        let starts = rows.flatMap { $0.bars.map(\.interval.start) + $0.moments }
        let ends = rows.flatMap { $0.bars.compactMap(\.interval.end) + $0.moments }
        let goesOn = rows.contains { $0.bars.contains { $0.interval.end == nil } }
        let life = Life(
            from: starts.min() ?? mark, to: max(ends.max() ?? mark, starts.max() ?? mark))
        // In a drawing that reached to the present, a few minutes of activity long ago would fill
        // just one column.
        let isDrawn = goesOn || start != nil || end != nil || life.isNear(mark)
        let early = isDrawn ? min(life.from, mark) : life.from
        let late = isDrawn ? max(life.to, mark) : life.to
        // The end that the person asked for may come after all events.
        let before = end?.advanced(byMilliseconds: -TimelineSpan.day) ?? early
        let first = start ?? min(early, before)
        let last = max(late, first)
        self.start = first
        // The space after the last event shows which bars end there and which continue.
        let length = Life(from: first, to: last).length
        let room = length == 0 ? TimelineSpan.day : max(1, length / 10)
        self.end = end ?? last.advanced(byMilliseconds: room)
        self.mark = mark
    }

    private static let day: Int64 = 86_400_000

    /// The time from the first to the last event.
    private struct Life {
        let from: Instant
        let to: Instant

        var length: Int64 {
            let (length, isTooLong) = to.milliseconds.subtractingReportingOverflow(
                from.milliseconds)
            return isTooLong ? .max : length
        }

        /// Returns whether this time would remain visible in a drawing that also includes the
        /// moment.
        func isNear(_ moment: Instant) -> Bool {
            let reach = Life(from: min(from, moment), to: max(to, moment)).length
            return length == 0 || reach / 20 <= length
        }
    }

    var isOfDays: Bool { Life(from: start, to: end).length > 3 * TimelineSpan.day }

    /// Returns the instant, to the day, minute or second, depending on the length of the drawing.
    func text(of instant: Instant) -> String {
        if isOfDays { return String(instant.text.prefix(10)) }
        let isOfSeconds = Life(from: start, to: end).length <= 600_000
        return "\(instant.text.prefix(isOfSeconds ? 19 : 16))Z"
    }
}

/// Bars in a grid. Each column represents a stretch of time.
struct TimelineDrawing {
    let rows: [TimelineRow]
    let span: TimelineSpan
    let width: Int
    private let labelWidth: Int
    private let columns: Int

    init(rows: [TimelineRow], span: TimelineSpan, width: Int) {
        self.rows = rows
        self.span = span
        self.width = width
        labelWidth = min(rows.map(\.label.columns).max() ?? 0, width / 3)
        columns = width - labelWidth - 1
    }

    private var length: Double {
        Double(span.end.milliseconds) - Double(span.start.milliseconds)
    }

    var lines: [String] {
        [line("", dates)] + [line("", marker)]
            + rows.map { line($0.label, drawing(of: $0)) } + [legend]
    }

    private func line(_ label: String, _ text: String) -> String {
        let line = label.cut(to: labelWidth).padded(to: labelWidth) + " " + text
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    /// Returns the column for an instant, which may lie outside the drawing.
    private func column(of instant: Instant) -> Int {
        let offset = Double(instant.milliseconds) - Double(span.start.milliseconds)
        let place = (offset / length * Double(columns)).rounded(.down)
        return Int(min(max(place, -1), Double(columns)))
    }

    private var dates: String {
        var (first, last) = (span.text(of: span.start), span.text(of: span.end))
        // Omits the date if it does not fit.
        func time(_ text: String) -> String { String(text.drop { $0 != "T" }.dropFirst()) }
        if first.count + last.count >= columns { last = time(last) }
        if first.count + last.count >= columns { first = time(first) }
        return first + String(repeating: " ", count: max(1, columns - first.count - last.count))
            + last
    }

    private var marker: String {
        let place = column(of: span.mark)
        func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }
        let minutes = "\(span.mark.text.prefix(16))Z"
        if place < 0 { return "← \(minutes)" }
        if place >= columns { return blanks(columns - minutes.count - 2) + "\(minutes) →" }
        // Adds the time to the mark, in the longest form that fits.
        let brief = span.isOfDays ? String(span.mark.text.prefix(10)) : String(minutes.suffix(6))
        for text in [minutes, brief] {
            if place + 2 + text.count <= columns { return blanks(place) + "▼ " + text }
            if text.count + 1 <= place { return blanks(place - text.count - 1) + text + " ▼" }
        }
        return blanks(place) + "▼"
    }

    private var legend: String {
        let text = "█ access  ▒ grace  ◆ bought  ▶ no end"
        return String(repeating: " ", count: max(0, min(labelWidth + 1, width - text.count))) + text
    }

    private func drawing(of row: TimelineRow) -> String {
        var cells = [Character](repeating: " ", count: columns)
        let mark = column(of: span.mark)
        if cells.indices.contains(mark) { cells[mark] = "│" }
        for bar in row.bars { draw(bar, in: &cells) }
        for moment in row.moments where cells.indices.contains(column(of: moment)) {
            cells[column(of: moment)] = "◆"
        }
        return String(cells)
    }

    private func draw(_ bar: TimelineRow.Bar, in cells: inout [Character]) {
        let first = max(column(of: bar.interval.start), 0)
        // A bar is at least one column wide.
        let last = bar.interval.end.map { end in
            max(column(of: end.advanced(byMilliseconds: -1)), column(of: bar.interval.start))
        }
        let limit = min(last ?? columns - 1, columns - 1)
        guard first <= limit else { return }
        for place in first...limit where !(bar.isGrace && cells[place] == "█") {
            cells[place] = bar.isGrace ? "▒" : "█"
        }
        if last == nil { cells[columns - 1] = "▶" }
    }
}

extension TimelineRow {
    fileprivate var label: String {
        switch subject {
        case .entitlement(let id): id.text
        case .source(.purchase(let id), let product):
            "  " + (product.map { "\($0), " } ?? "") + id.description
        case .source(.grant(let id), _): "  grant \(id)"
        case .source(.originalAppVersion(let app), _): "  \(app)"
        case .purchase(let id, let product): "\(product), \(id)"
        }
    }
}

extension [TimelineRow] {
    fileprivate func json(of stream: Core.Stream, _ span: TimelineSpan) -> JSON {
        [
            "customer": .string(stream.customer.text),
            "environment": .string(stream.environment.rawValue), "at": .string(span.mark.text),
            "rows": .array(map(\.json)),
        ]
    }
}
