import CMicroHTTPD

/// One request, whole, as its handler sees it.
///
/// It is lent for the length of the handler's call: what an answer needs later must be taken out.
package struct Request: ~Copyable {
    /// `HEAD` reads as `GET`: the server leaves the body of the answer out by itself.
    package let method: String
    /// As sent, still percent-encoded, without the query.
    package let path: String
    /// As sent, what follows `?`.
    package let query: String?
    package let body: [UInt8]
    private let headers: Headers

    private enum Headers {
        case connection(OpaquePointer)
        case list([(String, String)])
    }

    /// A request that came over no connection: handlers can be called without a server.
    package init(
        method: String, path: String, query: String? = nil, headers: [(String, String)] = [],
        body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = .list(headers)
        self.body = body
    }

    init(
        _ line: RequestLine, query: String?, body: [UInt8], connection: OpaquePointer
    ) {
        method = line.methodText == "HEAD" ? "GET" : line.methodText
        path = line.pathText
        self.query = query
        self.body = body
        headers = .connection(connection)
    }

    /// The header's value, its name in any case; the first one of several.
    package func header(_ name: String) -> String? {
        switch headers {
        case .connection(let connection): headerValue(name, of: connection)
        case .list(let list):
            list.first { $0.0.lowercased() == name.lowercased() }?.1
        }
    }
}

/// Method and path where the connection's buffer has them.
struct RequestLine {
    let method: UnsafePointer<CChar>
    let path: UnsafePointer<CChar>

    var methodText: String { String(cString: method) }
    var pathText: String { String(cString: path) }
}

func headerValue(_ name: String, of connection: OpaquePointer) -> String? {
    var name = name
    return name.withUTF8 { name -> String? in
        var value: UnsafePointer<CChar>?
        var count = 0
        let found = name.withMemoryRebound(to: CChar.self) {
            MHD_lookup_connection_value_n(
                connection, .HEADER_KIND, $0.baseAddress, $0.count, &value, &count)
        }
        guard found == .YES else { return nil }
        return String(
            decoding: UnsafeRawBufferPointer(start: value, count: count), as: UTF8.self)
    }
}
