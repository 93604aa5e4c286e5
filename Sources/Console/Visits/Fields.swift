import API

/// The fields of a form or the parameters of a query. Browsers send both in the same format.
struct Fields: Sendable {
    private var values: [String: String] = [:]

    /// Parses the fields. If a name occurs several times, its first value is used. Fields with
    /// invalid encoding are left out.
    init(_ text: String) {
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Fields.decoded(parts[0]) else { continue }
            let value = parts.count == 2 ? Fields.decoded(parts[1]) : ""
            if let value, values[name] == nil { values[name] = value }
        }
    }

    init(form body: [UInt8]) { self.init(String(decoding: body, as: UTF8.self)) }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        let bytes = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return percentDecoded(bytes.span)
    }

    /// The field's value. An empty field counts as missing, because browsers also send empty fields.
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns these fields with others, which replace fields of the same name.
    func with(_ others: [(name: String, value: String)]) -> Fields {
        var fields = self
        for other in others { fields.values[other.name] = other.value }
        return fields
    }

    func trimmed(_ name: String) -> String? {
        guard let text = self[name] else { return nil }
        let scalars = text.unicodeScalars.drop { $0.properties.isWhitespace }.reversed()
            .drop { $0.properties.isWhitespace }.reversed()
        let trimmed = String(String.UnicodeScalarView(scalars))
        return trimmed.isEmpty ? nil : trimmed
    }
}
