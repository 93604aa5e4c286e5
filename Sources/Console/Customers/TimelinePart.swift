import Core
import JSON

/// A drawing of what the customer held over time. Each bar links to the instant of its start.
struct TimelinePart {
    /// The width of the drawing in its own units. Browsers stretch it.
    static let width = 1000
    private static let height = 18

    let look: CustomerLook
    private let span: TimelineSpan?

    init(look: CustomerLook) {
        self.look = look
        span = TimelineSpan(look.whole)
    }

    private var rows: [JSON] { look.whole["timeline"]?.array ?? [] }

    var markup: Markup {
        guard let span else { return .nothing }
        let lanes = rows.map { lane($0, span) }
        let more = look.whole["more_rows"]?.integer ?? 0
        let rest: Markup =
            more > 0 ? "<p>\(Int(more)) more rows: deed customer timeline</p>" : .nothing
        return .section(
            "timeline", "Over time",
            """
            <figure class="timeline" data-start="\(value: String(span.start.milliseconds))" data-end="\(value: String(span.end.milliseconds))" data-mark="\(value: String(span.mark.milliseconds))">
            <ul>
            \(lanes)
            </ul>
            <p class="span"><span>\(day(span.start))</span> <span>\(day(span.end))</span></p>
            <figcaption>The line is \(Markup.time(span.mark.text)). Filled: access. Hatched: grace. A diamond: bought without an end. Each bar links to the instant of its start.</figcaption>
            </figure>
            \(rest)
            \(Moves(look: look, span: span).markup)
            """)
    }

    private func day(_ instant: Instant) -> String { String(instant.text.prefix(10)) }

    private func lane(_ row: JSON, _ span: TimelineSpan) -> Markup {
        let isAccess = row["entitlement"]?.string != nil
        let name = row["entitlement"]?.string ?? source(row)
        let kind: Markup = isAccess ? "lane access" : "lane"
        let bars = (row["bars"]?.array ?? []).map { bar($0, name, span) }
        let moments = (row["moments"]?.array ?? []).compactMap(\.string).map { text -> Markup in
            let x = span.x(Instant(text: text) ?? span.start)
            return """
                <a href="\(value: place(text))" aria-label="\(value: "\(name), bought \(text)")"><path class="moment" d="M\(x - 7) 9 L\(x) 2 L\(x + 7) 9 L\(x) 16 Z"/></a>
                """
        }
        let mark = span.x(span.mark)
        return """
            <li class="\(kind)"><span class="name">\(name)</span>
            <svg viewBox="0 0 \(TimelinePart.width) \(TimelinePart.height)" preserveAspectRatio="none" role="group" aria-label="\(value: name)">
            \(bars)
            \(moments)
            <line class="mark" x1="\(mark)" x2="\(mark)" y1="0" y2="\(TimelinePart.height)"/>
            </svg></li>
            """
    }

    private func source(_ row: JSON) -> String {
        let id =
            row["purchase"]?.string ?? row["grant"]?.string.map { "grant \($0)" }
            ?? row["app"]?.string ?? ""
        return row["product"]?.string.map { "\($0), \(id)" } ?? id
    }

    private func bar(_ bar: JSON, _ name: String, _ span: TimelineSpan) -> Markup {
        guard let start = bar["start"]?.string, let first = Instant(text: start) else {
            return .nothing
        }
        let end = bar["end"]?.string
        let last = end.flatMap { Instant(text: $0) }
        let (x, edge) = (span.x(first), last.map { span.x($0) } ?? TimelinePart.width)
        let isGrace = bar["grace"]?.bool ?? false
        let kind: Markup = isGrace ? "bar grace" : "bar"
        let words =
            "\(name)\(isGrace ? ", grace" : "") from \(start) \(end.map { "until \($0)" } ?? "with no end")"
        return """
            <a href="\(value: place(start))" aria-label="\(value: words)"><rect class="\(kind)" x="\(x)" y="2" width="\(max(3, edge - x))" height="14"><title>\(words)</title></rect></a>
            """
    }

    private func place(_ at: String) -> String {
        look.stream.place.with("at", at).with("known", look.known).text
    }
}

/// The period that the drawing covers.
struct TimelineSpan {
    private static let day: Int64 = 86_400_000

    let start: Instant
    let end: Instant
    let mark: Instant
    /// The instants at which a bar begins or ends, in order.
    let edges: [Instant]

    /// Determines the period; `nil` if there is nothing to draw.
    init?(_ whole: JSON) {
        let rows = whole["timeline"]?.array ?? []
        let bars = rows.flatMap { $0["bars"]?.array ?? [] }
        let moments = rows.flatMap { $0["moments"]?.array ?? [] }
        let texts = bars.flatMap { [$0["start"], $0["end"]] } + moments
        let edges = Set(texts.compactMap { $0?.string }.compactMap { Instant(text: $0) }).sorted()
        guard let mark = (whole["at"]?.string).flatMap({ Instant(text: $0) }),
            let first = edges.first, let last = edges.last
        else { return nil }
        self.edges = edges
        self.mark = mark
        let (low, high) = (min(first, mark).milliseconds, max(last, mark).milliseconds)
        // Leaves space on both sides, to show which bars begin or end within the drawing.
        let (length, isTooLong) = high.subtractingReportingOverflow(low)
        let room = isTooLong ? 0 : max(TimelineSpan.day, length / 20)
        start = Instant(milliseconds: low).advanced(byMilliseconds: -room)
        end = Instant(milliseconds: high).advanced(byMilliseconds: room)
    }

    /// Returns the instant's horizontal position in the drawing.
    func x(_ instant: Instant) -> Int {
        let length = Double(end.milliseconds) - Double(start.milliseconds)
        let offset = Double(instant.milliseconds) - Double(start.milliseconds)
        let place = (offset / length * Double(TimelinePart.width)).rounded()
        return Int(min(max(place, 0), Double(TimelinePart.width)))
    }
}

/// Links that move the page's two instants.
private struct Moves {
    private static let day: Int64 = 86_400_000

    let look: CustomerLook
    let span: TimelineSpan

    var markup: Markup {
        """
        <nav class="moves" aria-label="Other instants">
        \(line("What held", [
            ("at the previous edge", at(span.edges.last { $0 < span.mark })),
            ("a day earlier", at(span.mark.advanced(byMilliseconds: -Moves.day))),
            ("a day later", at(span.mark.advanced(byMilliseconds: Moves.day))),
            ("at the next edge", at(span.edges.first { $0 > span.mark })),
        ]))
        \(line("What was known", [
            ("before the newest event shown", known(before)),
            ("a day later", known(later)),
        ]))
        </nav>
        """
    }

    private func line(_ words: String, _ links: [(words: String, place: Place?)]) -> Markup {
        let items: [Markup] = links.compactMap { link in
            link.place.map { Markup.link($0, link.words) }
        }
        return items.isEmpty ? .nothing : "<p>\(words): \(items)</p>"
    }

    private func at(_ instant: Instant?) -> Place? {
        instant.map { look.stream.place.with("at", $0.text).with("known", look.known) }
    }

    private func known(_ instant: Instant?) -> Place? {
        instant.map {
            look.stream.place.with("at", look.at).with("known", $0.text)
        }
    }

    private var recorded: [Instant] {
        look.events.compactMap { ($0["recorded_at"]?.string).flatMap { Instant(text: $0) } }
    }

    /// The instant just before the newest known event.
    private var before: Instant? {
        recorded.max().map { $0.advanced(byMilliseconds: -1) }
    }

    private var later: Instant? {
        look.known.flatMap { Instant(text: $0) }?.advanced(byMilliseconds: Moves.day)
    }
}
