import JSON

/// A part of a long list, with links to the rest.
struct ListPart {
    /// The number of entries shown at once.
    private static let size = 25

    let shown: [JSON]
    private let name: StaticString
    private let start: Int
    private let count: Int
    private let place: Place

    /// Selects one part of a list. `name` is the address parameter that holds the start of the
    /// part.
    init(_ list: [JSON], _ name: StaticString, from start: Int, at place: Place) {
        self.name = name
        self.place = place
        count = list.count
        self.start = min(max(0, start), max(0, list.count - 1))
        shown = Array(list.dropFirst(self.start).prefix(ListPart.size))
    }

    /// A line about the entries shown, with links to the others; empty for a short list.
    var links: Markup {
        if count <= ListPart.size { return .nothing }
        let end = start + shown.count
        let after: Markup =
            end < count ? link(from: end, "Next") : .nothing
        let before: Markup =
            start > 0 ? link(from: max(0, start - ListPart.size), "Previous") : .nothing
        return """
            <p class="pages">\(start + 1) to \(end) of \(count). \(before) \(after)</p>
            """
    }

    private func link(from start: Int, _ words: String) -> Markup {
        .link(place.with("\(name)", start == 0 ? nil : String(start)), words)
    }
}

extension [JSON] {
    /// Returns the list sorted by the instant in each entry, newest first. Entries without an instant come last.
    func newestFirst(by member: String) -> [JSON] {
        enumerated().sorted { one, other in
            let (first, second) = (one.element[member]?.string, other.element[member]?.string)
            return first == second ? one.offset > other.offset : first ?? "" > second ?? ""
        }.map(\.element)
    }
}
