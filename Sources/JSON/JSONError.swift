/// Why a string is not valid JSON, and at which byte.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case truncated
        case unexpected(Unicode.Scalar)
        case trailing
        case badNumber
        case badString
        case badUTF8
        case duplicateMember(String)
        case tooDeep(limit: Int)
        case tooLong(limit: Int)
    }
    package let reason: Reason
    package let offset: Int

    package var description: String {
        switch reason {
        case .truncated: "the JSON text ends at byte \(offset), in the middle of a value"
        case .unexpected(let scalar):
            "\(scalar.shown) at byte \(offset) is not allowed there in JSON"
        case .trailing: "something follows the JSON value at byte \(offset)"
        case .badNumber: "the number at byte \(offset) is not a valid JSON number"
        case .badString: "the string at byte \(offset) contains a bad escape or a control character"
        case .badUTF8: "the string at byte \(offset) is not UTF-8"
        case .duplicateMember(let name):
            "the member \"\(name.replacing("\0", with: "U+0"))\" occurs twice in one object"
        case .tooDeep(let limit): "the JSON is nested deeper than \(limit) levels"
        case .tooLong(let limit): "the JSON text is longer than \(limit) bytes"
        }
    }
}

extension Unicode.Scalar {
    /// The character, or its number if it is invisible.
    fileprivate var shown: String {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .spaceSeparator:
            "U+" + String(value, radix: 16, uppercase: true)
        default: self == "\"" ? "'\"'" : "\"\(self)\""
        }
    }
}
