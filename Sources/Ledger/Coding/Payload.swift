import Core
import JSON

/// Encodes an event or part of one as a payload, and decodes it. A released format never changes. A
/// change gets a new format number, and the reader for the old format stays.
protocol PayloadCodable {
    var payload: JSON { get }
    init(_ payload: Payload) throws
}

/// Reads a payload's members, each as its expected type.
struct Payload {
    private let json: JSON

    init(_ json: JSON) {
        self.json = json
    }

    struct Misfit: Error, CustomStringConvertible {
        let name: String
        var description: String { "the member \(name) is missing or of the wrong type" }
    }

    private func member(_ name: String) -> JSON? {
        json[name].flatMap { $0.isNull ? nil : $0 }
    }

    /// Returns the member's value, or throws an error that names the member.
    private func require<Value>(_ name: String, _ value: Value?) throws -> Value {
        guard let value else { throw Misfit(name: name) }
        return value
    }

    /// Returns the member's value, or `nil` if the member is missing. Throws if the value has the wrong type.
    private func optional<Value>(_ name: String, _ read: (JSON) throws -> Value?) throws -> Value? {
        try member(name).map { try require(name, try read($0)) }
    }

    func text(_ name: String) throws -> String { try require(name, try optionalText(name)) }

    func optionalText(_ name: String) throws -> String? { try optional(name) { $0.string } }

    func integer(_ name: String) throws -> Int64 { try require(name, try optionalInteger(name)) }

    func optionalInteger(_ name: String) throws -> Int64? { try optional(name) { $0.integer } }

    /// Returns the flag's value; false if the member is missing.
    func flag(_ name: String) throws -> Bool { try optional(name) { $0.bool } ?? false }

    func optionalFlag(_ name: String) throws -> Bool? { try optional(name) { $0.bool } }

    func id<Kind>(_ name: String) throws -> Identifier<Kind> {
        try Identifier(try text(name))
    }

    func optionalID<Kind>(_ name: String) throws -> Identifier<Kind>? {
        try optionalText(name).map { try Identifier($0) }
    }

    func instant(_ name: String) throws -> Instant { try require(name, try optionalInstant(name)) }

    func optionalInstant(_ name: String) throws -> Instant? {
        try optional(name) { json in json.string.flatMap { Instant(expandedText: $0) } }
    }

    func duration(_ name: String) throws -> CalendarDuration {
        try require(name, CalendarDuration(try text(name)))
    }

    func optionalDuration(_ name: String) throws -> CalendarDuration? {
        try optional(name) { json in json.string.flatMap { CalendarDuration($0) } }
    }

    func ids<Kind>(_ name: String) throws -> [Identifier<Kind>] {
        try optional(name) { json in
            try json.array?.map { try Identifier(try require(name, $0.string)) }
        } ?? []
    }

    func texts(_ name: String) throws -> [String] {
        try optional(name) { json in try json.array?.map { try require(name, $0.string) } } ?? []
    }

    /// Returns a member's value as a case of an enumeration.
    func word<Word: RawRepresentable<String>>(_ name: String) throws -> Word {
        try require(name, Word(rawValue: try text(name)))
    }

    func optionalWord<Word: RawRepresentable<String>>(_ name: String) throws -> Word? {
        try optional(name) { json in json.string.flatMap(Word.init(rawValue:)) }
    }

    func part<Part: PayloadCodable>(_ name: String) throws -> Part {
        try require(name, try optionalPart(name))
    }

    func optionalPart<Part: PayloadCodable>(_ name: String) throws -> Part? {
        try optional(name) { try Part(Payload($0)) }
    }

    func parts<Part: PayloadCodable>(_ name: String) throws -> [Part] {
        try optional(name) { json in try json.array?.map { try Part(Payload($0)) } } ?? []
    }

    /// The JSON value itself, for parts that are not objects.
    var value: JSON { json }
}

extension JSON {
    /// Returns an object that contains only the members with a value.
    static func members(_ members: KeyValuePairs<String, JSON?>) -> JSON {
        var object = JSONObject()
        for (name, value) in members {
            if let value { object.append(name, value) }
        }
        return .object(object)
    }

    static func text(_ text: String?) -> JSON? { text.map(JSON.string) }

    static func id<Kind>(_ id: Identifier<Kind>?) -> JSON? { text(id?.text) }

    static func instant(_ instant: Instant?) -> JSON? { text(instant?.text) }

    static func number(_ number: Int64?) -> JSON? { number.map(JSON.integer) }

    /// Returns the value of a set flag. A flag that is not set is not written.
    static func flag(_ flag: Bool) -> JSON? { flag ? true : nil }

    static func ids<Kind>(_ ids: some Sequence<Identifier<Kind>>) -> JSON {
        .array(ids.map { .string($0.text) })
    }

    static func parts(_ parts: [some PayloadCodable]) -> JSON { .array(parts.map(\.payload)) }
}
