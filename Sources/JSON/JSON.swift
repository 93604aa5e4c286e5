/// A JSON value. The members of an object keep their order, and their names are unique. Integers that fit in 64 bits
/// are exact. All other numbers are kept as text.
package enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case decimal(String)
    case string(String)
    case array([JSON])
    case object(JSONObject)
}

/// The members of a JSON object, in the order in which they were written.
package struct JSONObject: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
        package let name: String
        package let value: JSON
    }

    package private(set) var members: [Member] = []

    /// Creates an empty object with room for the given number of members.
    package init(capacity: Int = 0) {
        members.reserveCapacity(capacity)
    }

    package var isEmpty: Bool { members.isEmpty }

    package subscript(name: String) -> JSON? {
        guard let index = index(of: name) else { return nil }
        return members[index].value
    }

    func holds(_ name: String) -> Bool { index(of: name) != nil }

    /// Compares the lengths first, which is cheaper than comparing the names.
    private func index(of name: String) -> Int? {
        let length = name.utf8.count
        return members.firstIndex { $0.name.utf8.count == length && $0.name == name }
    }

    /// Adds a member. The caller must ensure that the name is new. When JSON is read, the reader rejects duplicate
    /// names.
    package mutating func append(_ name: String, _ value: JSON) {
        members.append(Member(name: name, value: value))
    }
}

/// A member's name in a prepared form, for members that are written often.
package struct JSONName: Sendable {
    let text: String
    /// The name as it appears in an object when it follows another member.
    let beforeText: [UInt8]
    let beforeObject: [UInt8]
    let beforeValue: [UInt8]
    let asNull: [UInt8]
    let asTrue: [UInt8]
    let asFalse: [UInt8]

    package init(_ text: String) {
        self.text = text
        var name = [UInt8(ascii: ",")]
        JSON.write(name: text, to: &name)
        beforeValue = name
        beforeText = name + "\"".utf8
        beforeObject = name + "{".utf8
        asNull = name + "null".utf8
        asTrue = name + "true".utf8
        asFalse = name + "false".utf8
    }
}

/// Receives the members of an object, either to store them or to write them directly.
package protocol JSONMembers {
    mutating func append(_ name: JSONName, _ flag: Bool)
    /// Adds a string member. `nil` becomes `null`.
    mutating func append(_ name: JSONName, _ text: String?)
    /// Adds a string member whose text needs no escaping. `write` appends that text.
    mutating func append(_ name: JSONName, writing write: (inout [UInt8]) -> Void)
}

extension JSONObject: JSONMembers {
    package mutating func append(_ name: JSONName, _ flag: Bool) {
        append(name.text, .bool(flag))
    }

    package mutating func append(_ name: JSONName, _ text: String?) {
        append(name.text, .optional(text))
    }

    package mutating func append(_ name: JSONName, writing write: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        write(&bytes)
        append(name.text, .string(String(decoding: bytes, as: UTF8.self)))
    }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral
{
    package init(dictionaryLiteral elements: (String, JSON)...) {
        var object = JSONObject(capacity: elements.count)
        for (name, value) in elements { object.append(name, value) }
        self = .object(object)
    }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSON {
    /// Returns a JSON string, or `null` for `nil`.
    package static func optional(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }

    package static func integer(_ value: Int) -> JSON { .integer(Int64(value)) }

    /// Returns an object with one member for each element.
    package static func object<Elements: Sequence>(
        each elements: Elements, _ member: (Elements.Element) -> (name: String, value: JSON)
    ) -> JSON {
        var object = JSONObject()
        for element in elements {
            let (name, value) = member(element)
            object.append(name, value)
        }
        return .object(object)
    }

    /// Returns the members of this object followed by those of another one.
    package func followed(by other: JSON) -> JSON {
        guard var object, let others = other.object else { return self }
        for member in others.members { object.append(member.name, member.value) }
        return .object(object)
    }

    /// Returns the object with an additional member, unless the value is `nil`.
    package func with(_ name: String, _ value: JSON?) -> JSON {
        guard let value, var object else { return self }
        object.append(name, value)
        return .object(object)
    }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }
    package var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }
    package var array: [JSON]? {
        if case .array(let value) = self { value } else { nil }
    }
    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }
    package var isNull: Bool { self == .null }

    /// The member with the given name; `nil` if this is not an object or lacks the member.
    package subscript(name: String) -> JSON? { object?[name] }

    /// The type of this value for use in an error message, such as "a string" or "an object".
    package var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .decimal: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
