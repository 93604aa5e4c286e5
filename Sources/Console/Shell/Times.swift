import Core

extension Markup {
    /// Returns markup for an instant from an answer. The console's script adds the local time.
    static func time(_ text: String?) -> Markup {
        guard let text else { return .nothing }
        guard Instant(text: text) != nil, text.utf8.count == 24 else { return .text(text) }
        let (day, time) = (String(text.prefix(10)), String(text.dropFirst(11).dropLast()))
        let shown = time.hasSuffix(".000") ? String(time.dropLast(4)) : time
        return "<time datetime=\"\(value: text)\">\(day) \(shown) UTC</time>"
    }
}

extension Markup.Interpolation {
    /// Adds text from an answer and marks the instants in it.
    mutating func appendInterpolation(timed text: String) {
        var isFirst = true
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if !isFirst { appendInterpolation(" " as String) }
            isFirst = false
            let isMarked = word.last.map { ",.;:".contains($0) } ?? false
            let instant = isMarked ? word.dropLast() : word
            guard instant.utf8.count == 24, Instant(text: String(instant)) != nil else {
                appendInterpolation(String(word))
                continue
            }
            appendInterpolation(Markup.time(String(instant)))
            appendInterpolation(String(word[instant.endIndex...]))
        }
    }
}
