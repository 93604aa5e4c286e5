/// What a request is answered with.
///
/// Headers and body are shared, never copied, until the bytes go out: to answer the same prepared
/// bytes many times, keep the arrays and make a `Response` of them for each request.
package struct Response: Sendable {
    package var status: Int
    package var headers: [Header]
    package var body: [UInt8]
    /// The same bytes, where they are those of every such answer.
    var lasting: LastingBody?

    package init(status: Int, headers: [Header] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The body is shared by all connections that take it, however long that takes them.
    package init(status: Int, headers: [Header] = [], body: LastingBody) {
        self.init(status: status, headers: headers, body: body.array)
        lasting = body
    }
}

/// A body that is the same for as long as the process runs; it is never freed.
package final class LastingBody: Sendable {
    fileprivate let array: [UInt8]
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    package init(_ array: [UInt8]) {
        self.array = array
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: array.count, alignment: 1)
        copy.copyBytes(from: array)
        bytes = UnsafeRawBufferPointer(copy)
    }
}

/// A line of an answer's head.
package struct Header: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// When a request is answered.
package enum Answer {
    /// Immediately, on the thread that serves the connection: for what needs no waiting.
    case now(Response)
    /// Begun immediately and given by the thread that has it, maybe before `begin` returns: for what begins in no
    /// time and then waits for others.
    case underway(_ begin: (LateReply) -> Void)
    /// Begun by a worker and given by the thread that has it, while connection and worker are free: for what
    /// waits for a commit.
    case eventually(in: Room = .known, @Sendable (LateReply) -> Void)
}

/// Why the server answers a request itself and its handler never sees it.
package enum ServerRefusal: Sendable, Equatable {
    /// All workers are at work and their queue is full.
    case busy
    /// The room of callers without a key is full, or their bodies take too much memory.
    case throttled
    case tooManyConnections
    case bodyTooLarge(limit: Int)
    /// The bytes leave in doubt where the request ends, or what it is.
    case unframed(FramingFault)
    /// The path or the query holds bytes that are not UTF-8.
    case malformedTarget
    /// The server is about to stop.
    case draining

    /// Whether the same request may fare better soon; the answer then says so in `Retry-After`.
    var isPassing: Bool {
        switch self {
        case .busy, .throttled, .tooManyConnections, .draining: true
        case .bodyTooLarge, .unframed, .malformedTarget: false
        }
    }
}
