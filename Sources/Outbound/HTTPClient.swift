import CCurl
import Glibc

/// Sends requests one after the other, and keeps the connection open between them.
///
/// Certificates are always verified and redirects never followed.
package struct HTTPClient: ~Copyable {
    private let handle: OpaquePointer
    private let caFile: String?
    private let unixSocket: String?
    private let acceptsAnyName: Bool

    private static let isReady: Bool = {
        // OpenSSL writes to connections that the other side has closed.
        signal(SIGPIPE, SIG_IGN)
        return curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK
    }()

    /// `caFile` has PEM certificates to trust instead of the system's; `unixSocket` is where to
    /// connect, whatever host the URL names. `acceptsAnyName` is for a `caFile` that has the
    /// server's own certificate: then that says who it is, and its names do not matter.
    package init(
        caFile: String? = nil, unixSocket: String? = nil, acceptsAnyName: Bool = false
    ) throws(OutboundError) {
        guard Self.isReady, let handle = curl_easy_init() else {
            throw .unreachable(detail: "the HTTP library did not start")
        }
        self.handle = OpaquePointer(handle)
        self.caFile = caFile
        self.unixSocket = unixSocket
        self.acceptsAnyName = acceptsAnyName
    }

    deinit { curl_easy_cleanup(UnsafeMutableRawPointer(handle)) }

    private var curl: UnsafeMutableRawPointer { UnsafeMutableRawPointer(handle) }

    /// Waits for the whole answer. One call at a time.
    package mutating func send(_ request: OutboundRequest) throws(OutboundError) -> OutboundResponse
    {
        guard request.isWellFormed else {
            throw .malformedRequest(detail: "method, address or header holds a control character")
        }
        var lines: UnsafeMutablePointer<curl_slist>?
        defer { curl_slist_free_all(lines) }
        for line in request.headerLines { lines = curl_slist_append(lines, line) }

        // Forgets the last request's options and keeps its connection.
        curl_easy_reset(curl)
        let isSet = set(request) && http_set_pointer(curl, CURLOPT_HTTPHEADER, lines) == CURLE_OK
        guard isSet else { throw .malformedRequest(detail: "it was not understood") }
        var reply = Reply(limit: request.replyLimit)
        let (code, detail) = perform(request, into: &reply)
        guard code == CURLE_OK else { throw error(code, detail, request, reply) }
        var status = 0
        http_get_status(curl, &status)
        return OutboundResponse(status: status, headers: reply.headers, body: reply.body)
    }

    private func set(_ request: OutboundRequest) -> Bool {
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_PATH_AS_IS, 1), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, acceptsAnyName ? 0 : 2),
            (CURLOPT_TIMEOUT_MS, request.timeoutMilliseconds),
        ]
        var texts: [(CURLoption, String)] = [
            (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_URL, request.url),
        ]
        if let caFile { texts.append((CURLOPT_CAINFO, caFile)) }
        if let unixSocket { texts.append((CURLOPT_UNIX_SOCKET_PATH, unixSocket)) }
        return numbers.allSatisfy { http_set_number(curl, $0.0, $0.1) == CURLE_OK }
            && texts.allSatisfy { http_set_text(curl, $0.0, $0.1) == CURLE_OK }
            && http_set_receiver(curl, CURLOPT_HEADERFUNCTION, headerReceived) == CURLE_OK
            && http_set_receiver(curl, CURLOPT_WRITEFUNCTION, bodyReceived) == CURLE_OK
    }

    private func perform(
        _ request: OutboundRequest, into reply: inout Reply
    ) -> (CURLcode, detail: String) {
        let hasBody = !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CURL_ERROR_SIZE)) {
            text in
            text.initialize(repeating: 0)
            let code = request.body.withUnsafeBytes { body in
                withUnsafeMutablePointer(to: &reply) { reply in
                    http_set_pointer(curl, CURLOPT_ERRORBUFFER, text.baseAddress)
                    http_set_pointer(curl, CURLOPT_HEADERDATA, reply)
                    http_set_pointer(curl, CURLOPT_WRITEDATA, reply)
                    if hasBody { http_set_body(curl, body.baseAddress, curl_off_t(body.count)) }
                    if request.method == "HEAD" {
                        http_set_number(curl, CURLOPT_NOBODY, 1)
                    } else {
                        http_set_text(curl, CURLOPT_CUSTOMREQUEST, request.method)
                    }
                    return curl_easy_perform(curl)
                }
            }
            http_set_pointer(curl, CURLOPT_ERRORBUFFER, nil)
            let detail = text.baseAddress.map { String(cString: $0) } ?? ""
            return (code, detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail)
        }
    }

    private func error(
        _ code: CURLcode, _ detail: String, _ request: OutboundRequest, _ reply: Reply
    ) -> OutboundError {
        if reply.isTooLarge { return .replyTooLarge(limit: reply.limit) }
        return switch code {
        case CURLE_OPERATION_TIMEDOUT: .timedOut(milliseconds: request.timeoutMilliseconds)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .malformedRequest(detail: detail)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
            .unreachable(detail: detail)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE:
            .untrusted(detail: detail)
        default: .brokenOff(detail: detail)
        }
    }
}

/// What has come of an answer so far.
private struct Reply {
    let limit: Int
    var headers: [(String, String)] = []
    var body: [UInt8] = []
    var isTooLarge = false

    /// Takes one line of the head. An interim answer's headers give way to the next one's.
    mutating func take(line: Substring) {
        if line.hasPrefix("HTTP/") { headers = [] }
        guard let colon = line.firstIndex(of: ":") else { return }
        let value = line[line.index(after: colon)...]
        headers.append((String(line[..<colon]), trimmed(value)))
    }

    private func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        isTooLarge = body.count + bytes.count > limit
        guard !isTooLarge else { return false }
        body.append(contentsOf: bytes)
        return true
    }
}

private func headerReceived(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, target: UnsafeMutableRawPointer?
) -> Int {
    guard let target else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    target.assumingMemoryBound(to: Reply.self).pointee
        .take(line: Substring(decoding: line, as: UTF8.self))
    return size * count
}

private func bodyReceived(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, target: UnsafeMutableRawPointer?
) -> Int {
    guard let target else { return 0 }
    let received = UnsafeRawBufferPointer(start: bytes, count: size * count)
    let isTaken = target.assumingMemoryBound(to: Reply.self).pointee.take(received)
    return isTaken ? size * count : 0
}
