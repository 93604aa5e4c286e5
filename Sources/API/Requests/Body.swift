import Core
import JSON
import Service

/// The JSON object in a request's body, with typed access to its members.
struct Body {
    private let members: JSONObject
    /// Whether the members came from the query, where all values are strings.
    private let areFromQuery: Bool

    /// Reads an object that may contain only the members in `names`. A misspelt member would count as missing, which
    /// can cause harm: a grant without its end would never end.
    init(_ bytes: [UInt8], of names: [String]) throws(Problem) {
        let json: JSON
        do {
            json = try JSON.read(bytes)
        } catch {
            throw Problem(
                status: 400, code: "invalid_json",
                detail: bytes.isEmpty
                    ? "The body is empty; send a JSON object." : "The body is not JSON: \(error).",
                member: "body")
        }
        guard case .object(let object) = json else {
            throw .invalid("body", "The body must be a JSON object, not \(json.typeName).")
        }
        try self.init(object, of: names)
    }

    /// Reads a call's body, or its query if it has no body. Not every client can send a body with every method.
    init(orQueryOf call: Call, of names: [String]) throws(Problem) {
        // `dry_run` and `if_version` are always given in the query, even if the call has a body.
        let query = call.query.without(QueryParameters.terms)
        if call.body.isEmpty {
            try self.init(query.members, of: names, areFromQuery: true)
        } else if query.isEmpty || query.isOnly("environment") {
            try self.init(call.body, of: names)
        } else {
            throw .invalid(
                "query", "The call has both a body and a query; send everything in one of them.")
        }
    }

    private init(
        _ members: JSONObject, of names: [String], areFromQuery: Bool = false
    ) throws(Problem) {
        for member in members.members where !names.contains(member.name) {
            throw .unknown("member", member.name, of: names)
        }
        self.members = members
        self.areFromQuery = areFromQuery
    }

    /// Returns the flag's value, or false if the member is missing.
    func flag(_ name: String) throws(Problem) -> Bool {
        guard let value = members[name], !value.isNull else { return false }
        if let flag = value.bool { return flag }
        switch areFromQuery ? value.string : nil {
        case "1", "true": return true
        case "0", "false": return false
        default:
            throw .invalid(
                name, "The member \"\(name)\" must be true or false, not \(value.typeName).")
        }
    }

    /// Reads an object in a member, which may contain only the members in `names`; `nil` if the member is null.
    init?(member path: String, _ value: JSON, of names: [String]) throws(Problem) {
        if value.isNull { return nil }
        guard let object = value.object else {
            throw .invalid(
                path, "The member \"\(path)\" must be an object, not \(value.typeName).")
        }
        try self.init(object, of: names)
    }

    /// Returns the member's value, which must have the form that `form` describes.
    private func optional<Value>(
        _ name: String, _ form: String, _ read: (JSON) -> Value?
    ) throws(Problem) -> Value? {
        guard let value = members[name], !value.isNull else { return nil }
        guard let read = read(value) else {
            throw .invalid(
                name, "The member \"\(name)\" must be \(form), not \(value.typeName).")
        }
        return read
    }

    func optionalObject(_ name: String) throws(Problem) -> JSONObject? {
        try optional(name, "an object", \.object)
    }

    func optionalArray(_ name: String) throws(Problem) -> [JSON]? {
        try optional(name, "an array", \.array)
    }

    func optionalText(_ name: String) throws(Problem) -> String? {
        try optional(name, "a string", \.string)
    }

    func text(_ name: String) throws(Problem) -> String {
        guard let text = try optionalText(name) else { throw .missing(name) }
        return text
    }

    func id<Kind>(_ name: String) throws(Problem) -> Identifier<Kind> {
        try Identifier(member: name, try text(name))
    }

    func optionalID<Kind>(_ name: String) throws(Problem) -> Identifier<Kind>? {
        guard let text = try optionalText(name) else { return nil }
        return try Identifier(member: name, text)
    }

    /// Returns whether the body contains the member with a value other than null.
    func holdsValue(_ name: String) -> Bool { members[name].map { !$0.isNull } ?? false }

    /// Returns whether the body contains the member, even if it is null.
    func holds(_ name: String) -> Bool { members[name] != nil }

    func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String
    ) throws(Problem) -> Word {
        guard let word: Word = try optionalWord(name) else { throw .missing(name) }
        return word
    }

    func optionalWord<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String
    ) throws(Problem) -> Word? {
        guard let text = try optionalText(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw .invalid(name, "The member \"\(name)\" must be one of \(words).")
        }
        return word
    }

    /// Returns a whole number. The error for a missing number states the range. Numbers outside the range are refused
    /// later, by the rules.
    func integer(_ name: String, stating range: ClosedRange<Int64>) throws(Problem) -> Int64 {
        guard let value = members[name], !value.isNull else { throw .missing(name) }
        guard let number = value.integer else { throw .notWhole(name, range) }
        return number
    }

    func optionalInteger(
        _ name: String, in range: ClosedRange<Int64>
    ) throws(Problem) -> Int64? {
        guard let value = members[name], !value.isNull else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw .notWhole(name, range)
        }
        return number
    }

    func optionalIDs<Kind>(_ name: String) throws(Problem) -> [Identifier<Kind>]? {
        guard let texts = try optionalTexts(name) else { return nil }
        var ids: [Identifier<Kind>] = []
        ids.reserveCapacity(texts.count)
        for text in texts {
            // Only an error needs the path.
            guard let id = try? Identifier<Kind>(text) else {
                ids.append(try Identifier(member: "\(name)[\(ids.count)]", text))
                continue
            }
            ids.append(id)
        }
        return ids
    }

    func optionalTexts(_ name: String) throws(Problem) -> [String]? {
        guard let array = try optionalArray(name) else { return nil }
        var texts: [String] = []
        for element in array {
            guard let text = element.string else {
                let place = "\(name)[\(texts.count)]"
                throw .invalid(
                    place, "\"\(place)\" must be a string, not \(element.typeName).")
            }
            texts.append(text)
        }
        return texts
    }

    /// Returns the number of elements, if the member is an array.
    func count(of name: String) -> Int { members[name]?.array?.count ?? 0 }

    func optionalInstant(_ name: String) throws(Problem) -> Instant? {
        guard let text = try optionalText(name) else { return nil }
        guard let instant = Instant(text: text) else {
            throw .invalid(
                name, "The member \"\(name)\" must be an instant like \"2026-11-20T19:21:00Z\".")
        }
        return instant
    }

    func optionalDuration(_ name: String) throws(Problem) -> CalendarDuration? {
        guard let text = try optionalText(name) else { return nil }
        guard let duration = CalendarDuration(text) else {
            throw .invalid(
                name,
                "The member \"\(name)\" must be an ISO 8601 duration longer than zero, like "
                    + "\"P30D\" or \"P1M\".")
        }
        return duration
    }
}

extension Problem {
    fileprivate static func notWhole(_ name: String, _ range: ClosedRange<Int64>) -> Problem {
        .invalid(
            name,
            "The member \"\(name)\" must be a whole number from \(range.lowerBound) to "
                + "\(range.upperBound).")
    }
}

extension Body {
    static let reasonNames = ["reason", "ticket"]
    /// The member that allows names that are missing from the catalog.
    static let allowUnknown = "allow_unknown"

    /// Returns the ticket, checked by the rules for new names.
    func ticket() throws(Problem) -> Ticket? {
        guard let text = try optionalText("ticket") else { return nil }
        do {
            return try Ticket(new: text)
        } catch {
            throw .invalid("ticket", "\"ticket\" \(error).")
        }
    }

    func adminReason() throws(Problem) -> AdminReason {
        let reason: Reason = try id("reason")
        if reason.isBlank { throw .invalid("reason", "\"reason\" is blank; give a reason.") }
        return AdminReason(reason: reason, ticket: try ticket())
    }
}

extension Identifier {
    /// Reads an identifier. The error names the member.
    init(member: String, _ text: String) throws(Problem) {
        do {
            try self.init(text)
        } catch {
            throw .invalid(member, "\"\(member)\" \(error).")
        }
    }
}
