/// A request to another server.
package struct OutboundRequest: Sendable {
    package var method: String
    /// An `http` or `https` URL. It is sent unchanged, including dots and percent signs in the path.
    package var url: String
    package var headers: [(String, String)]
    package var body: [UInt8]
    /// The time limit for the whole exchange, from the name lookup to the last byte.
    package var timeoutMilliseconds = 10_000
    /// The time limit for establishing the connection.
    package var connectMilliseconds = 5000
    /// The time limit for the first byte of the answer. It applies only to requests sent by a courier.
    package var firstByteMilliseconds = 10_000
    /// Requests in the same lane share a small number of the courier's places.
    package var lane = ""
    /// The number of places in the lane, if it differs from the courier's usual number.
    package var places: Int?
    /// The maximum size of the reply body, in bytes.
    package var replyLimit = 16 << 20
    /// Whether a reply body that exceeds the limit is truncated. Otherwise, such a body is an
    /// error.
    package var cutsReply = false

    package init(
        _ method: String = "GET", _ url: String, headers: [(String, String)] = [],
        body: [UInt8] = []
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The scheme, host and port. Requests to the same origin may share a connection.
    var origin: Substring {
        let path = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            .prefix(3)
        return url[..<(path.last?.endIndex ?? url.endIndex)]
    }

    /// Whether every part is free of control characters. A line break in a value could add headers.
    var isWellFormed: Bool {
        let texts = [method, url] + headers.flatMap { [$0.0, $0.1] }
        return texts.allSatisfy { text in text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    }

    /// Header lines for curl, including lines that stop curl from adding its own.
    var headerLines: [String] {
        var lines = ["Expect:"]
        if !headers.contains(where: { $0.0.lowercased() == "content-type" }) {
            lines.append("Content-Type:")
        }
        // curl leaves out a header with an empty value unless a semicolon takes the place of the colon.
        return lines + headers.map { $0.1.isEmpty ? "\($0.0);" : "\($0.0): \($0.1)" }
    }
}

/// The answer from another server, with any status code.
package struct OutboundResponse: Sendable {
    package var status: Int
    package var headers: [(String, String)]
    package var body: [UInt8]

    /// Returns the first value of a header. The case of the name does not matter.
    package func header(_ name: String) -> String? {
        headers.first { $0.0.lowercased() == name.lowercased() }?.1
    }
}

/// Why there is no answer. `detail` says what went wrong on the network.
package enum OutboundError: Error, Equatable, CustomStringConvertible {
    case malformedRequest(detail: String)
    case unreachable(detail: String)
    case untrusted(detail: String)
    case timedOut(milliseconds: Int)
    case replyTooLarge(limit: Int)
    case brokenOff(detail: String)
    /// Nothing was sent, because requests of this kind may not reach the address.
    case forbidden(address: String)
    /// The sender is shutting down.
    case cancelled
    case overloaded(limit: Int)

    package var description: String {
        switch self {
        case .malformedRequest(let detail):
            "the request could not be sent: \(detail); correct the address or the headers"
        case .unreachable(let detail):
            "the server cannot be reached: \(detail); check that it is running and that no firewall blocks it"
        case .untrusted(let detail):
            "the server could not prove its identity: \(detail); check its certificate and the CA file"
        case .timedOut(let milliseconds):
            "no complete answer came within \(milliseconds) ms; try again later"
        case .replyTooLarge(let limit):
            "the answer is larger than \(limit) bytes; ask for less at a time"
        case .brokenOff(let detail):
            "the exchange was interrupted: \(detail); try again"
        // Omits the address, because it may belong to a network that readers must not learn about.
        case .forbidden:
            "the name has no public address; the operator can allow its address with --webhook-allow"
        case .cancelled: "the request was cancelled because Deed is stopping; send it again"
        case .overloaded(let limit):
            "\(limit) requests to other servers are already in progress; try again later"
        }
    }
}
