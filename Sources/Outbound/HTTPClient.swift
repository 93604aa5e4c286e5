import CCurl

/// A client that sends requests one after another over a connection that it keeps open.
///
/// The client always verifies certificates, and never follows redirects or uses proxies.
package struct HTTPClient: ~Copyable {
    private let handle: OpaquePointer
    private let trust: Trust

    /// Creates a client. `caFile` contains PEM certificates to trust instead of the system's. `unixSocket` is a socket
    /// to connect to instead of the URL's host. `acceptsAnyName` is for a `caFile` with the server's own certificate.
    /// That certificate alone identifies the server, so the name in it does not matter.
    package init(
        caFile: String? = nil, unixSocket: String? = nil, acceptsAnyName: Bool = false
    ) throws(OutboundError) {
        guard CurlLibrary.isReady, let handle = curl_easy_init() else {
            throw .unreachable(detail: "the HTTP library could not be started")
        }
        self.handle = OpaquePointer(handle)
        trust = Trust(caFile: caFile, unixSocket: unixSocket, acceptsAnyName: acceptsAnyName)
    }

    deinit { curl_easy_cleanup(UnsafeMutableRawPointer(handle)) }

    private var curl: UnsafeMutableRawPointer { UnsafeMutableRawPointer(handle) }

    /// Sends a request and waits for the complete answer. Calls must not overlap.
    package mutating func send(_ request: OutboundRequest) throws(OutboundError) -> OutboundResponse
    {
        // Resets the options of the previous request but keeps its connection.
        curl_easy_reset(curl)
        let transfer = try Transfer(request, on: curl, trust)
        let code = curl_easy_perform(curl)
        return try withExtendedLifetime(transfer) { transfer.result(code) }.get()
    }
}
