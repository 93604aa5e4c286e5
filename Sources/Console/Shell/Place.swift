import API
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

extension Markup {
    /// Returns a link to a place in the console.
    static func link(_ place: Place, _ text: String) -> Markup {
        "<a href=\"\(value: place.text)\">\(text)</a>"
    }

    /// Returns a paragraph with a link to more of a list; nothing without a place.
    static func more(_ place: Place?, _ text: String) -> Markup {
        place.map { "<p>\(Markup.link($0, text))</p>" } ?? .nothing
    }

    /// Returns a line that names a page's environment, with a link to the same page about the other one.
    static func environment(isSandbox: Bool, other: Place) -> Markup {
        let here: Markup =
            isSandbox
            ? "<strong>This is the sandbox</strong>, where testers buy without money."
            : "This is production."
        let there = isSandbox ? "Look at production" : "Look at the sandbox"
        return "<p>\(here) \(Markup.link(other, there))</p>"
    }
}
