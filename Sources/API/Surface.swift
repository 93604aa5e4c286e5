import HTTPServer

/// What the API is under one prefix: how a call shows its key there, what it can ask, and how it is refused.
///
/// Another way to speak to Deed, such as pages for people or the calls of another service, is another surface
/// over the same use cases.
struct Surface: Sendable {
    /// As in `/v1`; empty for what stands at the root.
    let prefix: String
    var keys = KeyPlace.bearer
    /// How it says no.
    var refusal: @Sendable (Problem) -> Response = { $0.document }
    /// Their patterns begin behind the prefix.
    let routes: [Route]

    /// Whether the path is one of its own.
    func holds(_ path: String) -> Bool {
        path.hasPrefix(prefix) && (path.utf8.count == prefix.utf8.count || holdsBelow(path))
    }

    private func holdsBelow(_ path: String) -> Bool {
        path.utf8.dropFirst(prefix.utf8.count).first == UInt8(ascii: "/")
    }
}

extension [Surface] {
    /// The problem in the words of the surface that the path belongs to: the one with the longest prefix.
    func refusal(_ problem: Problem, at path: String) -> Response {
        let surface = filter { $0.holds(path) }.max { $0.prefix.utf8.count < $1.prefix.utf8.count }
        return surface?.refusal(problem) ?? problem.document
    }
}
