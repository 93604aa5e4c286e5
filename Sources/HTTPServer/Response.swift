/// The answer to a request.
///
/// Headers and body are shared, never copied, until the bytes are sent: to send the same prepared
/// answer many times, keep the arrays and make a `Response` from them for each request.
package struct Response: Sendable {
    package var status: Int
    package var headers: [Header]
    package var body: [UInt8]
    /// The same bytes, if every such answer has them.
    var lasting: LastingBody?

    package init(status: Int, headers: [Header] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// All connections that send the body share it, however long they take.
    package init(status: Int, headers: [Header] = [], body: LastingBody) {
        self.init(status: status, headers: headers, body: body.array)
        lasting = body
    }
}

/// A body that does not change while the process runs; it is never freed.
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
    /// Immediately, on the thread that serves the connection, if no waiting is needed.
    case now(Response)
    /// Begun immediately and given by the thread that has it, perhaps before `begin` returns: for work that
    /// begins instantly and then waits for others.
    case underway(_ begin: (LateReply) -> Void)
    /// Begun by a worker and given by the thread that has it, while connection and worker are free: for work
    /// that waits for a commit.
    case eventually(in: Room = .known, @Sendable (LateReply) -> Void)
}

/// Why the server answers a request without its handler.
package enum ServerRefusal: Sendable, Equatable {
    /// All workers are busy and their queue is full.
    case busy
    /// The room of callers without a key is full, or their bodies take too much memory.
    case throttled
    case tooManyConnections
    case bodyTooLarge(limit: Int)
    /// It is unclear from the bytes where the request ends, or what it is.
    case unframed(FramingFault)
    /// The path or the query has bytes that are not UTF-8.
    case malformedTarget
    /// The server is about to stop.
    case draining

    /// Whether the same request may soon succeed; the answer then has a `Retry-After`.
    var isPassing: Bool {
        switch self {
        case .busy, .throttled, .tooManyConnections, .draining: true
        case .bodyTooLarge, .unframed, .malformedTarget: false
        }
    }
}
