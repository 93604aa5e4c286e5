import Core
import JSON

/// A request's query, the part after `?`.
package struct QueryParameters: Sendable {
    /// The parameters of calls that list a customer's data page by page.
    static let page = ["after", "limit", "environment"]
    package static let pageLimit: Int64 = 1000

    /// The parameters. Comparing these few names is faster than a dictionary lookup.
    private var given: [(name: String, value: String)] = []

    /// Parses a query. Accepts only the parameters in `names`, because a misspelt one would count as missing.
    init(_ text: String?, of names: [String]) throws(Problem) {
        guard let text else { return }
        // Splits bytes, because splitting characters takes much longer.
        let bytes = text.utf8.span
        var end = -1
        while end < bytes.count {
            let start = end + 1
            end = bytes.first(UInt8(ascii: "&"), from: start, to: bytes.count)
            if start == end { continue }
            let mark = bytes.first(UInt8(ascii: "="), from: start, to: end)
            guard let name = percentDecoded(bytes.extracting(start..<mark)),
                let value = percentDecoded(bytes.extracting(min(mark + 1, end)..<end))
            else { throw .invalid("query", "The query is not validly percent-encoded UTF-8.") }
            if !names.contains(name) { throw .unknown("parameter", name, of: names) }
            if self[name] != nil {
                throw .invalid(name, "The parameter \"\(name)\" is given twice; give it once.")
            }
            given.append((name, value))
        }
    }

    /// The parameters as JSON members, for calls that accept their input either way.
    var members: JSONObject {
        var object = JSONObject()
        for (name, value) in given { object.append(name, .string(value)) }
        return object
    }

    subscript(name: String) -> String? {
        for parameter in given where parameter.name == name { return parameter.value }
        return nil
    }

    var isEmpty: Bool { given.isEmpty }

    func without(_ names: [String]) -> QueryParameters {
        var others = self
        others.given.removeAll { names.contains($0.name) }
        return others
    }

    func isOnly(_ name: String) -> Bool { given.count == 1 && given[0].name == name }

    func instant(_ name: String) throws(Problem) -> Instant? {
        guard let text = self[name] else { return nil }
        guard let instant = Instant(text: text) else {
            throw .invalid(
                name, "The parameter \"\(name)\" must be an instant like 2026-11-20T19:21:00Z.")
        }
        return instant
    }

    /// Returns the period given by `from` and `to`.
    func period() throws(Problem) -> (from: Instant?, to: Instant?) {
        let (from, to) = (try instant("from"), try instant("to"))
        if let from, let to, to <= from {
            throw .invalid("to", "\"to\" must come after \"from\".")
        }
        return (from, to)
    }

    func identifier<Kind>(_ name: String) throws(Problem) -> Identifier<Kind>? {
        guard let text = self[name] else { return nil }
        return try Identifier(member: name, text)
    }

    /// Returns the customer whom the parameter `customer` names.
    func customer() throws(Problem) -> CustomerID? {
        let customer: CustomerID? = try identifier("customer")
        try customer?.requireUnreserved("customer")
        return customer
    }

    /// Returns the position after which a list continues. `form` describes the format of positions.
    func place<Place>(
        by read: (String) -> Place?, like form: String
    ) throws(Problem) -> Place? {
        guard let text = self["after"] else { return nil }
        guard let place = read(text) else {
            throw .invalid("after", "\"after\" takes \(form).")
        }
        return place
    }

    func flag(_ name: String) throws(Problem) -> Bool {
        switch self[name] {
        case nil, "0", "false": return false
        case "1", "true": return true
        default: throw .invalid(name, "The parameter \"\(name)\" must be 1 or 0.")
        }
    }

    func integer(
        _ name: String, in range: ClosedRange<Int64>, default value: Int64
    ) throws(Problem) -> Int64 {
        try optionalInteger(name, in: range) ?? value
    }

    func optionalInteger(
        _ name: String, in range: ClosedRange<Int64>
    ) throws(Problem) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw .invalid(
                name,
                "The parameter \"\(name)\" must be a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound).")
        }
        return number
    }

    /// Returns the requested number of entries on a page.
    func pageSize() throws(Problem) -> Int {
        Int(try integer("limit", in: 1...QueryParameters.pageLimit, default: 100))
    }

    func environment() throws(Problem) -> Environment? {
        try self["environment"].map { text throws(Problem) in
            try Environment(member: "environment", text)
        }
    }
}

extension Span<UInt8> {
    /// Returns the byte's first position in that range, or the end of the range if the byte does not occur.
    fileprivate func first(_ byte: UInt8, from start: Int, to end: Int) -> Int {
        var place = start
        while place < end, self[place] != byte { place += 1 }
        return place
    }
}

extension Environment {
    init(member: String, _ text: String) throws(Problem) {
        guard let environment = Environment(rawValue: text) else {
            throw .invalid(member, "\"\(member)\" must be \"production\" or \"sandbox\".")
        }
        self = environment
    }
}
