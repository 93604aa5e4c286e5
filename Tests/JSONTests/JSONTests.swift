import JSON
import Testing

@Suite("JSON")
struct JSONTests {
    @Test(
        "A value is read and written back unchanged",
        arguments: [
            "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808",
            "9223372036854775808", "1.50", "1e400", "\"\"", "\"ü🎮\"", "[]", "{}",
            "[1,[2,{\"a\":null}]]", "{\"b\":1,\"a\":2}", "\"\\u0000\\u001f\\n\\\"\\\\\"",
        ])
    func roundTrip(_ text: String) throws {
        #expect(try JSON.read(text).text == text)
    }

    @Test("Escapes become the characters that they name")
    func escapes() throws {
        let value = try JSON.read(#""\u00e9\ud83c\udfae\/\b\f\r\t""#)
        #expect(value == .string("é🎮/\u{8}\u{C}\r\t"))
    }

    @Test("Integers are exact to the last one and never turn into floating point")
    func integers() throws {
        #expect(try JSON.read("9007199254740993").integer == 9_007_199_254_740_993)
        #expect(try JSON.read("9223372036854775808") == .decimal("9223372036854775808"))
    }

    @Test(
        "Text that is not JSON is refused with the reason",
        arguments: [
            ("", JSONError.Reason.truncated), ("{", .truncated), ("[1,", .truncated),
            ("\"a", .truncated), ("tru", .truncated), ("-", .truncated), ("1.", .truncated),
            ("01", .badNumber), ("-x", .badNumber), ("1.x", .badNumber), ("1ex", .badNumber),
            ("{} {}", .trailing), ("1 1", .trailing),
            ("[1,]", .unexpected("]")), ("{\"a\":1,}", .unexpected("}")),
            ("'a'", .unexpected("'")), ("nulL", .unexpected("L")), ("{1:2}", .unexpected("1")),
            ("\"\\x\"", .badString), ("\"\n\"", .badString), ("\"\\ud800\"", .badString),
            ("\"\\udc00\\ud800\"", .badString), ("\"\\u12g4\"", .badString),
            ("{\"a\":1,\"a\":2}", .duplicateMember("a")),
            ("{\"a\":1,\"\\u0061\":2}", .duplicateMember("a")),
        ])
    func refused(_ text: String, _ reason: JSONError.Reason) {
        #expect {
            try JSON.read(text)
        } throws: { error in
            (error as? JSONError)?.reason == reason
        }
    }

    @Test(
        "The forbidden character is shown, and its place",
        arguments: [
            ("{\"a\":1 /", "\"/\" at byte 7 is not allowed there in JSON"),
            ("[“a”]", "\"“\" at byte 1 is not allowed there in JSON"),
            ("[1 \"", "'\"' at byte 3 is not allowed there in JSON"),
            ("[\u{7}", "U+7 at byte 1 is not allowed there in JSON"),
            ("[\u{A0}1]", "U+A0 at byte 1 is not allowed there in JSON"),
        ])
    func shown(_ text: String, _ sentence: String) {
        #expect {
            try JSON.read(text)
        } throws: { "\($0)" == sentence }
    }

    @Test("A duplicate is found in a large object as well")
    func duplicateInLargeObject() {
        let names = (0..<100).map { "\"m\($0)\":0" } + ["\"m7\":1"]
        #expect(throws: JSONError.self) { try JSON.read("{\(names.joined(separator: ","))}") }
    }

    @Test("Every byte is read correctly at every place in a string")
    func bytes() throws {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<20 {
                var inside = Array(repeating: UInt8(ascii: "a"), count: 20)
                inside[place] = byte
                let text = [UInt8(ascii: "\"")] + inside + [UInt8(ascii: "\"")]
                var reason: JSONError.Reason?
                var value: JSON?
                do {
                    value = try JSON.read(text)
                } catch {
                    reason = error.reason
                }
                let expected: JSONError.Reason? =
                    switch byte {
                    case 0..<0x20: .badString
                    // The string ends at this quotation mark.
                    case UInt8(ascii: "\""): .trailing
                    // `\a` is not an escape, and a backslash at the end hides the closing quotation mark.
                    case UInt8(ascii: "\\"): place < 19 ? .badString : .truncated
                    case 0x80...: .badUTF8
                    default: nil
                    }
                let expectedText = String(decoding: inside, as: UTF8.self)
                #expect(reason == expected, "byte \(byte) at \(place)")
                #expect(value?.string == (expected == nil ? expectedText : nil))
            }
        }
    }

    @Test("Bytes that are not UTF-8 are refused")
    func badUTF8() {
        #expect {
            try JSON.read([0x22, 0xC3, 0x22])
        } throws: { ($0 as? JSONError)?.reason == .badUTF8 }
    }

    @Test("Sixteen levels are read, seventeen are refused, and a million do no harm")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSON.read(nested(16))
        #expect(throws: JSONError.self) { try JSON.read(nested(17)) }
        #expect(throws: JSONError.self) { try JSON.read(nested(1_000_000)) }
    }

    @Test("A text over the limit is refused unread")
    func size() {
        #expect {
            try JSON.read("[1,2,3,4,5]", limits: JSON.Limits(bytes: 8))
        } throws: { ($0 as? JSONError)?.reason == .tooLong(limit: 8) }
    }

    @Test("Pretty text has the same value, one member per line")
    func pretty() throws {
        let value: JSON = ["a": [1, 2], "b": ["c": .null, "d": []]]
        #expect(try JSON.read(value.prettyText) == value)
        #expect(value.prettyText.split(separator: "\n").count == 10)
    }
}
