import CMicroHTTPD
import Glibc

/// A complete request, as its handler sees it.
///
/// It is valid only during the call of the handler. Copy anything that a later answer needs.
package struct Request: ~Copyable {
    /// The part after `?`, as sent.
    package let query: String?
    package let body: [UInt8]
    /// The connection's memo; `nil` for a request without a connection.
    package let memo: Memo?
    private let source: Source
    /// The assumed origin of a request without a connection.
    private let statedWay: RequestWay?

    private enum Source {
        case connection(OpaquePointer, RequestLine)
        case parts(method: String, path: String, headers: [(String, String)])
    }

    /// Creates a request without a connection, so that handlers can be called without a server.
    package init(
        method: String, path: String, query: String? = nil, headers: [(String, String)] = [],
        body: [UInt8] = [], way: RequestWay? = nil
    ) {
        self.query = query
        self.body = body
        memo = nil
        statedWay = way
        source = .parts(method: method, path: path, headers: headers)
    }

    init(
        _ line: RequestLine, query: String?, body: [UInt8], memo: Memo, connection: OpaquePointer
    ) {
        self.query = query
        self.body = body
        self.memo = memo
        statedWay = nil
        source = .connection(connection, line)
    }

    /// The method. `HEAD` appears as `GET`, because the server itself omits the body.
    package var method: String {
        switch source {
        case .connection(_, let line): isGet ? "GET" : line.methodText
        case .parts(let method, _, _): method
        }
    }

    package var isGet: Bool {
        switch source {
        case .connection(_, let line):
            strcmp(line.method, "GET") == 0 || strcmp(line.method, "HEAD") == 0
        case .parts(let method, _, _): method == "GET"
        }
    }

    /// The path as sent: percent-encoded and without the query.
    package var path: String {
        switch source {
        case .connection(_, let line): line.pathText
        case .parts(_, let path, _): path
        }
    }

    /// Passes the path as bytes, without allocating.
    package func withPath(_ body: (Span<UInt8>) -> Void) {
        switch source {
        case .connection(_, let line):
            let bytes = UnsafeRawBufferPointer(start: line.path, count: strlen(line.path))
            body(bytes.bindMemory(to: UInt8.self).span)
        case .parts(_, let path, _): body(path.utf8.span)
        }
    }

    /// Returns whether the header occurs exactly once and has that value. The time for the check reveals only the
    /// value's length.
    package func hasOne(_ name: StaticString, _ value: [UInt8]) -> Bool {
        switch source {
        case .connection(let connection, _):
            let sought = sought(name, of: connection)
            guard sought.count == 1, sought.value.count == value.count else { return false }
            var difference: UInt8 = 0
            for place in value.indices { difference |= sought.value[place] ^ value[place] }
            return difference == 0
        case .parts(_, _, let list):
            let values = values(of: name, in: list)
            return values.count == 1 && Array(values[0].utf8) == value
        }
    }

    /// Returns the header's value. The case of the name does not matter.
    package func header(_ name: StaticString) throws(HeaderError) -> String? {
        switch source {
        case .connection(let connection, _):
            // Most requests lack most headers, so this check comes first for speed.
            if headerBytes(name, of: connection) == nil { return nil }
            let sought = sought(name, of: connection)
            if sought.count > 1 { throw .repeated }
            let bytes = sought.value.bindMemory(to: UInt8.self).span
            guard let text = try? UTF8Span(validating: bytes) else { throw .notUTF8 }
            return String(copying: text)
        case .parts(_, _, let list):
            let values = values(of: name, in: list)
            if values.count > 1 { throw .repeated }
            return values.first
        }
    }
}

extension Request {
    /// How the request reached the server; `nil` if that is unknown.
    package var way: RequestWay? {
        guard let origin = memo?.origin else { return statedWay }
        let names = TrustedProxies.headers
        return origin.way(
            isForwarded: !allValues(names.forwardedFor).isEmpty
                || !allValues(names.forwarded).isEmpty)
    }

    /// The client, as named by the trusted proxy that sent the request, if any; `nil` without a connection.
    package var client: ClientAddress? {
        guard let origin = memo?.origin else { return nil }
        guard origin.isProxy else { return origin.peer }
        let names = TrustedProxies.headers
        return origin.client(
            forwardedFor: allValues(names.forwardedFor), forwarded: allValues(names.forwarded))
    }

    /// Returns the header's values, one per line, in order.
    private func allValues(_ name: StaticString) -> [String] {
        switch source {
        case .connection(let connection, _):
            headerValues(name, of: connection).map { String(decoding: $0, as: UTF8.self) }
        case .parts(_, _, let list): values(of: name, in: list)
        }
    }
}

/// Data that a handler keeps about a connection between requests.
package final class Memo {
    package var content: AnyObject?
    let origin: Origin

    init(_ origin: Origin) { self.origin = origin }
}

/// Why a header has no single value. Guessing the value could mistake one client for another.
package enum HeaderError: Error {
    case repeated
    case notUTF8
}

/// The method and the path in the connection's buffer.
struct RequestLine {
    let method: UnsafePointer<CChar>
    let path: UnsafePointer<CChar>

    var methodText: String { String(cString: method) }
    var pathText: String { String(cString: path) }
}

private func values(of name: StaticString, in headers: [(String, String)]) -> [String] {
    let name = name.description.lowercased()
    return headers.filter { $0.0.lowercased() == name }.map(\.1)
}

/// Returns the header's first value, with invalid UTF-8 replaced.
func headerValue(_ name: StaticString, of connection: OpaquePointer) -> String? {
    headerBytes(name, of: connection).map { String(decoding: $0, as: UTF8.self) }
}

/// Returns the header's first value in the connection's buffer.
private func headerBytes(
    _ name: StaticString, of connection: OpaquePointer
) -> UnsafeRawBufferPointer? {
    var value: UnsafePointer<CChar>?
    var count = 0
    let found = MHD_lookup_connection_value_n(
        connection, .HEADER_KIND, name.start, name.utf8CodeUnitCount, &value, &count)
    return found == .YES ? UnsafeRawBufferPointer(start: value, count: count) : nil
}

/// Returns the header's last value and the number of its occurrences, from a single pass over the headers.
private func sought(_ name: StaticString, of connection: OpaquePointer) -> SoughtHeader {
    var sought = SoughtHeader(name: name.start, length: name.utf8CodeUnitCount)
    MHD_get_connection_values_n(connection, .HEADER_KIND, lookAtHeader, &sought)
    return sought
}

extension StaticString {
    fileprivate var start: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

private struct SoughtHeader {
    let name: UnsafePointer<CChar>
    let length: Int
    var count = 0
    var value = UnsafeRawBufferPointer(start: nil, count: 0)
}

/// Returns all values of the header. Allocates, unlike the lookup of a single value.
private func headerValues(
    _ name: StaticString, of connection: OpaquePointer
) -> [UnsafeRawBufferPointer] {
    var list = HeaderList(name: name)
    withUnsafeMutablePointer(to: &list) { list in
        _ = MHD_get_connection_values_n(connection, .HEADER_KIND, listHeader, list)
    }
    return list.values
}

private struct HeaderList {
    let name: StaticString
    var values: [UnsafeRawBufferPointer] = []
}

private func listHeader(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?,
    nameLength: Int, value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    if let name, let list = context?.assumingMemoryBound(to: HeaderList.self),
        nameLength == list.pointee.name.utf8CodeUnitCount,
        strcasecmp(name, list.pointee.name.start) == 0
    {
        list.pointee.values.append(UnsafeRawBufferPointer(start: value, count: valueLength))
    }
    return .YES
}

private func lookAtHeader(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?,
    nameLength: Int, value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    if let name, let sought = context?.assumingMemoryBound(to: SoughtHeader.self),
        nameLength == sought.pointee.length, strcasecmp(name, sought.pointee.name) == 0
    {
        sought.pointee.count += 1
        sought.pointee.value = UnsafeRawBufferPointer(start: value, count: valueLength)
    }
    return .YES
}
