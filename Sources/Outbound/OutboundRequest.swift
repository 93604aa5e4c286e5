/// What is asked of another server.
package struct OutboundRequest: Sendable {
    package var method: String
    /// `http` or `https`; sent as it is, dots and percent signs in the path included.
    package var url: String
    package var headers: [(String, String)]
    package var body: [UInt8]
    /// For the whole exchange, from looking up the name to the last byte.
    package var timeoutMilliseconds = 10_000
    /// For the connection to stand.
    package var connectMilliseconds = 5000
    /// For the first byte of the answer to come, where a courier sends it.
    package var firstByteMilliseconds = 10_000
    /// Requests of one lane share the places that a courier has for it.
    package var lane = ""
    /// The largest reply body that is read.
    package var replyLimit = 16 << 20

    package init(
        _ method: String = "GET", _ url: String, headers: [(String, String)] = [],
        body: [UInt8] = []
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Scheme, host and port: requests with the same one may share a connection.
    var origin: Substring {
        let path = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            .prefix(3)
        return url[..<(path.last?.endIndex ?? url.endIndex)]
    }

    /// Line breaks would let a value write headers of its own.
    var isWellFormed: Bool {
        let texts = [method, url] + headers.flatMap { [$0.0, $0.1] }
        return texts.allSatisfy { text in text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    }

    /// The lines that curl wants, and those that stop it from adding its own.
    var headerLines: [String] {
        var lines = ["Expect:"]
        if !headers.contains(where: { $0.0.lowercased() == "content-type" }) {
            lines.append("Content-Type:")
        }
        // A colon would make curl leave out a header that is empty on purpose.
        return lines + headers.map { $0.1.isEmpty ? "\($0.0);" : "\($0.0): \($0.1)" }
    }
}

/// What another server answered, of any status.
package struct OutboundResponse: Sendable {
    package var status: Int
    package var headers: [(String, String)]
    package var body: [UInt8]

    /// The header's value, its name in any case; the first one of several.
    package func header(_ name: String) -> String? {
        headers.first { $0.0.lowercased() == name.lowercased() }?.1
    }
}

/// Why there is no answer. `detail` says what happened on the wire.
package enum OutboundError: Error, Equatable, CustomStringConvertible {
    case malformedRequest(detail: String)
    case unreachable(detail: String)
    case untrusted(detail: String)
    case timedOut(milliseconds: Int)
    case replyTooLarge(limit: Int)
    case brokenOff(detail: String)
    /// The sender is going down.
    case cancelled
    case overloaded(limit: Int)

    package var description: String {
        switch self {
        case .malformedRequest(let detail):
            "the request could not be sent: \(detail); correct the address or the headers"
        case .unreachable(let detail):
            "the server cannot be reached: \(detail); check that it runs and that no firewall blocks it"
        case .untrusted(let detail):
            "the server could not prove who it is: \(detail); check its certificate and the CA file"
        case .timedOut(let milliseconds):
            "no whole answer came within \(milliseconds) ms; try again later"
        case .replyTooLarge(let limit):
            "the answer is larger than \(limit) bytes; ask for less at once"
        case .brokenOff(let detail):
            "the exchange broke off: \(detail); try again"
        case .cancelled: "the request was given up because Deed is stopping; send it again"
        case .overloaded(let limit):
            "\(limit) requests to other servers are under way already; try again later"
        }
    }
}
