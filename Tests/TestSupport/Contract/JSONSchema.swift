import Foundation
package import JSON

/// The part of JSON Schema (2020-12) that the API's document uses. An unknown keyword is an error,
/// because no test would check its promise.
package struct JSONSchema: Sendable {
    package struct Unreadable: Error, CustomStringConvertible {
        package let description: String
    }

    fileprivate enum Rule: Sendable {
        case reference(String)
        case types([String])
        case oneOf([JSON])
        case pattern(Pattern)
        case instant
        case minLength(Int)
        case maxLength(Int)
        case minimum(Int64)
        case maximum(Int64)
        case items(JSONSchema)
        case minItems(Int)
        case maxItems(Int)
        case required([String])
        case members([String: JSONSchema], others: Others)
        case minProperties(Int)
        case maxProperties(Int)
        case names(JSONSchema)
        case alternatives([JSONSchema], exactlyOne: Bool)
        case not(JSONSchema)
    }
    fileprivate enum Others: Sendable {
        case anything
        /// Refuses members that are not listed, because the document must list all members of an answer.
        case nothing
        case like(JSONSchema)
    }
    fileprivate struct Pattern: @unchecked Sendable {
        let text: String
        let expression: NSRegularExpression
    }
    private let rules: [Rule]

    /// Keywords that do not restrict the value, or that other code handles.
    private static let annotations: Set<String> = [
        "description", "title", "examples", "default", "additionalProperties", "properties",
    ]

    package init(_ json: JSON) throws { try self.init(json, isClosed: true) }

    private init(_ json: JSON, isClosed: Bool) throws {
        guard let object = json.object else {
            throw Unreadable(description: "a schema is \(json.typeName)")
        }
        var rules = try JSONSchema.memberRules(json, isClosed: isClosed)
        for member in object.members where !JSONSchema.annotations.contains(member.name) {
            rules.append(try JSONSchema.rule(member.name, member.value, isClosed: isClosed))
        }
        self.rules = rules
    }

    private static func memberRules(_ json: JSON, isClosed: Bool) throws -> [Rule] {
        let others: Others
        switch json["additionalProperties"] {
        case nil: others = isClosed && json["properties"] != nil ? .nothing : .anything
        case .bool(let isAny): others = isAny ? .anything : .nothing
        case .some(let schema): others = .like(try JSONSchema(schema, isClosed: isClosed))
        }
        if json["properties"] == nil, case .anything = others { return [] }
        var members: [String: JSONSchema] = [:]
        for member in json["properties"]?.object?.members ?? [] {
            members[member.name] = try JSONSchema(member.value, isClosed: isClosed)
        }
        return [.members(members, others: others)]
    }

    private static func rule(_ name: String, _ value: JSON, isClosed: Bool) throws -> Rule {
        switch (name, value) {
        case ("$ref", .string(let path)):
            return .reference(String(path.split(separator: "/").last ?? ""))
        case ("type", .string(let type)): return .types([type])
        case ("type", .array(let types)): return .types(types.compactMap(\.string))
        case ("enum", .array(let values)): return .oneOf(values)
        case ("const", _): return .oneOf([value])
        case ("pattern", .string(let text)):
            return .pattern(
                Pattern(text: text, expression: try NSRegularExpression(pattern: text)))
        case ("format", "date-time"): return .instant
        case ("required", .array(let names)): return .required(names.compactMap(\.string))
        case ("items", _): return .items(try JSONSchema(value, isClosed: isClosed))
        case ("propertyNames", _): return .names(try JSONSchema(value, isClosed: isClosed))
        case ("oneOf", .array(let schemas)), ("anyOf", .array(let schemas)):
            // An alternative of `anyOf` only selects a case. The enclosing schema lists the other members.
            let isOne = name == "oneOf"
            return .alternatives(
                try schemas.map { try JSONSchema($0, isClosed: isClosed && isOne) },
                exactlyOne: isOne)
        case ("not", _): return .not(try JSONSchema(value, isClosed: false))
        case (_, .integer(let limit)): return try rule(name, limit)
        default:
            throw Unreadable(description: "the keyword \(name): \(value.text) is not known")
        }
    }

    private static func rule(_ name: String, _ limit: Int64) throws -> Rule {
        switch name {
        case "minimum": return .minimum(limit)
        case "maximum": return .maximum(limit)
        case "minLength": return .minLength(Int(limit))
        case "maxLength": return .maxLength(Int(limit))
        case "minItems": return .minItems(Int(limit))
        case "maxItems": return .maxItems(Int(limit))
        case "minProperties": return .minProperties(Int(limit))
        case "maxProperties": return .maxProperties(Int(limit))
        default: throw Unreadable(description: "the keyword \(name) is not known")
        }
    }
}

// MARK: Validation

extension JSONSchema {
    /// Returns all differences from the schema. `named` contains the schemas that others refer to.
    package func problems(
        of value: JSON, at path: String = "", named: [String: JSONSchema]
    ) -> [String] {
        rules.flatMap { problems($0, value, path, named) }
    }

    private func problems(
        _ rule: Rule, _ value: JSON, _ path: String, _ named: [String: JSONSchema]
    ) -> [String] {
        func unless(_ holds: Bool, _ sentence: @autoclosure () -> String) -> [String] {
            holds ? [] : ["\(path.isEmpty ? "it" : path) \(sentence()): \(value.text.prefix(200))"]
        }
        switch rule {
        case .reference(let name):
            guard let schema = named[name] else { return ["there is no schema \(name)"] }
            return schema.problems(of: value, at: path, named: named)
        case .types(let types):
            return unless(types.contains { value.isOf(type: $0) }, "is not \(types)")
        case .oneOf(let values): return unless(values.contains(value), "is not one of \(values)")
        case .alternatives(let schemas, let exactlyOne):
            let all = schemas.map { $0.problems(of: value, at: path, named: named) }
            let fitting = all.count(where: \.isEmpty)
            if fitting == 1 || (fitting > 1 && !exactlyOne) { return [] }
            return unless(fitting > 0, "fits no alternative") + all.flatMap(\.self)
                + unless(fitting < 2, "fits several alternatives")
        case .not(let schema):
            return unless(
                !schema.problems(of: value, at: path, named: named).isEmpty, "is ruled out")
        default: break
        }
        switch value {
        case .string(let text): return unless(rule.allows(text), "is no \(rule.words)")
        case .integer(let number): return unless(rule.allows(number), "is not \(rule.words)")
        case .array(let elements):
            if case .items(let schema) = rule {
                return elements.enumerated().flatMap {
                    schema.problems(of: $1, at: "\(path)[\($0)]", named: named)
                }
            }
            return unless(rule.allows(count: elements.count), "has not \(rule.words)")
        case .object(let object):
            return problems(rule, object, path, named)
                + unless(
                    rule.allows(memberCount: object.members.count), "has not \(rule.words)")
        case .null, .bool, .decimal: return []
        }
    }

    private func problems(
        _ rule: Rule, _ object: JSONObject, _ path: String, _ named: [String: JSONSchema]
    ) -> [String] {
        switch rule {
        case .required(let names):
            return names.filter { object[$0] == nil }.map { "\(path).\($0) is missing" }
        case .names(let schema):
            return object.members.flatMap {
                schema.problems(of: .string($0.name), at: "\(path) a name", named: named)
            }
        case .members(let members, let others):
            return object.members.flatMap { member -> [String] in
                let place = "\(path).\(member.name)"
                if let schema = members[member.name] {
                    return schema.problems(of: member.value, at: place, named: named)
                }
                switch others {
                case .anything: return []
                case .nothing: return ["\(place) is not in the document"]
                case .like(let schema):
                    return schema.problems(of: member.value, at: place, named: named)
                }
            }
        default: return []
        }
    }
}

extension JSONSchema.Rule {
    fileprivate var words: String { String("\(self)".prefix(200)) }

    fileprivate func allows(_ text: String) -> Bool {
        switch self {
        case .pattern(let pattern):
            let range = NSRange(text.startIndex..., in: text)
            return pattern.expression.firstMatch(in: text, range: range) != nil
        case .instant:
            return text.wholeMatch(
                of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/) != nil
        case .minLength(let least): return text.unicodeScalars.count >= least
        case .maxLength(let most): return text.unicodeScalars.count <= most
        default: return true
        }
    }

    fileprivate func allows(_ number: Int64) -> Bool {
        switch self {
        case .minimum(let least): number >= least
        case .maximum(let most): number <= most
        default: true
        }
    }

    fileprivate func allows(count: Int) -> Bool {
        switch self {
        case .minItems(let least): count >= least
        case .maxItems(let most): count <= most
        default: true
        }
    }

    fileprivate func allows(memberCount count: Int) -> Bool {
        switch self {
        case .minProperties(let least): count >= least
        case .maxProperties(let most): count <= most
        default: true
        }
    }
}

extension JSON {
    fileprivate func isOf(type: String) -> Bool {
        switch self {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .integer: type == "integer" || type == "number"
        case .decimal: type == "number"
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }
}
