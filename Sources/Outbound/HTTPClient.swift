import CCurl

/// Sends requests one after another over a connection that it keeps open.
///
/// Certificates are always verified, redirects never followed, and proxies never used.
package struct HTTPClient: ~Copyable {
    private let handle: OpaquePointer
    private let trust: Trust

    /// `caFile` has PEM certificates to trust instead of the system's. `unixSocket` replaces the
    /// URL's host as the place to connect to. `acceptsAnyName` is for a `caFile` with the server's
    /// own certificate: it identifies the server, so names do not matter.
    package init(
        caFile: String? = nil, unixSocket: String? = nil, acceptsAnyName: Bool = false
    ) throws(OutboundError) {
        guard CurlLibrary.isReady, let handle = curl_easy_init() else {
            throw .unreachable(detail: "the HTTP library did not start")
        }
        self.handle = OpaquePointer(handle)
        trust = Trust(caFile: caFile, unixSocket: unixSocket, acceptsAnyName: acceptsAnyName)
    }

    deinit { curl_easy_cleanup(UnsafeMutableRawPointer(handle)) }

    private var curl: UnsafeMutableRawPointer { UnsafeMutableRawPointer(handle) }

    /// Waits for the whole answer. One call at a time.
    package mutating func send(_ request: OutboundRequest) throws(OutboundError) -> OutboundResponse
    {
        // Clears the last request's options and keeps its connection.
        curl_easy_reset(curl)
        let transfer = try Transfer(request, on: curl, trust)
        let code = curl_easy_perform(curl)
        return try withExtendedLifetime(transfer) { transfer.result(code) }.get()
    }
}
