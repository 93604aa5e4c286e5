import HTTPServer

/// The API under one prefix: the place of the key, the calls, and the wording of refusals.
///
/// Another interface to Deed, such as web pages or another service's calls, would be another surface over the same use
/// cases.
struct Surface: Sendable {
    /// The path prefix, such as `/v1`; empty for the root.
    let prefix: String
    var keys = KeyPlace.bearer
    /// How the surface words a refusal.
    var refusal: @Sendable (Problem) -> Response = { $0.document }
    /// The routes. Their patterns start after the prefix.
    let routes: [Route]

    func holds(_ path: String) -> Bool {
        path.hasPrefix(prefix) && (path.utf8.count == prefix.utf8.count || holdsBelow(path))
    }

    private func holdsBelow(_ path: String) -> Bool {
        path.utf8.dropFirst(prefix.utf8.count).first == UInt8(ascii: "/")
    }
}

extension [Surface] {
    /// Returns the problem in the wording of the path's surface. The longest matching prefix wins.
    func refusal(_ problem: Problem, at path: String) -> Response {
        let surface = filter { $0.holds(path) }.max { $0.prefix.utf8.count < $1.prefix.utf8.count }
        return surface?.refusal(problem) ?? problem.document
    }
}
