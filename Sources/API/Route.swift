import Core
import HTTPServer
import Service

/// One call of the API: where it is, who may make it, and what answers it.
struct Route: Sendable {
    /// What a key opened.
    struct Access: Sendable {
        let key: LiveKey

        var project: ProjectID { key.project }
        /// The key's id has room for the prefix: Deed made it.
        var actor: Actor { Actor(prefix: "key:", random: key.key.text) }
    }

    enum Handling: Sendable {
        /// For anyone, from memory.
        case open(@Sendable () -> Response)
        /// For keys of a role or a stronger one; waits for the database.
        case keyed(Role, Respond)
        /// The same, but answered at once when the first can do it from memory.
        case remembered(Role, Recall, Respond)
        /// For keys of a role or a stronger one; answered when its commands are committed.
        case writing(Role, @Sendable (Call) throws(Problem) -> Writing)
    }
    typealias Respond = @Sendable (Call) throws(Problem) -> Response
    typealias Recall = @Sendable (Call) throws(Problem) -> Response?

    let method: String
    /// As in `/v1/customers/{customer}/grants`.
    let pattern: String
    /// The longest body that the call takes.
    let bodyLimit: Int
    let handling: Handling
    private let segments: [Segment]

    private enum Segment: Sendable {
        case text([UInt8])
        case argument
    }

    init(
        _ method: String, _ pattern: String, bodyLimit: Int = Router.bodyLimit,
        _ handling: Handling
    ) {
        self.method = method
        self.pattern = pattern
        self.bodyLimit = bodyLimit
        self.handling = handling
        segments = pattern.dropFirst().split(separator: "/").map { part in
            part.hasPrefix("{") ? .argument : .text(Array(part.utf8))
        }
    }

    /// The arguments in the path, still percent-encoded; `nil` when the path is another's.
    ///
    /// Every request is held against one route after the other, so nothing is allocated before the
    /// path is known to be this one's.
    func match(_ path: String) -> [Substring]? {
        let bytes = path.utf8.span
        guard matches(bytes) else { return nil }
        var arguments: [Substring] = []
        var place = 0
        for segment in segments {
            let end = Route.end(of: place + 1, in: bytes)
            if case .argument = segment {
                let start = path.utf8.index(path.startIndex, offsetBy: place + 1)
                arguments.append(path[start..<path.utf8.index(path.startIndex, offsetBy: end)])
            }
            place = end
        }
        return arguments
    }

    private func matches(_ path: Span<UInt8>) -> Bool {
        var place = 0
        for segment in segments {
            guard place < path.count, path[place] == UInt8(ascii: "/") else { return false }
            let end = Route.end(of: place + 1, in: path)
            if case .text(let text) = segment {
                guard end - place - 1 == text.count else { return false }
                for offset in 0..<text.count where path[place + 1 + offset] != text[offset] {
                    return false
                }
            }
            place = end
        }
        return place == path.count
    }

    /// Where the segment ends that begins there.
    private static func end(of start: Int, in path: Span<UInt8>) -> Int {
        var end = start
        while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
        return end
    }
}

/// A request that found its route and whose key opens it, taken out of the connection.
struct Call: Sendable {
    let access: Route.Access
    let arguments: [String]
    let query: QueryParameters
    let body: [UInt8]
    let idempotencyKey: String?
    /// What the answer must come after.
    let after: Position?
    /// The tags of answers that the reader has, as `If-None-Match` lists them.
    let knownTags: String?

    var sender: Sender { Sender(actor: access.actor, idempotencyKey: idempotencyKey) }
}
