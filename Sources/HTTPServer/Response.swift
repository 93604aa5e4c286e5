/// The answer to a request.
///
/// The headers and the body are shared until they are sent, not copied. To send one prepared answer many times, keep
/// the arrays and create a `Response` from them for each request.
package struct Response: Sendable {
    package var status: Int
    package var headers: [Header]
    package var body: [UInt8]
    /// The body, if all answers of this kind share it.
    var lasting: LastingBody?

    package init(status: Int, headers: [Header] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response that shares its body with all connections that send the same body.
    package init(status: Int, headers: [Header] = [], body: LastingBody) {
        self.init(status: status, headers: headers, body: body.array)
        lasting = body
    }
}

/// A body that does not change while the process runs. It is never freed.
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

/// A line in the head of an answer.
package struct Header: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// When and on which thread a request is answered.
package enum Answer {
    /// The connection's own thread answers immediately, and must not block.
    case now(Response)
    /// The request starts immediately, and another thread answers it, perhaps even before `begin`
    /// returns. For work that starts without delay and then waits for other threads.
    case underway(_ begin: (LateReply) -> Void)
    /// A worker starts the request, and the answer follows later. Until then, no thread of a
    /// connection or worker is occupied. For work that waits for a commit.
    case eventually(in: Room = .known, @Sendable (LateReply) -> Void)
}

/// Why the server answers a request without calling its handler.
package enum ServerRefusal: Sendable, Equatable {
    /// All workers are busy and their queue is full.
    case busy
    /// The room for callers without a key is full, or their bodies take up too much memory.
    case throttled
    case tooManyConnections
    case bodyTooLarge(limit: Int)
    /// The bytes do not make clear where the request ends or what it means.
    case unframed(FramingFault)
    /// The path or the query contains bytes that are not UTF-8.
    case malformedTarget
    /// The server will soon stop.
    case draining

    /// Whether the same request may succeed if it is repeated soon. The answer then has a `Retry-After` header.
    var isPassing: Bool {
        switch self {
        case .busy, .throttled, .tooManyConnections, .draining: true
        case .bodyTooLarge, .unframed, .malformedTarget: false
        }
    }
}
