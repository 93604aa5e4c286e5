import JSON
import TestSupport

/// A keyword of the document that limits a value, with its place: `Spending.amount maximum`.
struct DocumentLimit: Hashable, Comparable, CustomStringConvertible {
    static let keywords = [
        "maxLength", "minLength", "maximum", "minimum", "maxItems", "minItems", "maxProperties",
        "minProperties", "pattern",
    ]
    let place: String
    let keyword: String

    var description: String { "\(place) \(keyword)" }

    static func < (one: DocumentLimit, other: DocumentLimit) -> Bool {
        one.description < other.description
    }
}

/// A call with a value at its limit, or at a place where a limit may be missing.
struct LimitProbe {
    let limit: DocumentLimit
    /// The value alone, shortened for people.
    let value: String
    /// A value within the document's limit.
    let within: JSON
    /// A value beyond the limit; `nil` if the document has no limit. In that case, `within` exceeds
    /// any reasonable limit.
    let beyond: JSON?
}

/// Finds the limits of a request in the document, with one value within and one beyond each limit.
struct LimitProbes {
    let document: APIDocument
    private(set) var found: [LimitProbe] = []
    /// A function that puts a value into the whole request.
    private typealias Setting = (JSON) -> JSON
    private var seen: Set<String> = []

    init(_ document: APIDocument) { self.document = document }

    /// Visits a schema. `place` is its name, and `sample` is an acceptable value.
    mutating func visit(_ schema: JSON, _ place: String, _ sample: JSON) {
        visit(schema, place, sample) { $0 }
    }

    private mutating func visit(
        _ schema: JSON, _ place: String, _ sample: JSON, _ set: @escaping Setting
    ) {
        if let name = schema["$ref"]?.string?.split(separator: "/").last.map(String.init) {
            return visit(document.resolve(schema), name, sample, set)
        }
        if let alternatives = schema["oneOf"]?.array {
            for alternative in alternatives where alternative["type"]?.string != "null" {
                let isMeant = alternatives.count == 1 || alternative["$ref"] == nil
                visit(
                    alternative, place, isMeant ? sample : document.sample(of: alternative), set)
            }
            return
        }
        addLimits(of: schema, place, sample, set)
        visitInside(schema, place, sample, set)
    }

    private mutating func visitInside(
        _ schema: JSON, _ place: String, _ sample: JSON, _ set: @escaping Setting
    ) {
        for member in schema["properties"]?.object?.members ?? [] {
            let inner = sample[member.name] ?? document.sample(of: member.value)
            visit(member.value, "\(place).\(member.name)", inner) {
                set(sample.setting(member.name, to: $0))
            }
        }
        if let items = schema["items"] {
            let inner = sample.array?.first ?? document.sample(of: items)
            visit(items, "\(place)[]", inner) { set(.array([$0])) }
        }
        if let others = schema["additionalProperties"], others.object != nil {
            let inner = sample.object?.members.first?.value ?? document.sample(of: others)
            visit(others, "\(place){}", inner) { set(JSON.object(of: [("one", $0)])) }
        }
        if let names = schema["propertyNames"] {
            let value = document.sample(of: schema["additionalProperties"] ?? .null)
            visit(names, "\(place) name", "one") {
                set(JSON.object(of: [($0.string ?? "", value)]))
            }
        }
    }

    private mutating func addLimits(
        of schema: JSON, _ place: String, _ sample: JSON, _ set: Setting
    ) {
        for keyword in DocumentLimit.keywords {
            guard let value = schema[keyword] else { continue }
            let limit = DocumentLimit(place: place, keyword: keyword)
            for (within, beyond) in pairs(keyword, value, schema, sample) {
                found.append(
                    LimitProbe(
                        limit: limit,
                        value: "\(within.text.prefix(60)) or \(beyond.text.prefix(60))",
                        within: set(within), beyond: set(beyond)))
            }
        }
        for (keyword, much) in unlimited(schema, sample) {
            let limit = DocumentLimit(place: place, keyword: keyword)
            found.append(
                LimitProbe(limit: limit, value: "much", within: set(much), beyond: nil))
        }
    }

    private func pairs(
        _ keyword: String, _ value: JSON, _ schema: JSON, _ sample: JSON
    ) -> [(JSON, JSON)] {
        let number = value.integer ?? 0
        let count = Int(clamping: number)
        switch keyword {
        case "maximum":
            let more: JSON = number == .max ? .decimal("9223372036854775808") : .integer(number + 1)
            return [(value, more)]
        case "minimum":
            let less: JSON =
                number == .min ? .decimal("-9223372036854775809") : .integer(number - 1)
            return [(value, less)]
        case "maxLength":
            return [(sample.padded(to: count), sample.padded(to: count + 1))]
        case "minLength": return [(sample, "")]
        case "maxItems":
            let items = schema["items"] ?? .null
            return [(elements(count, items), elements(count + 1, items))]
        case "minItems": return [(sample, [])]
        case "minProperties": return [(members(count, schema), members(count - 1, schema))]
        case "maxProperties": return [(members(count, schema), members(count + 1, schema))]
        default: return LimitProbes.patterns[value.string ?? ""] ?? []
        }
    }

    /// Returns huge values for places without a documented limit. The service refuses them if it
    /// has a limit that the document lacks.
    private func unlimited(_ schema: JSON, _ sample: JSON) -> [(String, JSON)] {
        let type = schema["type"]?.string ?? schema["type"]?.array?.first?.string
        let isChosen = ["enum", "const", "format", "pattern"].contains { schema[$0] != nil }
        switch type {
        case "string" where schema["maxLength"] == nil && !isChosen:
            return [("maxLength", sample.padded(to: LimitProbes.much))]
        case "array" where schema["maxItems"] == nil && schema["items"]?["enum"] == nil:
            return [("maxItems", elements(LimitProbes.many, schema["items"] ?? .null))]
        case "object"
        where schema["maxProperties"] == nil && schema["additionalProperties"]?.object != nil:
            return [("maxProperties", members(LimitProbes.many, schema))]
        case "integer":
            let ends: [(String, JSON)] = [
                ("maximum", .integer(Int64.max)), ("minimum", .integer(Int64.min)),
            ]
            return ends.filter { schema[$0.0] == nil && !isChosen }
        default: return []
        }
    }

    /// Values for places where the document's example works only once, or contradicts another limit in the document.
    static let samples: [String: JSON] = [
        "NewOrder": [:], "NewCreditLimit": ["per_call": 1, "per_day": 9_007_199_254_740_991],
        "SettingsChange": ["allow_unknown": true],
    ]

    private static let (much, many) = (20_000, 2000)

    private func elements(_ count: Int, _ schema: JSON) -> JSON {
        let sample = document.sample(of: schema)
        return .array((0..<count).map { sample.numbered($0) })
    }

    private func members(_ count: Int, _ schema: JSON) -> JSON {
        let sample = document.sample(of: schema["additionalProperties"] ?? .null)
        return JSON.object(of: (0..<count).map { ("m\($0)", sample) })
    }

    /// The longest duration that the pattern accepts, and the shortest that it refuses.
    private static let duration: String = {
        let date = "YMWD".map { "(0*([0-9]{1,7}|10000000)\($0))?" }.joined()
        let time = "HMS".map { "(0*([0-9]{1,7}|10000000)\($0))?" }.joined()
        return "^P(?=.*[1-9])(?=[0-9]|T[0-9])\(date)(T(?=[0-9])\(time))?$"
    }()

    static let patterns: [String: [(JSON, JSON)]] = [
        #"^[^\u0000-\u001F\u007F-\u009F\u2028\u2029]*$"#: text,
        #"^(?!\$project/|\$unclaimed/)[^\u0000-\u001F\u007F-\u009F\u2028\u2029]*$"#:
            text + [("$projects/a", "$project/a"), ("$unclaimed", "$unclaimed/a")],
        #"^(apple|google|deed):[^\u0000-\u001F\u007F-\u009F\u2028\u2029]{1,256}$"#: [
            (JSON("apple:", 256), JSON("apple:", 257)), ("deed:1", "deed:"),
            ("google:1", "amazon:1"), ("apple:a b", "apple:a\u{7F}b"),
        ],
        "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$": [
            ("6f0A4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11", "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a1"),
            ("6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11", "6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a1g"),
            ("6f0a4f0e-8a0e-4b43-9f5d-0d1b6c0f8a11", "6f0a4f0e8a0e4b439f5d0d1b6c0f8a11"),
        ],
        duration: [
            ("P10000000D", "P10000001D"), ("P00000001Y", "P00000000Y"), ("PT1S", "PT0S"),
            ("P1Y2M3W4DT5H6M7S", "P2M1Y"), ("P1D", "P1DT"), ("P0001M", "-P1M"),
            ("PT10000000S", "PT99999999S"),
        ],
        #"^-?[0-9]{1,18}:[^\u0000-\u001F\u007F-\u009F\u2028\u2029]{1,256}$"#: [
            (JSON("1763752860000:", 256), JSON("1763752860000:", 257)), ("-1:a", "x:a"),
            ("1:a b", "1:a\u{7F}b"), ("1:a", "1:"), ("1:a:b", "1"),
            ("999999999999999999:a", "9999999999999999999:a"),
        ],
        #"^([0-5]?[0-9]|6[0-3]):[0-9]{1,18}$"#: [
            ("63:0", "64:0"), ("05:000000000000000000", "05:0000000000000000000"), ("0:0", "0:-1"),
            ("1:0", "001:0"), ("1:1", "1:+1"),
        ],
        "^[!-~]([ -~]*[!-~])?$": [("a b", "a\u{7F}b")],
        #"^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$"#: [
            ("com.example.game", "game"), ("a.b_1", "a.1b"), ("com.Game", "com..game"),
        ],
        "^P": [("P1D", "1D")], "^[0-9]": [("2.0", "two")],
    ]
    private static let text: [(JSON, JSON)] = [
        ("a b", "a\u{7F}b"), ("\u{2027}", "\u{2028}"), ("é", "a\nb"),
    ]
}

extension APIDocument {
    /// Returns an acceptable value for the schema.
    func sample(of schema: JSON) -> JSON {
        if let name = schema["$ref"]?.string?.split(separator: "/").last.map(String.init),
            let known = LimitProbes.samples[name]
        {
            return known
        }
        let schema = resolve(schema)
        if let example = schema["examples"]?.array?.first { return example }
        if let one = schema["oneOf"]?.array?.first { return sample(of: one) }
        if let word = schema["const"] ?? schema["enum"]?.array?.first { return word }
        if let text = schema["pattern"]?.string, let known = LimitProbes.patterns[text]?.first {
            return known.0
        }
        switch schema["type"]?.string ?? schema["type"]?.array?.first?.string {
        case "string": return "a"
        case "integer": return schema["minimum"] ?? 1
        case "boolean": return true
        case "array": return .array([sample(of: schema["items"] ?? .null)])
        case "object":
            let wanted = (schema["required"]?.array ?? []).compactMap(\.string)
            if let others = schema["additionalProperties"], schema["minProperties"] != nil {
                return ["one": sample(of: others)]
            }
            return JSON.object(
                of: wanted.map { ($0, sample(of: schema["properties"]?[$0] ?? .null)) })
        default: return .null
        }
    }
}

extension JSON {
    fileprivate init(_ start: String, _ letters: Int) {
        self = .string(start + String(repeating: "a", count: letters))
    }

    static func object(of members: [(String, JSON)]) -> JSON {
        var object = JSONObject(capacity: members.count)
        for (name, value) in members { object.append(name, value) }
        return .object(object)
    }

    fileprivate func setting(_ name: String, to value: JSON) -> JSON {
        let others = (object?.members ?? []).filter { $0.name != name }.map { ($0.name, $0.value) }
        return JSON.object(of: others + [(name, value)])
    }

    /// Returns the text padded to that length.
    fileprivate func padded(to count: Int) -> JSON {
        JSON(string ?? "", max(0, count - (string ?? "").unicodeScalars.count))
    }

    /// Returns the value under a different name.
    fileprivate func numbered(_ number: Int) -> JSON {
        if let text = string { return .string("\(text)\(number)") }
        return self["id"].map { setting("id", to: $0.numbered(number)) } ?? self
    }
}
