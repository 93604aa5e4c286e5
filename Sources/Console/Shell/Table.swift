extension Markup {
    /// Returns a table whose first column names its rows. Only the table scrolls if it is too wide.
    static func table(
        _ columns: [String], _ rows: [[Markup]], caption: String? = nil
    ) -> Markup {
        let title: Markup = caption.map { "<caption>\($0)</caption>" } ?? .nothing
        let head: [Markup] = columns.map { "<th scope=\"col\">\($0)</th>" }
        let lines: [Markup] = rows.map { cells in
            let first: Markup = cells.first.map { "<th scope=\"row\">\($0)</th>" } ?? .nothing
            let others: [Markup] = cells.dropFirst().map { "<td>\($0)</td>" }
            return "<tr>\(first)\(others)</tr>"
        }
        return """
            <div class="wide"><table>\(title)
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(lines)
            </tbody></table></div>
            """
    }

    /// Returns a table, or a paragraph instead of an empty one.
    static func table(
        _ columns: [String], _ rows: [[Markup]], ifEmpty words: StaticString
    ) -> Markup {
        rows.isEmpty ? "<p>\(Markup(stringLiteral: words))</p>" : table(columns, rows)
    }

    /// Returns words in a mark that shows whether all is well.
    static func badge(_ words: String, isGood: Bool) -> Markup {
        isGood
            ? "<span class=\"badge yes\">\(words)</span>"
            : "<span class=\"badge no\">\(words)</span>"
    }

    /// Returns a list of names and values. Leaves out names without a value.
    static func terms(_ terms: [(String, Markup)]) -> Markup {
        let lines: [Markup] = terms.filter { !$0.1.html.isEmpty }.map {
            "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>"
        }
        return "<dl>\(lines)</dl>"
    }

    /// Returns the text in code style, or nothing if there is no text.
    static func code(_ text: String?) -> Markup {
        guard let text, !text.isEmpty else { return .nothing }
        return "<code>\(text)</code>"
    }
}
