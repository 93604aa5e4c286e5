/// HTML. Plain text cannot become HTML by accident: interpolated text is escaped, and only this program's literals are
/// used unchanged.
///
/// `"<p>\(name)</p>"` shows a name. `"<a href=\"\(value: link)\">"` sets an attribute.
package struct Markup: ExpressibleByStringInterpolation, Sendable {
    package let html: String

    package init(stringLiteral literal: StaticString) { html = "\(literal)" }

    package init(stringInterpolation interpolation: Interpolation) { html = interpolation.html }

    fileprivate init(joining parts: [Markup]) {
        html = parts.map(\.html).joined(separator: "\n")
    }

    package static let nothing: Markup = ""

    package static func text(_ text: String) -> Markup { "\(text)" }

    /// Returns a section of a page, labelled by its heading.
    static func section(_ id: StaticString, _ title: StaticString, _ content: Markup) -> Markup {
        let (id, title) = (Markup(stringLiteral: id), Markup(stringLiteral: title))
        return """
            <section aria-labelledby="\(id)"><h2 id="\(id)">\(title)</h2>
            \(content)
            </section>
            """
    }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var html = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            html.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: StaticString) { html += "\(literal)" }

        /// Adds text between tags. Characters that would hide or reverse other characters are shown
        /// by name.
        package mutating func appendInterpolation(_ text: String) {
            for scalar in text.unicodeScalars {
                if let escape = scalar.escape {
                    html += escape
                } else if scalar.isDeceptive {
                    html += "[U+\(String(scalar.value, radix: 16, uppercase: true))]"
                } else {
                    html.unicodeScalars.append(scalar)
                }
            }
        }

        /// Adds an attribute's value, which must be in double quotes. The value stays unchanged apart from escaping.
        package mutating func appendInterpolation(value text: String) {
            for scalar in text.unicodeScalars {
                if let escape = scalar.escape {
                    html += escape
                } else if scalar.isDeceptive || scalar == "\n" {
                    html += "&#\(scalar.value);"
                } else {
                    html.unicodeScalars.append(scalar)
                }
            }
        }

        package mutating func appendInterpolation(_ number: Int) { html += String(number) }

        package mutating func appendInterpolation(_ markup: Markup) { html += markup.html }

        package mutating func appendInterpolation(_ parts: [Markup]) {
            html += Markup(joining: parts).html
        }
    }
}

extension Unicode.Scalar {
    fileprivate var escape: String? {
        switch self {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&#39;"
        default: nil
        }
    }

    /// Whether the character changes how other characters look, as control characters and direction
    /// marks do.
    fileprivate var isDeceptive: Bool {
        switch value {
        case 0x09, 0x0A: false
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
