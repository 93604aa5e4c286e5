import Core

/// An address below `/console`, with its parts percent-encoded.
struct Place: Sendable {
    static let prefix = "/console"
    static let start = Place([])
    static let signIn = Place(["sign-in"])
    static let code = Place(["sign-in", "code"])
    static let signOut = Place(["sign-out"])
    static let yourSignIn = Place(["your-sign-in"])

    private let parts: [String]
    private var parameters: [(name: String, value: String)] = []

    init(_ parts: [String]) { self.parts = parts }

    static func project(_ project: ProjectID, _ parts: String...) -> Place {
        Place(["p", project.text] + parts)
    }

    /// Returns the same place with a parameter. Leaves out a parameter without a value.
    func with(_ name: String, _ value: String?) -> Place {
        guard let value, !value.isEmpty else { return self }
        var place = self
        place.parameters.append((name, value))
        return place
    }

    func below(_ parts: String...) -> Place {
        var place = Place(self.parts + parts)
        place.parameters = parameters
        return place
    }

    var text: String {
        let query = parameters.map { "\($0.name)=\(percentEncoded($0.value))" }
        return Place.prefix + parts.map { "/" + percentEncoded($0) }.joined()
            + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }
}

/// Returns the text percent-encoded, except for ASCII letters, digits and four punctuation marks.
func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            bytes.append(byte)
        default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension Markup {
    /// Returns a link to a place in the console.
    static func link(_ place: Place, _ text: String) -> Markup {
        "<a href=\"\(value: place.text)\">\(text)</a>"
    }
}
