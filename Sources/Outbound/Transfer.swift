import CCurl
import Glibc

/// The certificates that a client trusts, and the addresses to which it connects.
struct Trust: Sendable {
    /// PEM certificates to trust instead of the system's.
    var caFile: String?
    /// The socket to connect to instead of the URL's host.
    var unixSocket: String?
    /// Whether the server's name is ignored, for a `caFile` that contains the server's own certificate.
    var acceptsAnyName = false
    /// Whether `caFile` is trusted in addition to the system's certificates, which are in a folder.
    var addsToSystem = false
    /// The addresses that connections may reach; `nil` for all.
    var rules: AddressRules?
}

/// An exchange on a curl handle: the request, and the part of the answer that has arrived. It must live for as long as
/// curl uses it.
final class Transfer {
    private static let headLimit = 64 << 10

    let request: OutboundRequest
    private let curl: UnsafeMutableRawPointer
    private var lines: UnsafeMutablePointer<curl_slist>?
    private let body: UnsafeMutableBufferPointer<UInt8>
    private let errorText: UnsafeMutablePointer<CChar>
    private var headers: [(String, String)] = []
    private var headBytes = 0
    private var content: [UInt8] = []
    private var isTooLarge = false
    private var isCut = false
    private let rules: AddressRules?
    private var refused: NetworkAddress?
    /// Whether any part of the answer has arrived.
    private(set) var hasBegun = false

    /// Sets up the handle. Throws if curl rejects the request.
    init(
        _ request: OutboundRequest, on curl: UnsafeMutableRawPointer, _ trust: Trust
    ) throws(OutboundError) {
        self.request = request
        self.curl = curl
        rules = trust.rules
        body = .allocate(capacity: max(request.body.count, 1))
        _ = body.initialize(fromContentsOf: request.body)
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        guard request.isWellFormed else {
            throw .malformedRequest(
                detail: "the method, the address or a header contains a control character")
        }
        for line in request.headerLines { lines = curl_slist_append(lines, line) }
        guard setAddress(trust), setContent(), setReceivers() else {
            throw .malformedRequest(detail: "it could not be parsed")
        }
    }

    deinit {
        curl_slist_free_all(lines)
        body.deallocate()
        errorText.deallocate()
    }

    private func setAddress(_ trust: Trust) -> Bool {
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_PATH_AS_IS, 1), (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, trust.acceptsAnyName ? 0 : 2),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
            (CURLOPT_TIMEOUT_MS, request.timeoutMilliseconds),
            (CURLOPT_CONNECTTIMEOUT_MS, request.connectMilliseconds),
            // Keeps a slow name server from delaying other requests: curl does not wait for the thread that does the
            // lookup.
            (CURLOPT_QUICK_EXIT, 1),
        ]
        // An empty name disables proxies, even those set by environment variables.
        var texts: [(CURLoption, String)] = [
            (CURLOPT_PROXY, ""), (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_URL, request.url),
        ]
        if let caFile = trust.caFile { texts.append((CURLOPT_CAINFO, caFile)) }
        if trust.addsToSystem { texts.append((CURLOPT_CAPATH, "/etc/ssl/certs")) }
        if let path = trust.unixSocket { texts.append((CURLOPT_UNIX_SOCKET_PATH, path)) }
        return numbers.allSatisfy { http_set_number(curl, $0.0, $0.1) == CURLE_OK }
            && texts.allSatisfy { http_set_text(curl, $0.0, $0.1) == CURLE_OK }
    }

    private func setContent() -> Bool {
        let method = request.method
        if !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(method) {
            http_set_body(curl, body.baseAddress, curl_off_t(request.body.count))
        }
        let isSet =
            method == "HEAD"
            ? http_set_number(curl, CURLOPT_NOBODY, 1)
            : http_set_text(curl, CURLOPT_CUSTOMREQUEST, method)
        return isSet == CURLE_OK && http_set_pointer(curl, CURLOPT_HTTPHEADER, lines) == CURLE_OK
    }

    private func setReceivers() -> Bool {
        let me = Unmanaged.passUnretained(self).toOpaque()
        return http_set_pointer(curl, CURLOPT_ERRORBUFFER, errorText) == CURLE_OK
            && http_set_receiver(curl, CURLOPT_HEADERFUNCTION, headerReceived) == CURLE_OK
            && http_set_receiver(curl, CURLOPT_WRITEFUNCTION, bodyReceived) == CURLE_OK
            && http_set_pointer(curl, CURLOPT_HEADERDATA, me) == CURLE_OK
            && http_set_pointer(curl, CURLOPT_WRITEDATA, me) == CURLE_OK
            && (rules == nil
                || http_set_opener(curl, socketWanted) == CURLE_OK
                    && http_set_pointer(curl, CURLOPT_OPENSOCKETDATA, me) == CURLE_OK)
    }

    /// Returns whether curl may open a socket for the address that it wants to reach.
    fileprivate func mayConnect(to address: UnsafePointer<curl_sockaddr>) -> Bool {
        guard let rules else { return true }
        guard let address = NetworkAddress(at: address) else { return false }
        // Plain HTTP may reach only addresses that the operator allowed, regardless of what the name resolves to.
        let isPlain = request.url.lowercased().hasPrefix("http://")
        if isPlain ? rules.isOpened(address) : rules.allow(address) { return true }
        refused = address
        return false
    }

    /// Returns the result, once curl has finished the exchange.
    func result(_ code: CURLcode) -> Result<OutboundResponse, OutboundError> {
        // Detaches the error buffer, because the handle may outlive this object.
        http_set_pointer(curl, CURLOPT_ERRORBUFFER, nil)
        guard code == CURLE_OK || isCut else { return .failure(error(code)) }
        var status = 0
        http_get_status(curl, &status)
        return .success(OutboundResponse(status: status, headers: headers, body: content))
    }

    private func error(_ code: CURLcode) -> OutboundError {
        if isTooLarge { return .replyTooLarge(limit: request.replyLimit) }
        if let refused { return .forbidden(address: refused.description) }
        let words = String(cString: errorText)
        let detail = words.isEmpty ? String(cString: curl_easy_strerror(code)) : words
        return switch code {
        case CURLE_OPERATION_TIMEDOUT: .timedOut(milliseconds: request.timeoutMilliseconds)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .malformedRequest(detail: detail)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
            .unreachable(detail: detail)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE: .untrusted(detail: detail)
        default: .brokenOff(detail: detail)
        }
    }

    /// Processes one line of the head. The headers of a final answer replace those of any interim
    /// answer before it.
    fileprivate func take(line: Substring) -> Bool {
        hasBegun = true
        headBytes += line.utf8.count
        isTooLarge = headBytes > Transfer.headLimit
        if isTooLarge { return false }
        if line.hasPrefix("HTTP/") { headers = [] }
        guard let colon = line.firstIndex(of: ":") else { return true }
        let value = line[line.index(after: colon)...]
        headers.append((String(line[..<colon]), trimmed(value)))
        return true
    }

    private func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    fileprivate func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let isLonger = content.count + bytes.count > request.replyLimit
        isCut = isLonger && request.cutsReply
        isTooLarge = isLonger && !isCut
        if isTooLarge { return false }
        content.append(contentsOf: bytes.prefix(request.replyLimit - content.count))
        // Returning `false` ends the exchange and closes the connection.
        return !isCut
    }
}

private func headerReceived(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, target: UnsafeMutableRawPointer?
) -> Int {
    guard let target else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    let isTaken = Unmanaged<Transfer>.fromOpaque(target).takeUnretainedValue()
        .take(line: Substring(decoding: line, as: UTF8.self))
    return isTaken ? size * count : 0
}

private func bodyReceived(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, target: UnsafeMutableRawPointer?
) -> Int {
    guard let target else { return 0 }
    let received = UnsafeRawBufferPointer(start: bytes, count: size * count)
    let isTaken = Unmanaged<Transfer>.fromOpaque(target).takeUnretainedValue().take(received)
    return isTaken ? size * count : 0
}

private func socketWanted(
    target: UnsafeMutableRawPointer?, purpose: curlsocktype,
    address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let target, let address else { return CURL_SOCKET_BAD }
    let transfer = Unmanaged<Transfer>.fromOpaque(target).takeUnretainedValue()
    return transfer.mayConnect(to: address) ? http_open_socket(address) : CURL_SOCKET_BAD
}

/// Initializes the library once for the process.
enum CurlLibrary {
    static let isReady: Bool = {
        // OpenSSL may write to connections that the other side has already closed.
        signal(SIGPIPE, SIG_IGN)
        return curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK
    }()
}
